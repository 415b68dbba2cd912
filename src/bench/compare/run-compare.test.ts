import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InputFileError, UsageError } from '../../foundation/errors.ts';
import { eventLogOf } from '../../records/event-log.ts';
import { exampleFacts, exampleRecord } from '../../records/examples.suite.ts';
import { openJournal } from '../../records/journal.ts';
import { parseGate } from '../../report/compare/gate.ts';
import { readSide } from './read-side.ts';
import { type RunCompareOptions, runCompare } from './run-compare.ts';

const folder = mkdtempSync(join(tmpdir(), 'omnimeter-compare-'));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);

function result(ttftMs: number, more: Record<string, unknown> = {}): string {
  const ttfts = Array.from({ length: 40 }, (_, i) => (ttftMs * (1 + 0.01 * (i % 7))) / 1000);
  const mean = (1000 * ttfts.reduce((sum, value) => sum + value, 0)) / ttfts.length;
  const text = JSON.stringify({
    completed: 40,
    failed: 0,
    duration: 2,
    mean_ttft_ms: mean,
    ttfts,
    rate: '@',
    ...more,
  });
  // As Python writes it.
  return text.replace('"@"', 'Infinity');
}

function journal(dir: string, firstMs: number): void {
  const opened = openJournal(dir, (message) => {
    throw new Error(message);
  });
  opened.describe(exampleFacts({}));
  for (let index = 0; index < 30; index += 1)
    opened.append(
      exampleRecord({ index, events: eventLogOf([{ timeMs: 1000.5 + firstMs + (index % 5), tokens: 1 }]) }),
    );
  opened.close();
}

beforeAll(() => {
  writeFileSync(at('a.json'), result(100));
  writeFileSync(at('b.json'), result(130));
  writeFileSync(at('append.json'), [result(100), result(101), result(99)].join('\n'));
  writeFileSync(
    at('sglang.jsonl'),
    result(100, { mean_e2e_latency_ms: 250, total_output_tokens_retokenized: 1 }),
  );
  writeFileSync(at('other.json'), '{"name": "x"}');
  mkdirSync(at('cell'));
  writeFileSync(at('cell/run=0.json'), result(100));
  writeFileSync(at('cell/run=1.json'), result(102));
  writeFileSync(at('cell/notes.json'), '[1, 2]');
  journal(at('run-a'), 50);
  journal(at('run-b'), 80);
});

const options = (changes: Partial<RunCompareOptions>): RunCompareOptions => ({
  sides: [at('a.json'), at('b.json')],
  gates: [],
  significantOnly: false,
  failOnRegression: false,
  familyError: 0.03,
  seed: 0,
  outputs: { json: null, markdown: null, html: null, junit: null },
  stepSummary: null,
  ...changes,
});

async function compare(changes: Partial<RunCompareOptions>) {
  const lines: string[] = [];
  const errors: string[] = [];
  const io = {
    stdout: (line: string) => void lines.push(line),
    stderr: (line: string) => void errors.push(line),
  };
  const { exitCode } = await runCompare(options(changes), io);
  return { exitCode, text: lines.join('\n'), errors: errors.join('\n') };
}

describe('sides', () => {
  it.each([
    ['a.json', 1],
    ['append.json', 3],
    ['sglang.jsonl', 1],
    ['cell', 2],
    ['run-a', 1],
  ])('%s holds %i runs with requests', async (name, count) => {
    const side = await readSide(at(name), []);
    expect(side.runs).toHaveLength(count);
    for (const run of side.runs) expect(run.records?.count).toBeGreaterThan(20);
  });

  it('are several names with commas', async () => {
    expect((await readSide(`${at('a.json')},${at('cell')}`, [])).runs).toHaveLength(3);
  });

  it('that have lost every record are refused, and so is any condition on them', async () => {
    journal(at('lost'), 50);
    truncateSync(at('lost/records.jsonl'), 0);
    for (const sides of [
      ['lost', 'run-a'],
      ['run-a', 'lost'],
      ['run-a,lost', 'run-b'],
    ])
      await expect(
        compare({
          sides: sides.map((side) => side.split(',').map(at).join(',')),
          gates: [parseGate('threshold', 'failed<1')],
        }),
      ).rejects.toThrow(/lost holds no record of a request/);
  });

  it('that do not exist or hold no result are refused', async () => {
    await expect(readSide(at('nothing.json'), [])).rejects.toThrow(UsageError);
    await expect(readSide(at('other.json'), [])).rejects.toThrow(InputFileError);
  });
});

describe('conditions', () => {
  const failOn = (text: string) => parseGate('fail-on', text);
  it.each([
    [{}, 0],
    [{ gates: [failOn('mean_ttft_ms>+5%')] }, 3],
    [{ gates: [failOn('mean_ttft_ms>+50%')] }, 0],
    [{ gates: [failOn('p95_ttft_ms>+5%')] }, 3],
    [{ gates: [parseGate('threshold', 'p99_ttft_ms<500')] }, 0],
    [{ gates: [parseGate('threshold', 'p99_ttft_ms<50')] }, 3],
    [{ gates: [parseGate('threshold', 'p99_audio_ttfp_ms<50')] }, 3],
    [{ failOnRegression: true }, 3],
    [{ failOnRegression: true, sides: [at('b.json'), at('a.json')] }, 0],
    [{ failOnRegression: true, sides: [at('a.json'), at('append.json')] }, 0],
    [{ sides: [at('run-a'), at('run-b')], gates: [failOn('p99.5_ttft_ms>+20%')] }, 3],
    [
      {
        sides: [at('a.json'), at('append.json')],
        gates: [failOn('mean_ttft_ms>+0%')],
        significantOnly: true,
      },
      0,
    ],
  ] as const)('%j end with %i', async (changes, exitCode) => {
    expect((await compare(changes)).exitCode).toBe(exitCode);
  });

  it('on an unknown key are refused before anything is printed', async () => {
    await expect(compare({ gates: [failOn('mean_tftt_ms>1%')] })).rejects.toThrow(
      /Did you mean mean_ttft_ms/,
    );
  });
});

describe('outputs', () => {
  it('are files and the summary of a job, which is appended to', async () => {
    const summary = at('summary.md');
    writeFileSync(summary, 'before\n');
    const outputs = {
      json: at('o/c.json'),
      markdown: at('o/c.md'),
      html: at('o/c.html'),
      junit: at('o/c.xml'),
    };
    const { text } = await compare({ outputs, stepSummary: summary, failOnRegression: true });
    for (const path of Object.values(outputs)) expect(existsSync(path)).toBe(true);
    expect(readFileSync(summary, 'utf8')).toMatch(/^before\n## Comparison/);
    const json = JSON.parse(readFileSync(outputs.json, 'utf8'));
    expect(json.metrics.mean_ttft_ms).toMatchObject({ flagged: true, verdict: 'worse' });
    expect(json.metrics.failed).toMatchObject({ flagged: false });
    expect(text).toMatch(/mean_ttft_ms .* worse/);
  });

  it('to standard output leave it to the document', async () => {
    const outputs = { json: '-', markdown: null, html: null, junit: null };
    const { text, errors } = await compare({ outputs });
    expect(JSON.parse(text).format).toBe('omnimeter-comparison');
    expect(errors).toContain('mean_ttft_ms');
  });

  const none = { json: null, markdown: null, html: null, junit: null };

  it.each([
    [['a.json', 'b.json'], 'b.json'],
    [['a.json', 'append.json'], 'append.json'],
    [['run-a', 'run-b'], 'run-a/records.jsonl'],
    [['run-a', 'run-b'], 'run-b/run.json'],
    [['cell', 'a.json'], 'cell/run=1.json'],
  ] as const)('never overwrite an input: %j, %s', async (sides, output) => {
    const before = readFileSync(at(output), 'utf8');
    for (const format of ['json', 'markdown', 'html', 'junit']) {
      const outputs = { ...none, json: at('first.json'), [format]: at(output) };
      await expect(compare({ sides: sides.map(at), outputs })).rejects.toThrow(
        new RegExp(`--${format}: .* is read by this command`),
      );
    }
    expect(readFileSync(at(output), 'utf8')).toBe(before);
    expect(existsSync(at('first.json'))).toBe(false);
  });

  it('may be in the folder of a run', async () => {
    const outputs = { ...none, json: at('run-b/comparison.json') };
    await compare({ sides: [at('run-a'), at('run-b')], outputs });
    expect(existsSync(outputs.json)).toBe(true);
  });

  it.each([
    [[], 2],
    [[parseGate('threshold', 'p99_ttft_ms<500')], 2],
    [[parseGate('threshold', 'p99_ttft_ms<50')], 3],
  ])('that cannot be written do not cost the others, nor what the conditions say', async (gates, code) => {
    const dir = mkdtempSync(join(folder, 'outputs-'));
    const outputs = {
      // The folder of the first would be a file.
      json: join(at('a.json'), 'c.json'),
      markdown: dir,
      html: join(dir, 'c.html'),
      junit: join(dir, 'c.xml'),
    };
    const summary = join(dir, 'summary.md');
    const { exitCode, errors } = await compare({ outputs, gates, stepSummary: summary });
    expect(exitCode).toBe(code);
    for (const path of [outputs.html, outputs.junit, summary])
      expect(readFileSync(path, 'utf8')).not.toBe('');
    expect(errors.split('\n')).toEqual([
      expect.stringContaining(`error: cannot write ${outputs.json}: `),
      expect.stringContaining(`error: cannot write ${outputs.markdown}: `),
    ]);
  });

  it('of which two are on standard output are refused', async () => {
    await expect(compare({ outputs: { ...none, json: '-', markdown: '-' } })).rejects.toThrow(
      /--json and --markdown: only one output can go to standard output/,
    );
  });
});
