import { describe, expect, test } from 'vitest';
import { UsageError } from '../../foundation/errors.ts';
import type { FlagTable } from './flag.ts';
import { readArguments } from './read-arguments.ts';

const table = {
  'num-prompts': { group: 'G', kind: 'int', default: 1, doc: '' },
  'request-rate': { group: 'G', kind: 'float', default: 1, doc: '' },
  'extra-body': { group: 'G', kind: 'json', default: null, doc: '' },
  'lora-modules': { group: 'G', kind: 'list', default: null, doc: '' },
  metrics: { group: 'G', kind: 'comma-list', default: null, doc: '' },
  omni: { group: 'G', kind: 'boolean', default: false, doc: '' },
  'no-oversample': { group: 'G', kind: 'boolean', default: false, doc: '' },
  'tensor-parallel-size': { group: 'G', kind: 'int', default: 1, doc: '', aliases: ['-tp'] },
} as const satisfies FlagTable;

const read = (...argv: string[]) => readArguments(argv, table);
const shape = (...argv: string[]) =>
  read(...argv).assignments.map(({ name, members, append, negated, texts }) =>
    [name, members.join('.'), append ? '+' : '', negated ? 'no' : '', ...texts].filter((part) => part !== ''),
  );

describe('forms of a flag', () => {
  test.each([
    [['--num-prompts', '3'], [['num-prompts', '3']]],
    [['--num_prompts', '3'], [['num-prompts', '3']]],
    [['--num-prompts=3'], [['num-prompts', '3']]],
    [['--num_prompts=3'], [['num-prompts', '3']]],
    [['--request-rate', '-1'], [['request-rate', '-1']]],
    [['--request-rate', '-.5e-3'], [['request-rate', '-.5e-3']]],
    [['--request-rate', '-inf'], [['request-rate', '-inf']]],
    [['--request-rate=--odd'], [['request-rate', '--odd']]],
    [['--omni'], [['omni']]],
    [['--omni=false'], [['omni', 'false']]],
    [['--no-omni'], [['omni', 'no']]],
    [['--no_omni'], [['omni', 'no']]],
    [['--no-oversample'], [['no-oversample']]],
    [['-tp', '2'], [['tensor-parallel-size', '2']]],
    [['--extra-body', '{"a": "x=y"}'], [['extra-body', '{"a": "x=y"}']]],
    [['--extra-body={"a": "x=y"}'], [['extra-body', '{"a": "x=y"}']]],
    [['--extra-body.audio.top_k', '5'], [['extra-body', 'audio.top_k', '5']]],
    [['--extra_body.temperature=-0.3'], [['extra-body', 'temperature', '-0.3']]],
    [['--extra-body.stop+', 'a,b'], [['extra-body', 'stop', '+', 'a,b']]],
    [['--extra-body.stop+=a'], [['extra-body', 'stop', '+', 'a']]],
    [['--metrics+', 'e2el'], [['metrics', '+', 'e2el']]],
    [
      ['--lora-modules', 'a', 'b', '--omni'],
      [['lora-modules', 'a', 'b'], ['omni']],
    ],
    [['--lora-modules+', 'c'], [['lora-modules', '+', 'c']]],
  ])('%j', (argv, expected) => {
    expect(shape(...argv)).toEqual(expected);
  });

  test('what follows a single value or a switch is positional', () => {
    expect(read('model', '--omni', 'more', '--', '--omni').positionals).toEqual(['model', 'more', '--omni']);
  });

  test.each([
    [['--help'], ''],
    [['-h'], ''],
    [['--help=all'], 'all'],
    [['--nonsense', '--help=Load'], 'Load'],
    [['--', '--help'], null],
  ])('help in %j', (argv, topic) => {
    expect(read(...argv).helpTopic).toBe(topic);
  });
});

describe('refused', () => {
  test.each([
    [
      ['--num-promts', '3'],
      /unknown flag --num-promts\. Did you mean --num-prompts\?\nAllowed flags: .*--request-rate/,
    ],
    [['--num', '3'], /unknown flag --num\./],
    [['--Num-Prompts', '3'], /unknown flag --Num-Prompts\. Did you mean --num-prompts\?/],
    [['--no-num-prompts'], /unknown flag --no-num-prompts/],
    [['--num-prompts'], /--num-prompts needs a value\./],
    [['--num-prompts', '--omni'], /--num-prompts needs a value .*--num-prompts=--omni/],
    [['--lora-modules', '--omni'], /--lora-modules needs a value/],
    [['--num-prompts.a', '1'], /--num-prompts takes no members, got --num-prompts\.a/],
    [['--extra-body..a', '1'], /a member's name is empty/],
    [['--num-prompts+', '1'], /only lists and members of JSON flags can be added to/],
    [['--no-omni=true'], /--no-omni takes no value/],
    [['-x'], /unknown flag -x/],
  ])('%j', (argv, message) => {
    expect(() => read(...argv)).toThrow(UsageError);
    expect(() => read(...argv)).toThrow(message);
  });
});
