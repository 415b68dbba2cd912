import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from './property.suite.ts';
import { joinShellWords, splitShellWords } from './shell-words.ts';

describe('shell words', () => {
  // Expected: what `sh -c 'printf "%s\n" …'` prints.
  it.each([
    ['vllm serve  m --port 8000', ['vllm', 'serve', 'm', '--port', '8000']],
    [`a '{"b": 1}' "c d" e\\ f`, ['a', '{"b": 1}', 'c d', 'e f']],
    [`"a\\"b\\n" '' x'y'"z"`, ['a"b\\n', '', 'xyz']],
    ['\n a\\\\b\t', ['a\\b']],
    ['', []],
  ])('%j', (command, words) => {
    expect(splitShellWords(command)).toEqual(words);
  });

  it.each(['a "b', "a 'b", 'a\\'])('refuses %j', (command) => {
    expect(() => splitShellWords(command)).toThrow(SyntaxError);
  });

  property([fc.array(fc.string({ unit: 'grapheme' }))])('join is undone by split', (words) => {
    expect(splitShellWords(joinShellWords(words))).toEqual(words);
  });

  it('is read back by a real shell', () => {
    const words = ['a b', "it's", '$HOME', '`x`', '"q"', '*', '\\', '{"a":[1]}', 'é', '!', ''];
    const command = `printf '%s\\n' ${joinShellWords(words)}`;
    expect(execFileSync('sh', ['-c', command], { encoding: 'utf8' })).toBe(`${words.join('\n')}\n`);
  });
});
