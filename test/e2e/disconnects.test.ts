import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CliProcess, startCli } from './run-cli.ts';

/** Text for about a second, speech after it. */
const laws = {
  0: { ttft: { baseMs: 5, perInputTokenMs: 0 }, step: { nativeMs: 10 }, maxNumSeqs: 48, batchSlope: 0 },
  1: { ttft: { baseMs: 10 }, step: { nativeMs: 5 }, length: [300], maxNumSeqs: 48, batchSlope: 0 },
};
const bodies = [
  ['/v1/chat/completions', { messages: [{ role: 'user', content: 'hello' }], max_tokens: 80, stream: true }],
  ['/v1/chat/completions', { messages: [{ role: 'user', content: 'hello' }], max_tokens: 80 }],
  ['/v1/completions', { prompt: 'hello', max_tokens: 80, stream: true }],
  ['/v1/responses', { input: 'hello', max_output_tokens: 80, stream: true }],
] as const;

let server: CliProcess;
let url: URL;

beforeAll(async () => {
  const flags = ['--port', '0', '--log-stats', '--stage-overrides', JSON.stringify(laws)];
  server = startCli(['serve', 'Qwen/Qwen3-Omni-30B-A3B-Instruct', '--omni', ...flags]);
  url = new URL((await server.printed(/server ready: (\S+)/))[1] ?? '');
});
afterAll(async () => {
  server.child.kill('SIGKILL');
  await server.done;
});

/** Sends a request and leaves after so long, whatever has come by then. */
function leave(index: number, afterMs: number): Promise<void> {
  const [path, body] = bodies[index % bodies.length] ?? bodies[0];
  return new Promise((resolve) => {
    const sent = request({ host: url.hostname, port: url.port, path, method: 'POST', agent: false });
    const gone = (): void => {
      sent.destroy();
      resolve();
    };
    sent.on('response', (response) => response.resume().on('error', () => {}));
    sent.on('error', () => {});
    sent.end(JSON.stringify(body));
    setTimeout(gone, afterMs);
  });
}

/** So many clients, a hundred at a time, each of which leaves at a moment of its own. */
async function clients(count: number): Promise<void> {
  let next = 0;
  let seed = 7;
  const drawn = (): number => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    return seed / 0x7fffffff;
  };
  const work = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      await leave(next, drawn() ** 2 * 400);
    }
  };
  await Promise.all(Array.from({ length: 100 }, work));
}

/** Everything that `/metrics` says is under way. */
async function underWay(): Promise<number[]> {
  const text = await (await fetch(new URL('/metrics', url))).text();
  const pattern =
    /^vllm_omni:(?:num_requests_running|num_requests_waiting|stage_inflight_requests)\{.*\} (\d+)$/gm;
  return [...text.matchAll(pattern)].map(([, value]) => Number(value));
}

async function idle(): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    const busy = await underWay();
    if (busy.length === 5 && busy.every((value) => value === 0)) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Still under way: ${(await underWay()).join(', ')}`);
}

function residentMb(): number {
  const status = readFileSync(`/proc/${server.child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

test.skipIf(process.platform !== 'linux')(
  '2,000 clients that disconnect at random points leave zero running requests and steady memory',
  async () => {
    await clients(2000);
    await idle();
    const beforeMb = residentMb();
    await clients(2000);
    await idle();
    // A connection or a run that stayed would hold tens of KiB each; what the heap does not give back is less.
    expect(residentMb() - beforeMb).toBeLessThan(40);
    const text = await (await fetch(new URL('/metrics', url))).text();
    const ended = [...text.matchAll(/requests_success_total\{.*\} (\d+)/g)].reduce(
      (sum, [, n]) => sum + Number(n),
      0,
    );
    expect(ended).toBeGreaterThan(1000);
    expect(text).toMatch(/finished_reason="abort"\} [1-9]\d{2,}/);
  },
);
