import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reportFigures } from './report-figures.ts';
import { type CliResult, readJson, runCli, startEmbeddedServer, withFolder } from './run-cli.ts';

const folder = mkdtempSync(join(tmpdir(), 'omnimeter-e2e-'));
afterAll(() => rmSync(folder, { recursive: true }));

const model = 'Qwen/Qwen3-Omni-30B-A3B-Instruct';
const omniFlags = [
  ...['--omni', '--backend', 'openai-chat-omni', '--dataset-name', 'random', '--num-prompts', '4'],
  ...['--random-input-len', '20', '--random-output-len', '30', '--max-concurrency', '2', '--print-stage'],
  ...['--percentile-metrics', 'ttft,tpot,itl,e2el,audio_rtf,audio_ttfp,audio_duration,ttfc,tpoc,icl'],
  ...['--metric-percentiles', '50,99.9', '--goodput', 'ttft:100000', 'audio_rtf:1000'],
  ...['--label', 'nightly', '--metadata', 'gpu=none', '--num-warmups', '1'],
];
/** A prompt that is refused: it asks for more tokens than the model's context holds. */
const rows = [
  { prompt: 'How long is a piece of string?', output_tokens: 5 },
  { prompt: 'And of this one?', output_tokens: 1_000_000 },
  { prompt: 'Is one token an answer?', output_tokens: 1 },
];
const baseFlags = [
  ...['--backend', 'openai-chat', '--dataset-name', 'custom', '--custom-output-len', '-1'],
  ...['--dataset-path', join(folder, 'prompts.jsonl'), '--num-prompts', '3', '--request-rate', '20'],
  ...['--max-concurrency', '1', '--probe-request-rate', '50'],
  ...['--percentile-metrics', 'ttft,tpot,itl,e2el,client_queue_time,e2el_including_client_queue'],
];
/** A run of each layout with everything that it can show: stages and speech; probes, queue and a failure. */
const layouts = { omni: omniFlags, base: baseFlags } as const;
const runDir = (layout: string): string => join(folder, layout);
const savedIn = (dir: string): string[] => ['--save-result', '--result-dir', dir];
const printed = new Map<string, CliResult>();

beforeAll(async () => {
  writeFileSync(join(folder, 'prompts.jsonl'), rows.map((row) => JSON.stringify(row)).join('\n'));
  const server = await startEmbeddedServer([model, '--time-scale', '0.02']);
  try {
    for (const [layout, flags] of Object.entries(layouts)) {
      const run = await runCli([
        ...['bench', 'serve', '--base-url', server.url, '--model', model, '--run-dir', runDir(layout)],
        ...[...flags, ...savedIn(folder), '--save-detailed', '--result-filename', `${layout}.json`],
      ]);
      expect(run.exitCode, run.stderr).toBe(0);
      printed.set(layout, run);
    }
  } finally {
    await server.close();
  }
}, 60_000);

/** The report at the end of the run. */
function reportOf(layout: string): string {
  const stdout = printed.get(layout)?.stdout ?? '';
  return stdout.slice(stdout.indexOf('============ Serving Benchmark Result'));
}

describe.each(Object.keys(layouts))('the report of a stored run, %s', (layout) => {
  it('has the lines that the run printed', async () => {
    const again = await runCli(['report', runDir(layout)]);
    expect(again.stdout).toBe(reportOf(layout));
    expect(again.exitCode).toBe(0);
    expect(again.stderr).toBe('');
  });

  it('saves the result that the run saved', async () => {
    await withFolder(async (dir) => {
      const again = await runCli([
        ...['report', runDir(layout), ...savedIn(dir), '--save-detailed', '--result-filename', 'again.json'],
      ]);
      expect(again.exitCode).toBe(0);
      expect(again.stderr).toBe(`Result saved to ${join(dir, 'again.json')}\n`);
      expect(readJson(join(dir, 'again.json'))).toEqual(readJson(join(folder, `${layout}.json`)));
    });
  });

  it('leaves the run as it is', async () => {
    const read = (): string[] =>
      ['run.json', 'records.jsonl'].map((name) => readFileSync(join(runDir(layout), name), 'utf8'));
    const before = read();
    await runCli(['report', runDir(layout), '--percentile-metrics', 'e2el', '--label', 'other']);
    expect(read()).toEqual(before);
    expect(readdirSync(runDir(layout)).toSorted()).toEqual(['records.jsonl', 'run.json']);
  });
});

describe('what the two runs show at all', () => {
  it('speech and stages; probes, queue and the failure', () => {
    for (const line of [
      '================== Audio Result ==================',
      '================ Stage 1 (talker) ================',
      'P99.9 AUDIO_RTF:',
      'Request goodput (req/s):',
    ])
      expect(reportOf('omni')).toContain(line);
    for (const line of [
      'Probe requests completed:',
      'Mean Client Queue Time (ms):',
      'Mean E2EL incl. Client Queue (ms):',
      'Failed requests by cause:\n  1 × http, status 400: ',
    ])
      expect(reportOf('base')).toContain(line);
  });
});

describe('flags of omnimeter report', () => {
  const omni = (...flags: string[]): Promise<CliResult> => runCli(['report', runDir('omni'), ...flags]);

  it('--metric-percentiles', async () => {
    const { stdout } = await omni('--metric-percentiles', '10,90');
    const figures = reportFigures(stdout);
    const labels = [...figures.keys()].filter(
      (label) => label.includes('TTFT') && label.startsWith('Serving'),
    );
    expect(labels).toEqual([
      'Serving / Mean TTFT (ms)',
      'Serving / Median TTFT (ms)',
      'Serving / P10 TTFT (ms)',
      'Serving / P90 TTFT (ms)',
    ]);
    const before = reportFigures(reportOf('omni'));
    for (const label of labels.slice(0, 2)) expect(figures.get(label)).toBe(before.get(label));
    expect(stdout).not.toContain('P99.9');
  });

  it('--percentile-metrics', async () => {
    const { stdout } = await omni('--percentile-metrics', 'e2el,audio_ttfp');
    const means = [...reportFigures(stdout).keys()].filter((label) => label.startsWith('Serving / Mean'));
    expect(means).toEqual(['Serving / Mean E2EL (ms)', 'Serving / Mean AUDIO_TTFP (ms)']);
    expect(stdout).not.toContain('TPOT');
  });

  it('--no-print-stage takes the stages away, and --print-stage brings them back', async () => {
    const without = await omni('--no-print-stage');
    expect(without.stdout).not.toContain('Stage');
    const serving = reportOf('omni').slice(0, reportOf('omni').indexOf('\n\n'));
    expect(without.stdout).toBe(`${serving}\n${'='.repeat(50)}\n`);
    expect((await omni('--print-stage')).stdout).toBe(reportOf('omni'));
  });

  it('--goodput', async () => {
    const figures = reportFigures((await omni('--goodput', 'ttft:0')).stdout);
    expect(figures.get('Serving / Request goodput (req/s)')).toBe(0);
  });

  it('--append-result, --label and --metadata', async () => {
    await withFolder(async (dir) => {
      const flags = ['--append-result', '--result-dir', dir, '--result-filename', 'all.jsonl'];
      await omni(...flags, '--label', 'first', '--metadata', 'gpu=two', 'of=what');
      await omni(...flags);
      const lines = readFileSync(join(dir, 'all.jsonl'), 'utf8').split('\n');
      expect(lines.map((line) => JSON.parse(line))).toMatchObject([
        { label: 'first', gpu: 'two', of: 'what', completed: 4 },
        { label: 'nightly', gpu: 'none', completed: 4 },
      ]);
    });
  });

  it('a result without --save-detailed has no lists per request', async () => {
    await withFolder(async (dir) => {
      await omni(...savedIn(dir), '--result-filename', 'brief.json');
      const brief = readJson(join(dir, 'brief.json'));
      const detailed = readJson(join(folder, 'omni.json'));
      for (const key of [
        'input_lens',
        'output_lens',
        'start_times',
        'ttfts',
        'itls',
        'generated_texts',
        'errors',
      ]) {
        expect(detailed[key]).toHaveLength(4);
        expect(brief).not.toHaveProperty(key);
      }
    });
  });

  it('a wrong metric name is refused', async () => {
    const { exitCode, stdout, stderr } = await omni('--percentile-metrics', 'ttff');
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain("unknown metric 'ttff'. Did you mean ttft?");
  });
});

describe('what is no run', () => {
  it.each([
    ['an empty folder', () => {}, /is not a run folder: .*run\.json/],
    [
      'a run.json of something else',
      (dir: string) => writeFileSync(join(dir, 'run.json'), '{"name":"jogging"}'),
      /run\.json: not a run description/,
    ],
    [
      'a run.json that is no JSON',
      (dir: string) => writeFileSync(join(dir, 'run.json'), 'not even JSON'),
      /run\.json: not a run description/,
    ],
    ['a folder named run.json', (dir: string) => mkdirSync(join(dir, 'run.json')), /is not a run folder/],
  ])('%s', async (_what, make, message) => {
    await withFolder(async (dir) => {
      make(dir);
      const { exitCode, stdout, stderr } = await runCli(['report', dir]);
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
      expect(stderr).toMatch(/^error: /);
      expect(stderr).toContain(dir);
      expect(stderr).toMatch(message);
      expect(stderr).not.toMatch(/^\s+at /m);
    });
  });

  it('a file', async () => {
    const { exitCode, stderr } = await runCli(['report', join(folder, 'prompts.jsonl')]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^error: .*is not a run folder/);
  });

  it('a run folder without its records', async () => {
    await withFolder(async (dir) => {
      writeFileSync(join(dir, 'run.json'), readFileSync(join(runDir('base'), 'run.json')));
      const { exitCode, stderr } = await runCli(['report', dir]);
      expect(exitCode).toBe(2);
      expect(stderr).toMatch(/^error: cannot read .*records\.jsonl/);
    });
  });

  it('a record that does not parse is left out and said', async () => {
    await withFolder(async (dir) => {
      writeFileSync(join(dir, 'run.json'), readFileSync(join(runDir('base'), 'run.json')));
      const records = readFileSync(join(runDir('base'), 'records.jsonl'), 'utf8');
      writeFileSync(join(dir, 'records.jsonl'), `{"index":"one"}\n${records}`);
      const { exitCode, stdout, stderr } = await runCli(['report', dir]);
      expect(exitCode).toBe(0);
      expect(stdout).toBe(reportOf('base'));
      expect(stderr).toMatch(/^note: .*records\.jsonl:1: not a request record/);
      expect(existsSync(join(dir, 'records.jsonl'))).toBe(true);
    });
  });
});
