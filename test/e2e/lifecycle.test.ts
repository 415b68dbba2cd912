import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { benchFlags, type Recorded, startRecorder, withRecorder } from './recorder.ts';
import { reportFigures } from './report-figures.ts';
import { runCli, startCli, startEmbeddedServer, withFolder } from './run-cli.ts';

/** A port on which nothing listens, for now. */
async function freePort(): Promise<number> {
  const taken = await startRecorder();
  await taken.close();
  return taken.port;
}

const idOf = ({ headers }: Recorded): string | undefined => headers['x-request-id']?.toString();

describe('readiness', () => {
  it('waits for a server that comes up late, trying every 5 s', async () => {
    const port = await freePort();
    const bench = startCli(
      benchFlags(`http://127.0.0.1:${port}`, [
        ...['--model', 'm', '--num-prompts', '2', '--ready-check-timeout-sec', '20'],
      ]),
    );
    await bench.printed(/Waiting for endpoint to become up in 20 seconds/);
    const askedMs = performance.now();
    // The first try has failed by the time that a server can be started.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const recorder = await startRecorder({ port });
    try {
      const { exitCode, stdout, stderr } = await bench.done;
      expect(exitCode, stderr).toBe(0);
      expect(stdout).toMatch(/Initial test run completed\.\nStarting main benchmark run\.\.\.\n/);
      // A refused connection is what is waited out, and no news.
      expect(stderr).not.toContain('Endpoint is not ready');
      const [check, ...measured] = recorder.generations();
      expect(measured).toHaveLength(2);
      const waitedMs = (check?.atMs ?? 0) - askedMs;
      expect(waitedMs).toBeGreaterThan(4800);
      expect(waitedMs).toBeLessThan(9000);
      // The first request in full, but for its id.
      expect(check && idOf(check)).toBeUndefined();
      expect(check?.rawBody).toBe(measured.find((request) => idOf(request)?.endsWith('-0'))?.rawBody);
    } finally {
      await recorder.close();
    }
  });

  it('gives up with the cause, and starts no run', async () => {
    await withRecorder(
      async (recorder) => {
        const { exitCode, stdout, stderr } = await runCli(
          benchFlags(recorder.url, ['--model', 'm', '--num-prompts', '2', '--ready-check-timeout-sec', '1']),
        );
        expect(exitCode).toBe(1);
        expect(stdout).not.toContain('Starting main benchmark run');
        expect(stderr).toMatch(/^warning: Endpoint is not ready\. Error='.*503.*weights are loading.*'$/m);
        expect(stderr).toMatch(
          /^error: Initial test run failed - Please make sure benchmark arguments are correctly specified\. Error: .*503.*weights are loading/m,
        );
        expect(recorder.requests).toHaveLength(1);
      },
      {
        answer: (_request, response) => {
          response.writeHead(503).end('weights are loading');
          return true;
        },
      },
    );
  });

  it('gives up on a server that is not there', async () => {
    const { exitCode, stderr } = await runCli(
      benchFlags(`http://127.0.0.1:${await freePort()}`, [
        ...['--model', 'm', '--num-prompts', '2', '--ready-check-timeout-sec', '0.5'],
      ]),
    );
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^error: Initial test run failed - .* Error: .*ECONNREFUSED/m);
  });

  it('a server that never answers is given up at the deadline', async () => {
    await withRecorder(
      async (recorder) => {
        const from = performance.now();
        const { exitCode, stderr } = await runCli(
          benchFlags(recorder.url, ['--model', 'm', '--num-prompts', '2', '--ready-check-timeout-sec', '1']),
        );
        expect(exitCode).toBe(1);
        expect(stderr).toMatch(/^error: Initial test run failed - /m);
        expect(performance.now() - from).toBeLessThan(8000);
      },
      { answer: () => true },
    );
  });

  it('is skipped unless asked for', async () => {
    await withRecorder(async (recorder) => {
      const { exitCode, stdout } = await runCli(
        benchFlags(recorder.url, ['--model', 'm', '--num-prompts', '2']),
      );
      expect(exitCode).toBe(0);
      expect(stdout).toContain('Skipping endpoint ready check.');
      expect(recorder.generations()).toHaveLength(2);
    });
  });
});

describe('warm-ups', () => {
  it('are copies of the first request, within the cap, before the run and not in its figures', async () => {
    let open = 0;
    let most = 0;
    await withRecorder(
      async (recorder) => {
        const { exitCode, stdout, stderr } = await runCli(
          benchFlags(recorder.url, [
            ...['--model', 'm', '--num-prompts', '4', '--num-warmups', '5', '--max-concurrency', '2'],
          ]),
        );
        expect(exitCode, stderr).toBe(0);
        expect(stdout).toMatch(/Warming up with 5 requests\.\.\.\nWarmup run completed\.\nStarting main/);
        expect(stdout).toMatch(/Successful requests: +4\s/);
        const warmups = recorder.generations().slice(0, 5);
        const measured = recorder.generations().slice(5);
        expect(measured).toHaveLength(4);
        expect(warmups.map(idOf)).toEqual(Array.from({ length: 5 }, () => undefined));
        const [first] = measured.filter((request) => idOf(request)?.endsWith('-0'));
        for (const { rawBody } of warmups) expect(rawBody).toBe(first?.rawBody);
        expect(most).toBe(2);
      },
      {
        answer: (_request, response) => {
          open += 1;
          most = Math.max(most, open);
          setTimeout(() => {
            open -= 1;
            response.setHeader('content-type', 'text/event-stream');
            response.end('data: {"choices":[{"text":"a"}]}\n\ndata: [DONE]\n\n');
          }, 100);
          return true;
        },
      },
    );
  });

  it('of their own do not touch the prompts of the run', async () => {
    await withRecorder(async (recorder) => {
      const { exitCode, stderr } = await runCli(
        benchFlags(recorder.url, [
          ...['--model', 'm', '--num-prompts', '3', '--num-warmups', '3', '--warmup-prompts', 'own'],
        ]),
      );
      expect(exitCode, stderr).toBe(0);
      const prompts = recorder.generations().map(({ body }) => body.prompt);
      expect(prompts).toHaveLength(6);
      expect(new Set(prompts).size).toBe(6);
    });
  });

  it('of their own from a file are rows that the run leaves over, or an error', async () => {
    await withRecorder(async (recorder) => {
      await withFolder(async (dir) => {
        const path = join(dir, 'prompts.jsonl');
        writeFileSync(path, ['one', 'two', 'three'].map((prompt) => JSON.stringify({ prompt })).join('\n'));
        const flags = [
          ...['--model', 'm', '--dataset-name', 'custom', '--dataset-path', path, '--disable-shuffle'],
          ...['--skip-chat-template', '--num-warmups', '2', '--warmup-prompts', 'own'],
        ];
        const spare = await runCli(benchFlags(recorder.url, [...flags, '--num-prompts', '2']));
        expect(spare.exitCode, spare.stderr).toBe(0);
        expect(recorder.generations().map(({ body }) => body.prompt)).toEqual([
          'three',
          'three',
          'one',
          'two',
        ]);
        const none = await runCli(benchFlags(recorder.url, [...flags, '--num-prompts', '3']));
        expect(none.exitCode).toBe(2);
        expect(none.stderr).toMatch(/^error: --warmup-prompts own: the dataset custom holds no prompt/m);
        expect(recorder.generations()).toHaveLength(4);
      });
    });
  });

  it('that all fail stop the run; some that fail do not', async () => {
    let asked = 0;
    await withRecorder(
      async (recorder) => {
        const some = await runCli(
          benchFlags(recorder.url, [
            ...['--model', 'm', '--num-prompts', '1', '--num-warmups', '3', '--max-concurrency', '1'],
          ]),
        );
        expect(some.exitCode, some.stderr).toBe(0);
        expect(some.stderr).toMatch(/^warning: 2 warmup request\(s\) failed: .*no memory.*; .*no memory/m);
        const all = await runCli(
          benchFlags(recorder.url, [
            ...['--model', 'm', '--num-prompts', '1', '--num-warmups', '2', '--served-model-name', 'broken'],
          ]),
        );
        expect(all.exitCode).toBe(1);
        expect(all.stderr).toMatch(/^error: 2 warmup request\(s\) failed: .*no memory/m);
        expect(all.stdout).not.toContain('Starting main benchmark run');
        expect(recorder.requests).toHaveLength(4 + 2);
      },
      {
        answer: ({ body }, response) => {
          asked += 1;
          if (body.model !== 'broken' && asked > 2) return false;
          response.writeHead(500).end('no memory');
          return true;
        },
      },
    );
  });
});

describe('probes', () => {
  it('keep their rate beside a load that takes every slot', async () => {
    const steady = JSON.stringify({
      '0': { ttft: { baseMs: 10, perInputTokenMs: 0, sd: 0 }, step: { nativeMs: 10, sd: 0 }, batchSlope: 0 },
    });
    const server = await startEmbeddedServer(['Qwen/Qwen2.5-7B-Instruct', '--stage-overrides', steady]);
    try {
      const { exitCode, stdout, stderr } = await runCli(
        benchFlags(server.url, [
          ...['--model', 'Qwen/Qwen2.5-7B-Instruct', '--num-prompts', '3', '--max-concurrency', '1'],
          ...['--random-output-len', '100', '--probe-request-rate', '20'],
        ]),
      );
      expect(exitCode, stderr).toBe(0);
      expect(stdout).toContain('Probe request rate: 20.0 req/s');
      expect(stdout).toContain('------------------Probe Requests------------------');
      const figures = reportFigures(stdout);
      const duration = figures.get('Serving / Benchmark duration (s)') ?? 0;
      expect(duration).toBeGreaterThan(3);
      // The first probe leaves at 0 s and one more every 50 ms, until the last reply.
      const probes = figures.get('Serving / Probe requests completed') ?? 0;
      expect(probes / (20 * duration)).toBeGreaterThan(0.95);
      expect(probes).toBeLessThanOrEqual(20 * duration + 2);
      expect(figures.get('Serving / Probe requests failed')).toBe(0);
      expect(figures.get('Serving / Median probe E2EL (ms)')).toBeLessThan(200);
      expect(figures.get('Serving / Successful requests')).toBe(3);
    } finally {
      await server.close();
    }
  });

  it('are as small as a request can be', async () => {
    await withRecorder(async (recorder) => {
      await runCli(
        benchFlags(recorder.url, ['--model', 'm', '--num-prompts', '1', '--probe-request-rate', '5']),
      );
      const probe = recorder.generations().find(({ body }) => body.prompt === 'Hi');
      expect(probe?.body).toMatchObject({ model: 'm', prompt: 'Hi', max_tokens: 1 });
      expect(probe && idOf(probe)).toBeUndefined();
    });
  });
});

describe('--profile', () => {
  const flags = ['--model', 'm', '--num-prompts', '2', '--num-warmups', '1', '--profile'];

  it('starts the profiler after the warm-ups and stops it after the report', async () => {
    await withRecorder(async (recorder) => {
      const { exitCode, stdout, stderr } = await runCli(benchFlags(recorder.url, flags));
      expect(exitCode, stderr).toBe(0);
      expect(recorder.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
        'POST /v1/completions',
        'POST /start_profile',
        'POST /v1/completions',
        'POST /v1/completions',
        'POST /stop_profile',
      ]);
      expect(stdout).toMatch(
        /Starting main benchmark run\.\.\.\nStarting profiler\.\.\.\nProfiler started\nTraffic/,
      );
      expect(stdout).toMatch(/={50}\nStopping profiler\.\.\.\nProfiler stopped\n$/);
    });
  });

  it.each([
    ['/start_profile', 1, /^error: the server's profiler did not start: HTTP 404: no such thing/m, 1],
    ['/stop_profile', 0, /^warning: the server's profiler did not stop: HTTP 404: no such thing/m, 3],
  ])('%s is refused: exit code %i', async (path, code, message, generations) => {
    await withRecorder(
      async (recorder) => {
        const { exitCode, stderr } = await runCli(benchFlags(recorder.url, flags));
        expect(exitCode).toBe(code);
        expect(stderr).toMatch(message);
        expect(recorder.generations()).toHaveLength(generations);
      },
      {
        answer: ({ url }, response) => {
          if (url !== path) return false;
          response.writeHead(404).end('no such thing');
          return true;
        },
      },
    );
  });
});
