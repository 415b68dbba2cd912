import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { InputFileError, UsageError } from '../../foundation/errors.ts';
import type { FlagTable } from './flag.ts';
import { parseFlags } from './parse-flags.ts';

const table = {
  config: { group: 'G', kind: 'path', default: null, doc: '' },
  seed: { group: 'G', kind: 'int', default: 0, min: -5, max: 99, doc: '' },
  rate: { group: 'G', kind: 'float', default: Number.POSITIVE_INFINITY, doc: '' },
  strategy: { group: 'G', kind: 'choice', choices: ['linear', 'exponential'], default: null, doc: '' },
  omni: { group: 'G', kind: 'boolean', default: false, doc: '' },
  'result-dir': { group: 'G', kind: 'path', default: null, doc: '' },
  'extra-body': { group: 'G', kind: 'json', default: null, doc: '' },
  ratio: { group: 'G', kind: 'number-or-json', default: 0, doc: '' },
  'lora-modules': { group: 'G', kind: 'list', default: null, doc: '' },
  threshold: { group: 'G', kind: 'repeated', default: null, doc: '' },
  metrics: { group: 'G', kind: 'comma-list', default: ['ttft'], doc: '' },
  header: {
    group: 'G',
    kind: 'pairs',
    separator: '=',
    syntaxError: 'Use KEY=VALUE.',
    default: null,
    doc: '',
  },
  ref: { group: 'G', kind: 'existing-file', default: null, doc: '' },
  workers: { group: 'G', kind: 'positive-int', default: null, doc: '' },
  timeout: { group: 'G', kind: 'positive-float', default: null, doc: '' },
} as const satisfies FlagTable;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'omnimeter-flags-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function parse(argv: readonly string[], env: Record<string, string> = {}) {
  const result = await parseFlags(argv, table, env);
  if (result.kind === 'help') throw new Error('help');
  return result;
}

function configFile(text: string): string {
  const file = join(folder, `${Math.random().toString(36).slice(2)}.yaml`);
  writeFileSync(file, text);
  return file;
}

describe('values', () => {
  test.each([
    [['--seed', '-5'], 'seed', -5],
    [['--seed', '1', '--seed', '2'], 'seed', 2],
    [['--rate', 'inf'], 'rate', Number.POSITIVE_INFINITY],
    [['--rate', '1e-3'], 'rate', 0.001],
    [['--rate', '.5'], 'rate', 0.5],
    [['--omni'], 'omni', true],
    [['--omni', '--no-omni'], 'omni', false],
    [['--omni=True'], 'omni', true],
    [['--result-dir=~/x'], 'result-dir', `${homedir()}/x`],
    [['--strategy', 'linear'], 'strategy', 'linear'],
    [['--ratio', '0.5'], 'ratio', 0.5],
    [['--ratio', '{"input": 0.1}'], 'ratio', { input: 0.1 }],
    [['--ratio.input', '0.1'], 'ratio', { input: 0.1 }],
    [['--metrics', 'a, b,'], 'metrics', ['a', 'b']],
    [['--metrics+', 'b,c'], 'metrics', ['ttft', 'b', 'c']],
    [['--lora-modules', 'a', 'b', '--lora-modules', 'c'], 'lora-modules', ['c']],
    [['--threshold', 'a<1', 'b', '--threshold=c<2'], 'threshold', ['a<1', 'c<2']],
    [['--lora-modules', 'a', 'b', '--lora-modules+', 'c'], 'lora-modules', ['a', 'b', 'c']],
    [
      ['--header', ' A = b=c ', 'D='],
      'header',
      [
        ['A', 'b=c'],
        ['D', ''],
      ],
    ],
    [['--workers', '8'], 'workers', 8],
    [['--timeout', '0.5'], 'timeout', 0.5],
    [['--extra-body', '{"a": 1}', '--extra-body', '{"b": 2}'], 'extra-body', { b: 2 }],
    [['--extra-body.t', '0.3', '--extra-body', '{"a": 1}'], 'extra-body', { a: 1, t: 0.3 }],
    [
      ['--extra-body.a.b', '1', '--extra-body.a.c', 'x', '--extra-body.a.b', 'null'],
      'extra-body',
      { a: { b: null, c: 'x' } },
    ],
    [['--extra-body.a', '{"b": 1}', '--extra-body.a', '{"c": [2]}'], 'extra-body', { a: { b: 1, c: [2] } }],
    [['--extra-body.m+', 'text', '--extra-body.m+', 'audio,1'], 'extra-body', { m: ['text', 'audio', 1] }],
    [['--extra-body', '{"m": "x"}', '--extra-body.m+', 'y'], 'extra-body', { m: ['x', 'y'] }],
    [['--extra-body.__proto__.x', '1'], 'extra-body', JSON.parse('{"__proto__": {"x": 1}}')],
  ] as const)('%j', async (argv, name, expected) => {
    const { values, explicit } = await parse(argv);
    expect(values[name]).toEqual(expected);
    expect([...explicit]).toEqual([name]);
  });

  test('defaults are not explicit', async () => {
    const { values, explicit } = await parse([]);
    expect(values).toMatchObject({ seed: 0, metrics: ['ttft'], 'extra-body': null });
    expect(explicit.size).toBe(0);
  });

  test.each([
    [['--seed', '1.5'], /--seed: '1.5' is not a whole number/],
    [['--seed', '1e3'], /not a whole number/],
    [['--seed', '100'], /--seed: 100 is too large\. Expected at most 99/],
    [['--seed', '-6'], /--seed: -6 is too small\. Expected at least -5/],
    [['--rate', 'fast'], /--rate: 'fast' is not a number/],
    [['--rate', 'nan'], /'nan' is not a number/],
    [['--rate', ''], /'' is not a number/],
    [['--omni=maybe'], /'maybe' is neither true nor false/],
    [['--strategy', 'linaer'], /Did you mean linear\?\nAllowed: linear, exponential/],
    [['--extra-body', '{a: 1}'], /is not JSON/],
    [['--extra-body', '[1]'], /not an object/],
    [['--ratio', '"x"'], /Expected a number or a JSON object/],
    [['--header', 'novalue'], /--header: 'novalue'\. Use KEY=VALUE\./],
    [['--ref', '/nowhere/x.wav'], /file does not exist: '\/nowhere\/x\.wav'/],
    [['--workers', '0'], /must be a positive integer, got '0'/],
    [['--timeout', 'inf'], /must be a finite positive number, got 'inf'/],
  ])('refused: %j', async (argv, message) => {
    await expect(parse(argv)).rejects.toThrow(UsageError);
    await expect(parse(argv)).rejects.toThrow(message);
  });
});

describe('sources', () => {
  test('defaults < file < environment < command line', async () => {
    const file = configFile('seed: 1\nrate: 1\nomni: true\nresult_dir: ~/there\n');
    const env = { OMNIMETER_RATE: '2', OMNIMETER_SEED: '2', OMNIMETER_WORKERS: '' };
    const { values, explicit } = await parse(['--config', file, '--seed', '3'], env);
    expect(values).toMatchObject({
      seed: 3,
      rate: 2,
      omni: true,
      'result-dir': `${homedir()}/there`,
      workers: null,
    });
    expect([...explicit].sort()).toEqual(['config', 'omni', 'rate', 'result-dir', 'seed']);
  });

  test('the file may be named by the environment', async () => {
    const { values } = await parse([], { OMNIMETER_CONFIG: configFile('seed: 7') });
    expect(values.seed).toBe(7);
  });

  test('every kind in a file', async () => {
    const file = configFile(
      [
        'rate: .inf',
        'extra-body: {modalities: [text, audio], audio: {voice: a}}',
        'extra_body.temperature: 0.3',
        'lora-modules: [a, 1]',
        'threshold: [a<1, b>2]',
        'metrics: [ttft, e2el]',
        'header: {X-A: 1, X-B: "y=z"}',
        'ratio: {input: 0.1, output: 0.2}',
        'strategy:',
      ].join('\n'),
    );
    expect((await parse(['--config', file])).values).toMatchObject({
      rate: Number.POSITIVE_INFINITY,
      'extra-body': { modalities: ['text', 'audio'], audio: { voice: 'a' }, temperature: 0.3 },
      'lora-modules': ['a', '1'],
      threshold: ['a<1', 'b>2'],
      metrics: ['ttft', 'e2el'],
      header: [
        ['X-A', '1'],
        ['X-B', 'y=z'],
      ],
      ratio: { input: 0.1, output: 0.2 },
      strategy: null,
    });
  });

  test('members on the command line merge into the file, a whole object replaces it', async () => {
    const file = configFile('extra-body: {a: {x: 1, y: 2}}');
    const merged = await parse(['--config', file, '--extra-body.a.x', '5']);
    expect(merged.values['extra-body']).toEqual({ a: { x: 5, y: 2 } });
    const replaced = await parse(['--config', file, '--extra-body', '{"b": 1}']);
    expect(replaced.values['extra-body']).toEqual({ b: 1 });
  });

  test('lists in the environment', async () => {
    const { values } = await parse([], {
      OMNIMETER_LORA_MODULES: 'a b',
      OMNIMETER_HEADER: '["K=v w"]',
      OMNIMETER_METRICS: 'x,y',
    });
    expect(values['lora-modules']).toEqual(['a', 'b']);
    expect(values.header).toEqual([['K', 'v w']]);
    expect(values.metrics).toEqual(['x', 'y']);
  });

  test.each([
    ['sede: 1', UsageError, /unknown key "sede"\. Did you mean seed\?\nAllowed keys: .*rate/],
    ['config: x', UsageError, /unknown key "config"/],
    ['seed: {a: 1}', UsageError, /expected a plain value/],
    ['seed: x', UsageError, /: seed: 'x' is not a whole number/],
    ['seed.a: 1', UsageError, /seed takes no members/],
    ['- a', InputFileError, /expected a map/],
    ['a: [', InputFileError, /not YAML/],
  ])('a file that says %j', async (text, kind, message) => {
    const file = configFile(text);
    await expect(parse(['--config', file])).rejects.toThrow(kind);
    await expect(parse(['--config', file])).rejects.toThrow(message);
    await expect(parse(['--config', file])).rejects.toThrow(file);
  });

  test('a file that is missing', async () => {
    await expect(parse(['--config', '/nowhere.yaml'])).rejects.toThrow(
      /--config \/nowhere\.yaml: cannot be read/,
    );
  });

  test('a bad variable is named', async () => {
    await expect(parse([], { OMNIMETER_SEED: 'x' })).rejects.toThrow(
      /OMNIMETER_SEED: 'x' is not a whole number/,
    );
  });
});
