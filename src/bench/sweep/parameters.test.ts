import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { applyParameters } from './apply-parameters.ts';
import { itemName, readParameterFile } from './parameter-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'omnimeter-params-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (text: string): string => {
  const path = join(folder, `${Math.random()}.json`);
  writeFileSync(path, text);
  return path;
};

describe('readParameterFile', () => {
  it('takes lists, objects by name, and nothing', () => {
    expect(readParameterFile(null)).toEqual([{}]);
    expect(readParameterFile(file('[{"a": 1}, {}]'))).toEqual([{ a: 1 }, {}]);
    expect(readParameterFile(file('{"x": {"a": Infinity}}'))).toEqual([
      { _benchmark_name: 'x', a: Infinity },
    ]);
  });

  it.each([
    ['[1]', /setting 0 is 1/],
    ['[]', /at least one/],
    ['3', /expected a list of objects/],
    ['{"a": 1}', /setting 0 is 1/],
    ['[{"_benchmark_name": "a"}, {"_benchmark_name": "a"}]', /two settings are named 'a'/],
    ['{', /cannot be read as JSON/],
  ])('refuses %s', (text, message) => {
    expect(() => readParameterFile(file(text))).toThrow(message);
  });

  it('names settings', () => {
    expect(itemName({})).toBe('');
    expect(itemName({ a: 1, 'b.c': true, d: { e: 1 } })).toBe('a=1-b.c=true-d={"e":1}');
    expect(itemName({ _benchmark_name: 'x', a: 1 })).toBe('x');
  });
});

describe('applyParameters', () => {
  const command = ['vllm', 'serve', 'm', '--max-num-seqs', '8', '--enable_x', '--a.b=1', '--port', '80'];
  // By the rules of vllm bench sweep: replace under any spelling, else append; dashes are preferred.
  it.each([
    [
      { max_num_seqs: 16 },
      ['vllm', 'serve', 'm', '--max-num-seqs', '16', '--enable_x', '--a.b=1', '--port', '80'],
    ],
    [
      { 'enable-x': false },
      ['vllm', 'serve', 'm', '--max-num-seqs', '8', '--no-enable-x', '--a.b=1', '--port', '80'],
    ],
    [{ 'a.b': 2 }, ['vllm', 'serve', 'm', '--max-num-seqs', '8', '--enable_x', '--a.b', '2', '--port', '80']],
    [{ max_model_len: 1 }, [...command, '--max-model-len', '1']],
    [{ 'a_x.b_c': true }, [...command, '--a-x.b_c=true']],
    [{ flag: true, other: false }, [...command, '--flag', '--no-other']],
    [{ body: { a: [1] } }, [...command, '--body', '{"a":[1]}']],
    [{ goodput: ['ttft:5', 'tpot:1'] }, [...command, '--goodput', 'ttft:5', 'tpot:1']],
    [{ request_rate: Infinity, none: null }, [...command, '--request-rate', 'inf']],
    [{ _benchmark_name: 'x' }, command],
  ])('%j', (item, expected) => {
    expect(applyParameters(command, item)).toEqual(expected);
  });

  it('replaces all values of a list', () => {
    const given = ['b', '--goodput', 'ttft:1', 'tpot:2', '--seed', '1'];
    expect(applyParameters(given, { goodput: ['e2el:9'] })).toEqual([
      'b',
      '--goodput',
      'e2el:9',
      '--seed',
      '1',
    ]);
  });
});
