import { expect, test } from 'vitest';
import { judgeUrl } from './judge-url.ts';

test.each(['http://127.0.0.1:8001', 'https://api.example.org/v1', 'http://[::1]:8000/v1/chat/completions'])(
  '%s is asked as it is',
  (url) => {
    expect(judgeUrl('judge-base-url', url)).toBe(url);
  },
);

test.each(['', 'notaurl', 'localhost:8000', 'ftp://host', 'http://', 'http://127.0.0.1:99999', 'file:///x'])(
  '%j is refused before anything is played',
  (url) => {
    expect(() => judgeUrl('judge-base-url', url)).toThrow(
      /^--judge-base-url: '.*' is no URL of a judge\. Expected http/,
    );
  },
);
