import { describe, expect, it } from 'vitest';
import { withoutSecrets } from './command-secrets.ts';

const hidden = (...words: string[]) => withoutSecrets(words).join(' ');

describe('a command line as it may be kept', () => {
  it.each([
    ['a header', ['--header', 'X-Any=s3cret', 'Y=s3cret'], '--header X-Any=*** Y=***'],
    ['a header inline', ['--header=Authorization=Bearer s3cret'], '--header=Authorization=***'],
    ['a key of a server', ['--api-key', 's3cret', 's3cret'], '--api-key *** ***'],
    ['a key of a judge', ['--judge_api_key=s3cret=2'], '--judge_api_key=***'],
    ['a prefixed key', ['--omniinteract-judge-api-key', 's3cret'], '--omniinteract-judge-api-key ***'],
    ['a token', ['--hf-token', 's3cret'], '--hf-token ***'],
    [
      'a member of JSON',
      ['--extra-body', '{"a": 1, "apiKey": "s3cret"}'],
      '--extra-body {"a":1,"apiKey":"***"}',
    ],
    [
      'JSON inline',
      ['--extra-body={"auth":{"password":"s3cret"}}'],
      '--extra-body={"auth":{"password":"***"}}',
    ],
    [
      'headers within JSON',
      ['--extra-body', '{"extra_headers":{"X-Who":["s3cret"]}}'],
      '--extra-body {"extra_headers":{"X-Who":["***"]}}',
    ],
    ['a dotted member', ['--extra-body.api_key', 's3cret'], '--extra-body.api_key ***'],
    ['a dotted member of headers', ['--extra-body.headers.X-Who=s3cret'], '--extra-body.headers.X-Who=***'],
    ['a password of a URL', ['--base-url', 'http://u:s3cret@h/v1'], '--base-url http://u:***@h/v1'],
    ['a variable', ['env', 'HF_TOKEN=s3cret', 'vllm'], 'env HF_TOKEN=*** vllm'],
    ['a header of curl', ['curl', '-H', 'x-api-key: s3cret'], 'curl -H x-api-key: ***'],
    [
      'a bearer within a text',
      ['sh', '-c', 'curl -H "A: Bearer s3cret" h'],
      'sh -c curl -H "A: Bearer ***" h',
    ],
  ])('holds no secret of %s', (_, words, expected) => {
    expect(hidden(...words)).toBe(expected);
    expect(withoutSecrets(withoutSecrets(words))).toEqual(withoutSecrets(words));
  });

  it.each([
    [['--judge-model', 'token', '--max-tokens', '5', '--tokenizer', 'a/b', '--seed', '1']],
    [['--extra-body', '{ "max_tokens": 5, "eos_token": "</s>", "prompt_cache_key": "p", "token_ids": [1] }']],
    [['--extra-body', '{"not": json']],
    [['--stop-token', 'x', '--dataset-path', '/data/secret/keys.jsonl', '--metadata', 'note=a=b']],
    [['--header', 'unpaired', '--base-url', 'http://u@h/v1']],
  ])('keeps %j as it was written', (words) => {
    expect(withoutSecrets(words)).toEqual(words);
  });
});
