import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { z } from 'zod';
import { UsageError } from '../../foundation/errors.ts';
import { exampleFacts, exampleRecord } from '../../records/examples.suite.ts';
import { openJournal } from '../../records/journal.ts';
import type { ExportFormat } from './export-formats.ts';
import { exportPaths, exportRun } from './export-run.ts';

const folder = mkdtempSync(join(tmpdir(), 'omnimeter-export-'));
afterAll(() => rmSync(folder, { recursive: true }));
const run = join(folder, 'run');
const failure = {
  ok: false,
  kind: 'http',
  status: 500,
  message: '=cmd|"calc", and\nmore',
  body: null,
} as const;

// The example reply: sent at 1000.5, tokens at 1100 and 1200, ended at 1500; the run lasted from 1000 to 2000.
beforeAll(() => {
  const journal = openJournal(run, (message) => {
    throw new Error(message);
  });
  journal.describe(
    exampleFacts({ numPrompts: 2, maxConcurrency: 4, argv: ['--header', 'Authorization=Bearer k'] }),
  );
  journal.append(exampleRecord({ index: 0 }));
  journal.append(exampleRecord({ index: 1, text: '', outputTokens: null, outcome: failure }));
  journal.append(exampleRecord({ index: 0, role: 'warmup' }));
  journal.close();
});

async function exported(format: ExportFormat, name: string): Promise<string> {
  await exportRun(run, { formats: [format], output: join(folder, name) }, { stderr: () => {} });
  return join(folder, name);
}

async function exportedJson(format: ExportFormat, name: string) {
  const text = readFileSync(await exported(format, name), 'utf8');
  expect(text).not.toMatch(/\b(NaN|Infinity|undefined)\b/);
  return JSON.parse(text);
}

describe('the records of an AIPerf summary', () => {
  it.each([
    ['profile_export_aiperf.json', 'profile_export.jsonl'],
    ['mine.json', 'mine.jsonl'],
    ['mine', 'mine.jsonl'],
    ['mine.jsonl', 'mine.records.jsonl'],
  ])('of %s are in %s', (summary, records) => {
    const output = join(folder, 'aiperf', summary);
    expect(exportPaths({ formats: ['aiperf'], output })).toEqual([output, join(folder, 'aiperf', records)]);
  });
});

describe('tables of requests', () => {
  it('CSV has a line per measured request, and no text that a spreadsheet runs', async () => {
    const lines = readFileSync(await exported('csv', 'r.csv'), 'utf8').split('\r\n');
    expect(lines[0]).toMatch(/^index,request_id,.*,ttft_ms,tpot_ms,e2el_ms,/);
    expect(lines[1]).toMatch(/^0,bench-0,openai-chat-omni,m,true,,200,,1,0,0.25,0.5,500,3,2,usage,/);
    expect(lines[2]).toContain(`false,http,200,"'=cmd|""calc"", and\nmore",1,`);
    expect(lines).toHaveLength(4);
  });

  it('JSONL has the same columns with their types, texts and gaps', async () => {
    const [first, second] = readFileSync(await exported('jsonl', 'r.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(first).toMatchObject({
      index: 0,
      ok: true,
      ttft_ms: 99.5,
      tpot_ms: 100,
      text: 'hi there',
      itl_ms: [100],
    });
    expect(second).toMatchObject({
      index: 1,
      ok: false,
      error: failure.message,
      ttft_ms: null,
      output_tokens: null,
    });
  });

  it('Parquet is read back by another library', async () => {
    const file = readFileSync(await exported('parquet', 'r.parquet'));
    const rows = await parquetReadObjects({ file: new Uint8Array(file).buffer });
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatchObject({
      index: 0n,
      request_id: 'bench-0',
      ok: true,
      ttft_ms: 99.5,
      text: 'hi there',
    });
    expect(rows[1]).toMatchObject({ ok: false, error: failure.message, output_tokens: null });
  });
});

describe('AIPerf', () => {
  it('has a summary by its tags', async () => {
    const summary = await exportedJson('aiperf', 'profile_export_aiperf.json');
    expect(summary).toMatchObject({
      schema_version: '1.5',
      request_count: { unit: 'requests', avg: 1 },
      error_request_count: { unit: 'requests', avg: 1 },
      time_to_first_token: {
        unit: 'ms',
        avg: 99.5,
        min: 99.5,
        p50: 99.5,
        p99: 99.5,
        std: 0,
        count: 1,
        sum: 99.5,
      },
      inter_token_latency: { unit: 'ms', avg: 100 },
      output_token_throughput_per_user: { unit: 'tokens/sec/user', avg: 10 },
      output_sequence_length: { avg: 2 },
      request_throughput: { unit: 'requests/sec', avg: 1 },
      was_cancelled: false,
      error_summary: [{ error_details: { code: 500, type: 'http' }, count: 1 }],
    });
    expect(summary).not.toHaveProperty('goodput');
    expect(JSON.stringify(summary)).not.toContain('Bearer');
  });

  it('has a record per request beside it', async () => {
    await exported('aiperf', 'profile_export_aiperf.json');
    const lines = readFileSync(join(folder, 'profile_export.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatchObject({
      metadata: {
        session_num: 0,
        x_request_id: 'bench-0',
        benchmark_phase: 'profiling',
        was_cancelled: false,
      },
      metrics: {
        time_to_first_token: { value: 99.5, unit: 'ms' },
        inter_chunk_latency: { value: [100], unit: 'ms' },
      },
      error: null,
    });
    // Nanoseconds since 1970 are beyond whole doubles: near is as exact as JSON numbers are.
    const ns = lines[0].metadata.request_end_ns - lines[0].metadata.request_start_ns;
    expect(Math.abs(ns - 499.5e6)).toBeLessThan(1000);
    expect(lines[1]).toMatchObject({ metrics: {}, error: { code: 500, type: 'http' } });
  });
});

describe('GuideLLM', () => {
  it('has its groups and distributions', async () => {
    const report = await exportedJson('guidellm', 'benchmarks.json');
    const [benchmark] = report.benchmarks;
    expect(report.metadata.version).toBe(2);
    expect(benchmark.type_).toBe('generative_benchmark');
    expect(benchmark.metrics.request_totals).toEqual({ successful: 1, incomplete: 0, errored: 1, total: 2 });
    expect(benchmark.metrics.time_to_first_token_ms.successful).toMatchObject({
      ...{ mean: 99.5, median: 99.5, mode: 99.5, std_dev: 0, count: 1, total_sum: 99.5 },
      percentiles: { p001: 99.5, p50: 99.5, p999: 99.5 },
    });
    expect(benchmark.metrics.time_to_first_token_ms.errored).toMatchObject({ count: 0, mean: 0 });
    expect(benchmark.requests.successful[0]).toMatchObject({
      output: 'hi there',
      output_metrics: { text_tokens: 2 },
    });
    const { timings } = benchmark.requests.successful[0].info;
    expect(timings.first_token_iteration - timings.request_start).toBeCloseTo(0.0995, 5);
    expect(benchmark.requests.errored[0].info).toMatchObject({ status: 'errored', error: failure.message });
    expect(benchmark.duration).toBeCloseTo(1, 5);
  });
});

// The schema in our own words, as strict as theirs: an unknown key is an error.
const statistics = (units: string) =>
  z.strictObject({
    units: z.literal(units),
    mean: z.number(),
    stddev: z.number().nonnegative().optional(),
    ...Object.fromEntries(
      ['min', 'p0p1', 'p1', 'p5', 'p10', 'p25', 'p50', 'p75', 'p90', 'p95', 'p99', 'p99p9', 'max'].map(
        (key) => [key, z.number().optional()],
      ),
    ),
  });
const length = z.strictObject({
  distribution: z.enum(['fixed', 'gaussian', 'uniform', 'other']),
  value: z.number().nonnegative(),
  std_dev: z.number().nonnegative().optional(),
  min: z.int().nonnegative().optional(),
  max: z.int().positive().optional(),
});
const llmdSchema = z.strictObject({
  version: z.literal('0.2.1'),
  run: z.strictObject({
    uid: z.string(),
    time: z.strictObject({
      start: z.iso.datetime(),
      end: z.iso.datetime(),
      duration: z.string().regex(/^PT[\d.]+S$/),
    }),
    description: z.string().optional(),
  }),
  scenario: z.strictObject({
    load: z.strictObject({
      metadata: z.strictObject({ schema_version: z.string(), cfg_id: z.string() }),
      standardized: z.strictObject({
        tool: z.string(),
        tool_version: z.string(),
        parallelism: z.int().positive(),
        source: z.enum(['random', 'sampled', 'unknown']),
        input_seq_len: length,
        output_seq_len: length.optional(),
        rate_qps: z.number().positive().optional(),
        concurrency: z.int().positive().optional(),
      }),
      native: z.strictObject({ config: z.record(z.string(), z.unknown()) }),
    }),
  }),
  results: z.strictObject({
    request_performance: z.strictObject({
      aggregate: z.strictObject({
        requests: z.strictObject({
          total: z.int().nonnegative(),
          failures: z.int().nonnegative(),
          incomplete: z.int().nonnegative(),
          input_length: statistics('count').optional(),
          output_length: statistics('count').optional(),
          request_size: statistics('bytes').optional(),
        }),
        latency: z.strictObject({
          time_to_first_token: statistics('s').optional(),
          normalized_time_per_output_token: statistics('s/token').optional(),
          time_per_output_token: statistics('s/token').optional(),
          inter_token_latency: statistics('s/token').optional(),
          request_latency: statistics('s').optional(),
        }),
        throughput: z.strictObject({
          input_token_rate: statistics('tokens/s').optional(),
          output_token_rate: statistics('tokens/s').optional(),
          total_token_rate: statistics('tokens/s').optional(),
          request_rate: statistics('queries/s').optional(),
        }),
      }),
    }),
  }),
});

describe('llm-d Benchmark Report v0.2.1', () => {
  it('keeps to the schema, in JSON and YAML', async () => {
    const report = await exportedJson('llmd', 'report.json');
    expect(() => llmdSchema.parse(report)).not.toThrow();
    const { aggregate } = report.results.request_performance;
    expect(aggregate.requests).toMatchObject({ total: 2, failures: 1, incomplete: 0 });
    expect(aggregate.latency.time_to_first_token).toMatchObject({ units: 's', mean: 0.0995, p99p9: 0.0995 });
    expect(parse(readFileSync(await exported('llmd', 'report.yaml'), 'utf8'))).toEqual(report);
  });
});

describe('where exports go', () => {
  const say = { stderr: () => {} };
  it('several go into a folder, under the names of their tools', async () => {
    await exportRun(run, { formats: ['csv', 'guidellm'], output: join(folder, 'many') }, say);
    expect(existsSync(join(folder, 'many/requests.csv'))).toBe(true);
    expect(existsSync(join(folder, 'many/benchmarks.json'))).toBe(true);
  });

  it('several do not go into one file', async () => {
    const both = exportRun(run, { formats: ['csv', 'jsonl'], output: join(folder, 'one.csv') }, say);
    await expect(both).rejects.toThrow(UsageError);
  });
});
