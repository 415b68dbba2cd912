import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { InputFileError, UsageError } from '../../foundation/errors.ts';
import { type CasesOptions, runCases } from './run-cases.ts';

/** Stands for `bench serve`: writes the result that a flag gives, or ends as a flag says. */
const fakeBench = `
const { writeFileSync } = require('node:fs');
const { join } = require('node:path');
const words = process.argv.slice(1);
const of = (flag) => words[words.indexOf(flag) + 1];
console.log('GPU ' + process.env.GPU);
if (words.includes('--hang')) setInterval(() => {}, 1000);
else {
  if (!words.includes('--no-result')) writeFileSync(join(of('--result-dir'), of('--result-filename')), of('--result'));
  process.exitCode = words.includes('--exit') ? Number(of('--exit')) : 0;
}`;
/** A server with a child of its own, whose number it prints; ready once it is asked for the second time. */
const fakeServer = `
const { spawn } = require('node:child_process');
const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
let asked = 0;
console.log('child ' + child.pid + ' gpu ' + process.env.CUDA_VISIBLE_DEVICES);
require('node:http').createServer((q, r) => {
  r.statusCode = q.url === '/ready' && ++asked > 1 ? 200 : 503;
  r.end();
}).listen(Number(process.argv[1]), '127.0.0.1');`;

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), 'omnimeter-cases-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

async function run(dir: string, content: unknown, more: Partial<CasesOptions> = {}) {
  const file = join(dir, 'cases.json');
  writeFileSync(file, JSON.stringify(content));
  const lines: string[] = [];
  const errors: string[] = [];
  let interrupt = (): void => {};
  const outcome = runCases(
    {
      file,
      resultsDir: join(dir, 'results'),
      choice: { labels: [], types: [], modelTypes: [] },
      dryRun: false,
      keepGoing: true,
      env: {},
      programs: {
        bench: (words) => ({ words: [process.execPath, '-e', fakeBench, '--', ...words], program: null }),
        server: (words) => ({ words, program: null }),
        check: async () => {},
      },
      ...more,
    },
    {
      stdout: (line) => {
        lines.push(line);
        if (line.startsWith('[case hangs]')) setTimeout(() => interrupt(), 300);
      },
      stderr: (line) => void errors.push(line),
      redraw: () => {},
      settle: () => {},
      isTty: false,
      columns: 100,
      onInterrupt: (handler) => {
        interrupt = handler;
      },
    },
  );
  const { exitCode } = await outcome;
  const path = join(dir, 'results', 'summary.json');
  const summary = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : null;
  return { exitCode, lines, errors, summary, results: join(dir, 'results') };
}

const result = (value: object): { result: string } => ({ result: JSON.stringify(value) });
const alive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
};

test('servers are started with their environment, shared, and stopped with all their children', async () => {
  const dir = folder();
  const port = await freePort();
  const server = {
    command: [process.execPath, '-e', fakeServer, String(port)],
    url: `http://127.0.0.1:${port}/`,
    health: '/ready',
    env: { CUDA_VISIBLE_DEVICES: '1' },
    ready_timeout_s: 20,
  };
  const { exitCode, lines, summary, results } = await run(dir, {
    servers: { one: server },
    cases: [
      {
        label: 'a',
        servers: ['one'],
        env: { GPU: '7' },
        bench: result({ completed: 3, failed: 0, mean_ttft_ms: 9 }),
        gates: ['failed==0', 'mean_ttft_ms<10'],
      },
      { label: 'b', servers: ['one'], bench: result({ completed: 1 }) },
    ],
  });
  expect(exitCode).toBe(0);
  expect(lines.filter((line) => line.startsWith('[server'))).toHaveLength(2);
  expect(readFileSync(join(results, 'a', 'bench.log'), 'utf8')).toBe('GPU 7\n');
  const [, child, gpu] =
    /child (\d+) gpu (\S+)/.exec(readFileSync(join(results, 'server-one.log'), 'utf8')) ?? [];
  expect(gpu).toBe('1');
  expect(alive(Number(child))).toBe(false);
  expect(summary).toMatchObject({
    exit_code: 0,
    cases: [
      { label: 'a', status: 'passed', completed: 3, failed: 0, gates: [{ passed: true }, { passed: true }] },
      { label: 'b', status: 'passed', completed: 1, failed: null },
    ],
  });
});

test('conditions: values by path, changes against a baseline, and the benchmark’s own', async () => {
  const { exitCode, lines, summary } = await run(folder(), {
    cases: [
      {
        label: 'values',
        bench: result({ omniinteract: { artifacts_complete: true, failed: 1 } }),
        gates: ['omniinteract.artifacts_complete==1', 'omniinteract.failed==0', 'p99_ttft_ms<5'],
      },
      {
        label: 'change',
        bench: result({ completed: 5, mean_ttft_ms: 120, request_throughput: 2 }),
        baseline: { completed: 5, mean_ttft_ms: 100, request_throughput: 2 },
        fail_on: ['mean_ttft_ms>+10%', 'request_throughput<-10%'],
      },
      { label: 'own', bench: { ...result({}), exit: 3 } },
      { label: 'good', bench: result({}) },
    ],
  });
  expect(exitCode).toBe(3);
  expect(summary.cases.map(({ status }: { status: string }) => status)).toEqual([
    'broken',
    'broken',
    'broken',
    'passed',
  ]);
  expect(summary.cases[0].gates.map(({ passed }: { passed: boolean }) => passed)).toEqual([
    true,
    false,
    false,
  ]);
  expect(summary.cases[1].gates.map(({ passed }: { passed: boolean }) => passed)).toEqual([false, true]);
  expect(lines).toContain('values: gate p99_ttft_ms<5 does not hold: p99_ttft_ms was not observed');
  expect(lines.join('\n')).toMatch(
    /change: gate mean_ttft_ms>\+10% does not hold: mean_ttft_ms changed by \+20 %/,
  );
});

test('a case that fails fails alone: its server, its end, its missing result, its time', async () => {
  const content = {
    servers: {
      gone: {
        command: ['node', '-e', 'console.log("no memory"); process.exit(9)'],
        url: 'http://127.0.0.1:9',
      },
    },
    cases: [
      { label: 'server', servers: ['gone'], bench: result({}) },
      { label: 'ends', bench: { ...result({}), exit: 5 } },
      { label: 'empty', bench: { 'no-result': true } },
      { label: 'slow', bench: { hang: true }, timeout_s: 0.4 },
      { label: 'good', bench: result({}) },
    ],
  };
  const { exitCode, summary, lines } = await run(folder(), content);
  expect(exitCode).toBe(1);
  expect(summary.cases.map(({ status }: { status: string }) => status)).toEqual([
    'failed',
    'failed',
    'failed',
    'failed',
    'passed',
  ]);
  expect(summary.cases[0].reason).toMatch(
    /server 'gone' ended before it was ready \(exit code 9\)[\s\S]*no memory/,
  );
  expect(summary.cases[1].reason).toMatch(/^bench serve ended with exit code 5\nLog: .*bench.log/);
  expect(summary.cases[2].reason).toContain('wrote no result');
  expect(summary.cases[3].reason).toContain('ran over 0.4 s');
  expect(lines.join('\n')).toContain('server: server');
  const stopped = await run(folder(), content, { keepGoing: false });
  expect(stopped.summary.cases.map(({ status }: { status: string }) => status)).toEqual([
    'failed',
    ...Array(4).fill('skipped'),
  ]);
});

test('a result of an earlier run is not taken for this one’s', async () => {
  const dir = folder();
  await run(dir, { cases: [{ label: 'a', bench: result({ completed: 1 }) }] });
  const { summary } = await run(dir, { cases: [{ label: 'a', bench: { 'no-result': true } }] });
  expect(summary.cases[0].status).toBe('failed');
});

test('interrupted, it ends what runs, begins nothing more, and says so', async () => {
  const { exitCode, summary } = await run(folder(), {
    cases: [
      { label: 'hangs', bench: { hang: true } },
      { label: 'next', bench: result({}) },
    ],
  });
  expect(exitCode).toBe(130);
  expect(summary.cases.map(({ status, reason }: Record<string, string>) => [status, reason])).toEqual([
    ['failed', 'interrupted'],
    ['skipped', 'interrupted'],
  ]);
});

test('a pooled score over cases: met, missed, and unjudged where a case was not chosen', async () => {
  const accuracy = (tp: number, status = 'ok') =>
    result({
      omniinteract: {
        accuracy: {
          status,
          evaluated: 4,
          summary: { num_slots: 10, Global_TP: tp, Global_FP: 5, Global_FN: 5 },
        },
      },
    });
  const content = (status: string, least: number) => ({
    cases: [
      { label: 'x1', bench: accuracy(4) },
      { label: 'x2', bench: accuracy(1, status) },
    ],
    aggregates: [{ label: 'all', cases: ['x1', 'x2'], omniinteract_aggregate_min_ia_qtf1: least }],
  });
  // 2·5 / (2·5 + 10 + 10) = 1/3
  const met = await run(folder(), content('ok', 0.33));
  expect([met.exitCode, met.summary.cases[2].status]).toEqual([0, 'passed']);
  expect(JSON.parse(readFileSync(join(met.results, 'all.json'), 'utf8')).pooled.IA_QTF1).toBeCloseTo(
    1 / 3,
    12,
  );
  const missed = await run(folder(), content('ok', 0.34));
  expect([missed.exitCode, missed.summary.cases[2].status]).toEqual([3, 'broken']);
  const partial = await run(folder(), content('partial', 0.2));
  expect(partial.summary.cases[2].gates[0].detail).toContain('status is partial and not ok');
  const choice = { labels: ['x1'], types: [], modelTypes: [] };
  const part = await run(folder(), content('ok', 0.9), { choice });
  expect([part.exitCode, part.summary.cases[1]]).toMatchObject([
    0,
    { status: 'skipped', reason: 'not judged without x2' },
  ]);
});

test('a dry run starts and writes nothing', async () => {
  const dir = folder();
  const { exitCode, lines } = await run(
    dir,
    {
      cases: [
        {
          label: 'a',
          bench: { ...result({}), 'omniinteract-judge-api-key': 'hush' },
          env: { HF_TOKEN: 'hush', GPU: '1' },
          gates: ['x<1'],
        },
      ],
    },
    { dryRun: true },
  );
  expect(exitCode).toBe(0);
  expect(lines.join('\n')).toContain('HF_TOKEN=*** GPU=1 omnimeter bench serve');
  expect(lines.join('\n')).not.toContain('hush');
  expect(lines).toContain('  must hold: x<1');
  expect(existsSync(join(dir, 'results'))).toBe(false);
});

describe('what would keep a case from running is found before a server is started', () => {
  const programs = (refused: string): CasesOptions['programs'] => ({
    bench: () => ({ words: [process.execPath, '-e', ''], program: null }),
    server: (words) => ({ words, program: null }),
    check: async (words, env) => {
      if (words.includes(refused))
        throw new UsageError(`unknown flag ${refused}, TOLD=${env.TOLD}\nAllowed flags: --a --b`);
    },
  });
  const content = {
    // Would leave its mark if it were started.
    servers: { s: { command: [process.execPath, '-e', 'require("node:fs").writeFileSync("started", "")'] } },
    cases: [
      { label: 'good', servers: ['s'], bench: { seed: 1 } },
      { label: 'typo', servers: ['s'], bench: { 'nmu-prompts': 1 }, env: { TOLD: 'yes' } },
      { label: 'lost', servers: ['s'], baseline: 'no/such.json' },
    ],
  };

  test.each([false, true])('dry run: %s', async (dryRun) => {
    const dir = folder();
    const refused = run(dir, content, { dryRun, programs: programs('--nmu-prompts') });
    await expect(refused).rejects.toThrow(InputFileError);
    await expect(refused).rejects.toThrow(
      `typo: bench serve would refuse its flags: unknown flag --nmu-prompts, TOLD=yes\nlost: the baseline is not there: ${join(dir, 'no/such.json')}.`,
    );
    expect(existsSync(join(dir, 'results'))).toBe(false);
  });

  test('only what is chosen counts', async () => {
    const choice = { labels: ['good'], types: [], modelTypes: [] };
    const { exitCode } = await run(folder(), content, {
      dryRun: true,
      choice,
      programs: programs('--nmu-prompts'),
    });
    expect(exitCode).toBe(0);
  });

  test('a baseline that an earlier case is to write is awaited', async () => {
    const baseline = `\${RESULTS_DIR}/a/result.json`;
    const { exitCode } = await run(
      folder(),
      {
        cases: [
          { label: 'a', bench: result({}) },
          { label: 'b', baseline },
        ],
      },
      { dryRun: true },
    );
    expect(exitCode).toBe(0);
  });
});

test('a results folder that cannot be one is told by its flag', async () => {
  const dir = folder();
  writeFileSync(join(dir, 'file'), '');
  const resultsDir = join(dir, 'file', 'results');
  await expect(run(dir, { cases: [{ label: 'a' }] }, { resultsDir })).rejects.toThrow(
    `--results-dir: cannot write into ${resultsDir}: `,
  );
});

test('a folder in the way of a case’s log costs that case alone', async () => {
  const dir = folder();
  mkdirSync(join(dir, 'results', 'a', 'bench.log'), { recursive: true });
  const { exitCode, summary } = await run(dir, {
    cases: [
      { label: 'a', bench: result({}) },
      { label: 'b', bench: result({}) },
    ],
  });
  expect(exitCode).toBe(1);
  expect(summary.cases.map(({ status }: { status: string }) => status)).toEqual(['failed', 'passed']);
  expect(summary.cases[0].reason).toMatch(/^EISDIR: .*bench\.log/);
});
