import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { chosenCases, readCaseFile } from './case-file.ts';
import { expandVariables } from './expand-variables.ts';
import { flagWords } from './flag-words.ts';

const checkedIn = new URL('../../../cases/minicpmo-4-5-omniinteract.yaml', import.meta.url).pathname;

function fileOf(text: string): string {
  const dir = mkdtempSync(join(tmpdir(), 'omnimeter-cases-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const path = join(dir, 'cases.yaml');
  writeFileSync(path, text);
  return path;
}

test('flags become the words of a command line', () => {
  expect(
    flagWords({
      num_prompts: 4,
      omni: true,
      stream: false,
      left: null,
      'metric-percentiles': '50,99',
      subsets: ['a', 'b'],
      extra: { x: [1] },
      seed: -1,
    }),
  ).toEqual([
    ...['--num-prompts', '4', '--omni', '--no-stream', '--metric-percentiles', '50,99'],
    ...['--subsets', 'a', 'b', '--extra', '{"x":[1]}', '--seed=-1'],
  ]);
});

test.each([
  [`\${A}/\${B:-b}/$$C/$D`, 'a/b/$C/$D'],
  [`\${E:-}x`, 'x'],
])('%s expands to %s', (text, expanded) => {
  expect(expandVariables(text, { A: 'a', E: '' }, 'here')).toBe(expanded);
});

test('a variable without a value is named, with the place', () => {
  expect(() => expandVariables(`\${GONE}`, {}, 'c.yaml: x')).toThrow(`c.yaml: x: \${GONE} has no value`);
});

describe('the local performance case', () => {
  const read = (env: Record<string, string>) =>
    readCaseFile(checkedIn, '/results', { REF_AUDIO: 'ref.wav', ...env });

  test('is three subsets of four conversations, two at a time, with two servers on a GPU each', () => {
    const file = read({});
    const cases = chosenCases(file, {
      labels: ['minicpmo_4_5_omniinteract'],
      types: ['local'],
      modelTypes: ['omni'],
    });
    const valueAfter = (words: readonly string[], flag: string) => words[words.indexOf(flag) + 1];
    expect(cases.map(({ words }) => valueAfter(words, '--omniinteract-subsets'))).toEqual([
      '1q1a',
      '1q1a_math',
      '1qna',
    ]);
    for (const { words, servers, dir } of cases) {
      expect(valueAfter(words, '--num-prompts')).toBe('4');
      expect(valueAfter(words, '--max-concurrency')).toBe('2');
      expect(valueAfter(words, '--num-warmups')).toBe('0');
      expect(valueAfter(words, '--omniinteract-output-dir')).toBe(`${dir}/artifacts`);
      expect(words).toContain('--omniinteract-evaluate');
      expect(servers.map(({ env }) => env.CUDA_VISIBLE_DEVICES)).toEqual(['0', '1']);
      expect(servers.map(({ words: command }) => command.slice(0, 2))).toEqual([
        ['vllm', 'serve'],
        ['vllm', 'serve'],
      ]);
    }
    expect(file.aggregates).toEqual([
      { label: 'minicpmo_4_5_omniinteract', cases: cases.map(({ label }) => label), minIaQtf1: 0.2 },
    ]);
  });

  test('runs on embedded servers, at ports and with data of one’s own', () => {
    const { cases } = read({ ENGINES: 'embedded', OMNI_PORT: '1234', DATASET: 'org/set@abc' });
    expect(cases[0]?.servers.map(({ words }) => words[0])).toEqual(['omnimeter', 'omnimeter']);
    expect(cases[0]?.words.join(' ')).toContain('--base-url http://127.0.0.1:1234');
    expect(cases[0]?.words.join(' ')).toContain('--dataset-path org/set@abc');
  });
});

test('a case has its own folder, flags over the defaults, and a baseline beside the file', () => {
  const path = fileOf(`
defaults: { bench: { seed: 1, num-prompts: 2 }, env: { A: "1" } }
cases:
  - label: one
    bench: { seed: null, model: "\${LABEL}" }
    arguments: --goodput ttft:100 "x y"
    baseline: base.json
    fail_on: ["mean_ttft_ms>+10%"]
    gates: ["omniinteract.accuracy.evaluated>=1"]
`);
  const [one] = readCaseFile(path, '/r', {}).cases;
  expect(one).toMatchObject({
    dir: '/r/one',
    env: { A: '1' },
    type: 'local',
    words: ['--num-prompts', '2', '--model', 'one', '--goodput', 'ttft:100', 'x y'],
    baseline: path.replace('cases.yaml', 'base.json'),
    timeoutS: null,
  });
  expect(one?.gates[0]).toMatchObject({ key: 'omniinteract.accuracy.evaluated', operator: '>=', limit: 1 });
  expect(one?.failOn[0]).toMatchObject({ relative: true });
});

test.each([
  ['cases: [', 'the case file cannot be read'],
  ['cases: []', 'cases: '],
  ['cases: [{label: a, benhc: {}}]', 'cases[0]: '],
  ['cases: [{label: a/b}]', 'cases[0].label: letters, digits'],
  ['cases: [{label: ..}]', 'cases[0].label: a name of dots alone'],
  ['cases: [{label: "."}]', 'cases[0].label: a name of dots alone'],
  [`cases: [{label: ${'n'.repeat(300)}}]`, 'cases[0].label: '],
  ['cases: [{label: summary.json}]', "the summary of all cases and the folder of case 'summary.json'"],
  ['cases: [{label: summary.json.part}]', 'the summary of all cases and the folder of case'],
  ['cases: [{label: .sweep.json}]', 'the mark of a run under way and the folder of case'],
  [
    'cases: [{label: server-s.log}]\nservers: {s: {command: x}}',
    "the log of server 's' and the folder of case 'server-s.log' would both be 'server-s.log'",
  ],
  [
    'cases: [{label: a}]\naggregates: [{label: summary, cases: [a], omniinteract_aggregate_min_ia_qtf1: 0}]',
    "the summary of all cases and the file of aggregate 'summary'",
  ],
  [
    'cases: [{label: b.json}]\naggregates: [{label: b, cases: [b.json], omniinteract_aggregate_min_ia_qtf1: 0}]',
    "the file of aggregate 'b' and the folder of case 'b.json'",
  ],
  ['cases: [{label: a}, {label: a}]', "the label 'a' is there twice"],
  ['cases: [{label: a, servers: [x]}]', "there is no server 'x'"],
  ['cases: [{label: a, gates: [fast]}]', 'a: gates: --threshold'],
  ['cases: [{label: a, fail_on: ["x>1"]}]', 'against a baseline, which is not given'],
  [
    'cases: [{label: a}]\naggregates: [{label: b, cases: [c], omniinteract_aggregate_min_ia_qtf1: 0.2}]',
    "there is no case 'c'",
  ],
  [
    'cases: [{label: a, servers: [s]}]\nservers: {s: {command: "a \'b"}}',
    "servers.s.command: 'a 'b' is no command",
  ],
])('%s is refused', (text, why) => {
  expect(() => readCaseFile(fileOf(text), '/r', {})).toThrow(why);
});
