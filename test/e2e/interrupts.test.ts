import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readRun } from '../../src/records/journal.ts';
import { reportFigures } from './report-figures.ts';
import {
  type CliOptions,
  type CliProcess,
  type CliResult,
  type EmbeddedServer,
  readJson,
  runCli,
  startCli,
  startEmbeddedServer,
  withFolder,
} from './run-cli.ts';
import { readTruth, truthOf } from './truth.ts';

const model = 'Qwen/Qwen2.5-7B-Instruct';
/** 100 tokens a second, whatever the load: 50 tokens take half a second, 30,000 take five minutes. */
const steady = JSON.stringify({
  '0': {
    ttft: { baseMs: 10, perInputTokenMs: 0, sd: 0 },
    step: { nativeMs: 10, sd: 0, outlierP: 0 },
    batchSlope: 0,
  },
});
const halfASecond = ['--random-output-len', '50'];
const minutes = ['--random-output-len', '30000'];

let server: EmbeddedServer;
const serverDir = mkdtempSync(join(tmpdir(), 'omnimeter-e2e-'));
const truthPath = join(serverDir, 'truth.jsonl');
beforeAll(async () => {
  server = await startEmbeddedServer([model, '--stage-overrides', steady, '--truth-log', truthPath]);
});
afterAll(async () => {
  await server.close();
  rmSync(serverDir, { recursive: true });
});

function startBench(flags: readonly string[], options: CliOptions = {}): CliProcess {
  return startCli(
    [
      ...['bench', 'serve', '--base-url', server.url, '--model', model],
      ...['--dataset-name', 'random', '--random-input-len', '4', ...flags],
    ],
    options,
  );
}

let prefixes = 0;
/** Ids that no other run of this file has, a repeated test's first try included. */
function newPrefix(name: string): string {
  prefixes += 1;
  return `${name}-${prefixes}-`;
}

/** Complete lines of a run folder's journal. */
function finishedIn(runDir: string): number {
  const path = join(runDir, 'records.jsonl');
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').length - 1 : 0;
}

async function untilFinished(runDir: string, count: number): Promise<void> {
  await expect
    .poll(() => finishedIn(runDir), { timeout: 15_000, interval: 20 })
    .toBeGreaterThanOrEqual(count);
}

/** How often the server was asked by requests with this id prefix. */
function accepted(prefix: string): number {
  return [...readTruth(truthPath)].filter(
    ([id, events]) => id.includes(prefix) && events.some(({ event }) => event === 'accepted'),
  ).length;
}

/** The last event of a request in the truth log, which lags a quarter of a second. */
function lastWord(requestId: string | null): string | undefined {
  return truthOf(readTruth(truthPath), requestId ?? '').at(-1)?.event;
}

async function signalled(
  bench: CliProcess,
  ...signals: readonly NodeJS.Signals[]
): Promise<CliResult & { tookMs: number }> {
  const from = performance.now();
  for (const signal of signals) {
    bench.child.kill(signal);
    // Two signals that are pending at once would be one.
    if (signal !== 'SIGKILL' && signals.length > 1) await bench.printed(/Interrupted:/);
  }
  return { ...(await bench.done), tookMs: performance.now() - from };
}

function expectNoStack({ stderr }: CliResult): void {
  expect(stderr).not.toMatch(/^\s+at .+:\d+/m);
  expect(stderr).not.toContain('bug in omnimeter');
}

describe.each(['SIGINT', 'SIGTERM'] as const)('%s', (signal) => {
  it('once: nothing more is sent, open requests finish, the partial report is printed', async () => {
    await withFolder(async (dir) => {
      const runDir = join(dir, 'run');
      const prefix = newPrefix('once');
      const bench = startBench([
        ...['--num-prompts', '200', '--max-concurrency', '4', ...halfASecond],
        ...['--request-id-prefix', prefix, '--run-dir', runDir],
        ...['--save-result', '--result-dir', dir, '--result-filename', 'result.json'],
      ]);
      await untilFinished(runDir, 4);
      const result = await signalled(bench, signal);
      expectNoStack(result);
      expect(result.exitCode).toBe(130);
      expect(result.stderr).toMatch(
        /Interrupted: nothing more is sent; waiting up to 10 s for 4 open requests/,
      );
      expect(result.stderr).toContain(`kept in ${runDir}; print them with: omnimeter report ${runDir}`);

      const { facts, records } = await readRun(runDir);
      expect(facts.interrupted).toBe(true);
      expect(facts.endMs).not.toBeNull();
      expect(records.length).toBeGreaterThanOrEqual(8);
      expect(records.length).toBeLessThan(200);
      expect(records.every(({ outcome }) => outcome.ok)).toBe(true);
      // The server's word: every request that reached it has a record, and was answered to its end.
      await expect
        .poll(() => records.every(({ requestId }) => lastWord(requestId) === 'done'), { timeout: 2000 })
        .toBe(true);
      expect(accepted(prefix)).toBe(records.length);

      const figures = reportFigures(result.stdout);
      expect(figures.get('Serving / Successful requests')).toBe(records.length);
      expect(figures.get('Serving / Failed requests')).toBe(0);
      expect(readJson(join(dir, 'result.json'))).toMatchObject({
        completed: records.length,
        failed: 0,
        aborted: 0,
        num_prompts: 200,
      });
    });
  });

  it('twice: open requests are aborted at once, and counted apart from failed ones', async () => {
    await withFolder(async (dir) => {
      const runDir = join(dir, 'run');
      const prefix = newPrefix('twice');
      const bench = startBench([
        ...['--num-prompts', '50', '--max-concurrency', '3', ...minutes],
        ...['--request-id-prefix', prefix, '--run-dir', runDir],
        ...['--save-result', '--result-dir', dir, '--result-filename', 'result.json'],
      ]);
      await expect.poll(() => accepted(prefix), { timeout: 15_000, interval: 50 }).toBe(3);
      const result = await signalled(bench, signal, signal);
      expectNoStack(result);
      expect(result.exitCode).toBe(130);
      expect(result.tookMs).toBeLessThan(8000);
      expect(result.stdout).toMatch(/Successful requests: +0\s/);
      expect(result.stdout).toMatch(/Failed requests: +0\s/);
      expect(result.stdout).toContain('Aborted requests, not counted as failed: 3');
      expect(result.stdout).not.toContain('NaN');
      // Nothing of this is a misconfiguration.
      expect(result.stderr).not.toContain('All requests failed');
      expect(readJson(join(dir, 'result.json'))).toMatchObject({
        completed: 0,
        failed: 0,
        aborted: 3,
        failed_requests: [],
      });
      const { facts, records } = await readRun(runDir);
      expect(facts.interrupted).toBe(true);
      expect(records.map(({ outcome }) => (outcome.ok ? 'ok' : outcome.kind))).toEqual(
        Array.from({ length: 3 }, () => 'aborted'),
      );
      await expect
        .poll(() => records.map(({ requestId }) => lastWord(requestId)))
        .toEqual(['abort', 'abort', 'abort']);

      const again = await runCli(['report', runDir]);
      expect(again.exitCode).toBe(0);
      expect(again.stdout).toContain('Aborted requests, not counted as failed: 3');
    });
  });
});

describe('SIGINT at other moments', () => {
  it('open requests that outlast the grace are aborted', async () => {
    await withFolder(async (dir) => {
      const runDir = join(dir, 'run');
      const bench = startBench([
        ...['--num-prompts', '5', '--max-concurrency', '2', '--request-id-prefix', 'grace-', ...minutes],
        ...['--probe-request-rate', '20', '--run-dir', runDir],
      ]);
      await untilFinished(runDir, 3);
      const result = await signalled(bench, 'SIGINT');
      expect(result.exitCode).toBe(130);
      expect(result.tookMs).toBeGreaterThan(9900);
      expect(result.tookMs).toBeLessThan(20_000);
      expect(result.stdout).toContain('Aborted requests, not counted as failed: 2');
      expect(result.stdout).toContain('Probe requests completed:');
    });
  });

  it('a probe that hangs does not hold the run', async () => {
    // Answers the measured requests and never the probes, whose prompt is "Hi".
    let answered = 0;
    const silent = createServer((socket) => {
      socket.on('error', () => {});
      socket.on('data', (bytes) => {
        if (bytes.includes('"Hi"')) return;
        answered += 1;
        const body = 'data: {"choices":[{"text":"a"}]}\n\ndata: [DONE]\n\n';
        socket.write(
          `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
        );
      });
    });
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as AddressInfo;
    try {
      const bench = startBench([
        ...['--base-url', `http://127.0.0.1:${port}`, '--num-prompts', '2', '--request-rate', '5'],
        ...['--probe-request-rate', '50', ...halfASecond],
      ]);
      await expect.poll(() => answered, { timeout: 15_000 }).toBe(2);
      // The client has long seen both replies; only probes are open.
      await new Promise((resolve) => setTimeout(resolve, 1000));
      expect(bench.child.exitCode).toBeNull();
      const result = await signalled(bench, 'SIGINT', 'SIGINT');
      expect(result.exitCode).toBe(130);
      expect(result.tookMs).toBeLessThan(8000);
      expect(result.stdout).toMatch(/Successful requests: +2\s/);
    } finally {
      silent.close();
    }
  });

  it('during warm-up: no report, nothing left behind', async () => {
    await withFolder(async (dir) => {
      const bench = startBench(
        ['--num-prompts', '5', '--num-warmups', '2', '--request-id-prefix', 'warm-', ...minutes],
        { env: { TMPDIR: dir } },
      );
      await bench.printed(/Warming up with 2 requests\.\.\./);
      const result = await signalled(bench, 'SIGINT');
      expectNoStack(result);
      expect(result.exitCode).toBe(130);
      expect(result.tookMs).toBeLessThan(8000);
      expect(result.stdout).not.toContain('Serving Benchmark Result');
      expect(accepted('warm-')).toBe(0);
    });
  });

  it('while waiting for the server', async () => {
    await withFolder(async (dir) => {
      const bench = startBench(
        ['--base-url', 'http://127.0.0.1:9', '--ready-check-timeout-sec', '60', ...halfASecond],
        { env: { TMPDIR: dir } },
      );
      await bench.printed(/Waiting for endpoint to become up in 60 seconds/);
      const result = await signalled(bench, 'SIGINT');
      expectNoStack(result);
      expect(result.exitCode).toBe(130);
      expect(result.tookMs).toBeLessThan(4500);
    });
  });

  it('while the readiness request is open', async () => {
    const mute = createServer((socket) => void socket.on('error', () => {}));
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    const connected = new Promise((resolve) => mute.once('connection', resolve));
    const { port } = mute.address() as AddressInfo;
    try {
      const bench = startBench([
        ...['--base-url', `http://127.0.0.1:${port}`, '--ready-check-timeout-sec', '60', ...halfASecond],
      ]);
      await connected;
      const result = await signalled(bench, 'SIGINT');
      expectNoStack(result);
      expect(result.exitCode).toBe(130);
      expect(result.tookMs).toBeLessThan(4500);
    } finally {
      mute.close();
    }
  });

  it('while the server is asked for its models', async () => {
    const mute = createServer((socket) => void socket.on('error', () => {}));
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    const connected = new Promise((resolve) => mute.once('connection', resolve));
    const { port } = mute.address() as AddressInfo;
    try {
      const bench = startCli(['bench', 'serve', '--port', String(port), '--num-prompts', '1']);
      await connected;
      const result = await signalled(bench, 'SIGINT');
      expectNoStack(result);
      expect(result.exitCode).toBe(130);
      expect(result.tookMs).toBeLessThan(4500);
    } finally {
      mute.close();
    }
  });

  it('while prompts are made', async () => {
    await withFolder(async (dir) => {
      const bench = startBench(['--random-input-len', '4096', '--num-prompts', '20000', ...halfASecond], {
        env: { XDG_CACHE_HOME: dir },
      });
      await bench.printed(/Preparing prompts: \d+\/20000/);
      const result = await signalled(bench, 'SIGINT');
      expectNoStack(result);
      expect(result.exitCode).toBe(130);
      expect(result.tookMs).toBeLessThan(4500);
      // Prompts that were not all made are not kept either.
      const kept = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) =>
        entry.isFile(),
      );
      expect(kept).toEqual([]);
    });
  });
});

describe('kill -9', () => {
  it('loses no finished record: the report covers them all and says that the run was cut off', async () => {
    await withFolder(async (dir) => {
      const runDir = join(dir, 'run');
      const bench = startBench([
        ...['--num-prompts', '500', '--max-concurrency', '4', ...halfASecond, '--run-dir', runDir],
      ]);
      await untilFinished(runDir, 6);
      const killed = await signalled(bench, 'SIGKILL');
      expect(killed.signal).toBe('SIGKILL');
      const complete = finishedIn(runDir);
      const report = await runCli(['report', runDir]);
      expect({ exitCode: report.exitCode, stderr: report.stderr }).toEqual({
        exitCode: 0,
        stderr: `note: this run was cut off; the report covers the ${complete} requests that had finished.\n`,
      });
      const figures = reportFigures(report.stdout);
      expect(figures.get('Serving / Successful requests')).toBe(complete);
      expect(figures.get('Serving / Total generated tokens')).toBe(50 * complete);
      expect(figures.get('Serving / Benchmark duration (s)')).toBeGreaterThan(0);

      // A line that was being written when the process died.
      appendFileSync(join(runDir, 'records.jsonl'), '{"index":499,"role":"meas');
      const torn = await runCli(['report', runDir]);
      expect(torn.exitCode).toBe(0);
      expect(torn.stderr).toContain(`records.jsonl:${complete + 1}: the last line is torn`);
      expect(torn.stdout).toBe(report.stdout);
    });
  });
});

describe('what a run leaves behind', () => {
  const quick = ['--num-prompts', '3', '--random-output-len', '2'];

  /** Runs with a temporary directory and a working folder of its own. */
  async function leavings(
    flags: readonly string[],
    look: (left: { result: CliResult; temporary: string; here: string }) => void,
  ): Promise<void> {
    await withFolder(async (dir) => {
      const temporary = join(dir, 'tmp');
      const here = join(dir, 'here');
      mkdirSync(temporary);
      mkdirSync(here);
      look({
        result: await startBench([...quick, ...flags], { cwd: here, env: { TMPDIR: temporary } }).done,
        temporary,
        here,
      });
    });
  }

  it('a good run: nothing', async () => {
    await leavings([], ({ result, temporary, here }) => {
      expect(result.exitCode, result.stderr).toBe(0);
      expect(readdirSync(temporary)).toEqual([]);
      expect(readdirSync(here)).toEqual([]);
    });
  });

  it('--no-journal: nothing, even when all requests failed', async () => {
    await leavings(['--no-journal', '--base-url', 'http://127.0.0.1:9'], ({ result, temporary, here }) => {
      expect(result.exitCode).toBe(1);
      expect(result.stderr).not.toContain('omnimeter report');
      expect(readdirSync(temporary)).toEqual([]);
      expect(readdirSync(here)).toEqual([]);
    });
  });

  it('a bad run: its folder, which is named', async () => {
    await leavings(['--base-url', 'http://127.0.0.1:9'], ({ result, temporary, here }) => {
      expect(result.exitCode).toBe(1);
      const [folder = ''] = readdirSync(temporary);
      expect(folder).toMatch(/^omnimeter-run-/);
      expect(result.stderr).toContain(`omnimeter report ${join(temporary, folder)}`);
      expect(finishedIn(join(temporary, folder))).toBe(3);
      expect(readdirSync(here)).toEqual([]);
    });
  });

  it('a run folder that is used already: nothing is sent, and it stays as it is', async () => {
    await withFolder(async (dir) => {
      writeFileSync(join(dir, 'records.jsonl'), 'an earlier run\n');
      const result = await startBench([...quick, '--run-dir', dir, '--request-id-prefix', 'used-']).done;
      expect(result.exitCode).toBe(2);
      expect(result.stderr).toContain(`${dir} already holds a run`);
      expect(readFileSync(join(dir, 'records.jsonl'), 'utf8')).toBe('an earlier run\n');
      expect(accepted('used-')).toBe(0);
    });
  });
});
