import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type NatsServer,
  natsServerPath,
  noNatsServer,
  startNatsServer,
} from '../../src/server/cluster/nats-server.suite.ts';
import { type CliProcess, startCli } from './run-cli.ts';

/** Speech goes on for seconds after the text has begun. */
const laws = {
  0: { ttft: { baseMs: 1, perInputTokenMs: 0 }, step: { nativeMs: 10 }, batchSlope: 0 },
  1: { ttft: { baseMs: 5 }, step: { nativeMs: 20 }, batchSlope: 0, length: [150] },
};
const body = JSON.stringify({
  messages: [{ role: 'user', content: 'hello' }],
  max_tokens: 30,
  stream: true,
});

let nats: NatsServer;
const processes: CliProcess[] = [];

function serve(...flags: string[]): CliProcess {
  return serveModel('Qwen/Qwen3-Omni-30B-A3B-Instruct', '--stage-overrides', JSON.stringify(laws), ...flags);
}

function serveModel(model: string, ...flags: string[]): CliProcess {
  const started = startCli([
    'serve',
    model,
    '--omni',
    ...['--omni-master-address', '127.0.0.1', '--omni-master-port', String(nats.port)],
    ...flags,
  ]);
  processes.push(started);
  return started;
}

async function joined(stageId: number): Promise<CliProcess> {
  const worker = serve('--stage-id', String(stageId), '--headless');
  await worker.printed(/joined as replica \d+/);
  return worker;
}

type Deployment = { url: string; head: CliProcess; workers: CliProcess[] };

async function deployed(...stageIds: number[]): Promise<Deployment> {
  const head = serve('--stage-id', '0', '--port', '0', '--log-stats');
  const url = (await head.printed(/server ready: (\S+)/))[1] ?? '';
  const workers: CliProcess[] = [];
  // One after another, so that replicas are numbered by the order of the list.
  for (const stageId of stageIds) workers.push(await joined(stageId));
  return { url, head, workers };
}

async function health(url: string): Promise<number> {
  return (await fetch(`${url}/health`)).status;
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('The condition never held');
}

function ask(url: string): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, { method: 'POST', body });
}

/** How a stream ended: whole, or with which error. */
async function endOf(response: Response): Promise<string> {
  const text = await response.text();
  const error = /"error":\{"message":"([^"]*)"/.exec(text)?.[1];
  return error ?? (text.trimEnd().endsWith('data: [DONE]') ? 'whole' : 'cut');
}

/** Requests that a replica of a stage works on, as `/metrics` says. */
async function inFlight(url: string, stage: number): Promise<Record<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const pattern = new RegExp(
    `^vllm_omni:stage_inflight_requests\\{.*stage="${stage}",replica="(\\d+)"\\} (\\d+)$`,
    'gm',
  );
  return Object.fromEntries(
    [...text.matchAll(pattern)].map(([, replica, value]) => [replica, Number(value)]),
  );
}

describe.skipIf(natsServerPath === null)(
  `stage workers as processes${natsServerPath === null ? noNatsServer : ''}`,
  () => {
    beforeEach(async () => {
      nats = await startNatsServer();
    });
    afterEach(async () => {
      for (const { child, done } of processes.splice(0)) {
        child.kill('SIGKILL');
        await done;
      }
      await nats.kill();
    });

    test('a worker that is killed fails its own requests, and no others', async () => {
      const { url, workers } = await deployed(1, 1, 2);
      expect(await health(url)).toBe(200);
      // The two talkers take requests in turn.
      const replies = [await ask(url), await ask(url)];
      expect(await inFlight(url, 1)).toEqual({ 0: 1, 1: 1 });
      workers[0]?.child.kill('SIGKILL');
      const ends = await Promise.all(replies.map(endOf));
      expect(ends).toEqual(['Replica 0 of stage 1 (talker) was lost: its process is gone.', 'whole']);
      expect(await health(url)).toBe(200);
      expect(await endOf(await ask(url))).toBe('whole');

      workers[1]?.child.kill('SIGKILL');
      await until(async () => (await health(url)) === 503);
      const refused = await ask(url);
      expect(refused.status).toBe(500);
      expect(await endOf(refused)).toMatch(
        /^Stage 1 \(talker\) has no live replica\. Workers join at the broker nats:\/\/127\.0\.0\.1:\d+\. Start one .*--stage-id 1 --headless/,
      );
      await joined(1);
      expect(await health(url)).toBe(200);
      expect(await endOf(await ask(url))).toBe('whole');
      expect(await inFlight(url, 1)).toEqual({ 0: 0, 1: 0 });
    });

    test('a broker that is killed fails what is bound to it; all is well when it is back', async () => {
      const { url, workers } = await deployed(1, 2);
      const bound = await ask(url);
      const { port } = nats;
      await nats.kill();
      expect(await endOf(bound)).toMatch(
        /^Replica 0 of stage [12] .* the connection to the broker .* was lost\.$/,
      );
      expect(await health(url)).toBe(503);
      expect(await endOf(await ask(url))).toMatch(
        /^Stage [12] .* has no live replica\. The broker nats:.* cannot be reached/,
      );
      nats = await startNatsServer(port);
      await until(async () => (await health(url)) === 200);
      expect(await endOf(await ask(url))).toBe('whole');
      // An orderly end takes leave, and exits as asked.
      workers[1]?.child.kill('SIGTERM');
      expect((await workers[1]?.done)?.exitCode).toBe(0);
      await until(async () => (await health(url)) === 503);
    });

    test('a worker that the server refuses, and one without a broker, say why and exit with 2', async () => {
      await deployed();
      const other = await serve('--stage-id', '1', '--headless', '--time-scale', '0.5').done;
      expect([other.exitCode, other.stderr]).toEqual([2, expect.stringMatching(/timeScale is 1 there/)]);
      const stranger = await serveModel('Qwen/Qwen2.5-Omni-7B', '--stage-id', '1', '--headless').done;
      expect([stranger.exitCode, stranger.stderr]).toEqual([
        2,
        expect.stringMatching(/^error: The server at nats:\S+ runs qwen3_omni .*, not qwen2_5_omni/),
      ]);
      const { port } = nats;
      await nats.kill();
      const lost = await serve('--stage-id', '1', '--headless').done;
      expect([lost.exitCode, lost.stderr]).toEqual([
        2,
        expect.stringMatching(new RegExp(`no NATS broker at nats://127.0.0.1:${port}`)),
      ]);
    });
  },
);
