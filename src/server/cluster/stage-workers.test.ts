import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { chunksOf, instantly, post, readWav, type TestServer, testServer, until } from '../api/wire.suite.ts';
import { type ServeOptions, serveDefaults } from '../serve-options.ts';
import { type RunningWorker, startWorker } from '../start-worker.ts';
import { connectBroker } from './broker.ts';
import {
  admissions,
  heartbeats,
  protocolVersion,
  pulses,
  registrations,
  subjects,
} from './control-messages.ts';
import { hostId } from './host-id.ts';
import { type NatsServer, natsServerPath, noNatsServer, startNatsServer } from './nats-server.suite.ts';

const model = 'Qwen/Qwen3-Omni-30B-A3B-Instruct';
/** Goes on for minutes, with a first token at once. */
const endless = {
  0: { ttft: { baseMs: 1, perInputTokenMs: 0 }, step: { nativeMs: 5 }, batchSlope: 0 },
  1: { ttft: { baseMs: 5 }, step: { nativeMs: 1 }, batchSlope: 0, length: [4000] },
};
/** Speech ends well after the text, so that every chunk is of use. */
const unhurried = { ...instantly, 1: { ...instantly[1], step: { nativeMs: 15 } } };
const hello = { messages: [{ role: 'user', content: 'hello' }], max_tokens: 30 };

let nats: NatsServer;
const servers: TestServer[] = [];
const workers: RunningWorker[] = [];

function shared(): Pick<ServeOptions, 'masterAddress' | 'masterPort'> {
  return { masterAddress: '127.0.0.1', masterPort: nats.port };
}

async function head(options: Partial<ServeOptions> = {}): Promise<TestServer> {
  const server = await testServer({ ...shared(), stageId: 0, ...options });
  servers.push(server);
  return server;
}

const lines: string[] = [];

async function worker(stageId: number, options: Partial<ServeOptions> = {}): Promise<RunningWorker> {
  const started = await startWorker(
    { ...serveDefaults, model, stageOverrides: instantly, ...shared(), stageId, headless: true, ...options },
    (line) => lines.push(line),
  );
  started.ended.catch(() => {});
  workers.push(started);
  return started;
}

function alive(server: TestServer): number[] {
  return server.stats().stages.flatMap((stage) => (stage.alive ? [stage.stageId] : []));
}

function idle(server: TestServer): boolean {
  const { requests, stages, payloadsInFlight } = server.stats();
  return (
    requests + payloadsInFlight + stages.reduce((sum, { running, waiting }) => sum + running + waiting, 0) ===
    0
  );
}

const errorSchema = z.object({ error: z.object({ message: z.string(), code: z.number() }) });

async function ask(server: TestServer, body: object = hello): Promise<Response> {
  return post(`${server.url}/v1/chat/completions`, body);
}

async function failureOf(response: Response): Promise<{ status: number; message: string }> {
  const { error } = errorSchema.parse(await response.json());
  return { status: response.status, message: error.message };
}

/** The error that a stream ends with. */
async function streamError(response: Response): Promise<string> {
  const text = await response.text();
  return errorSchema.parse(JSON.parse(/data: (\{"error".*)/.exec(text)?.[1] ?? '{}')).error.message;
}

describe.skipIf(natsServerPath === null)(
  `stages in other processes${natsServerPath === null ? noNatsServer : ''}`,
  () => {
    beforeEach(async () => {
      nats = await startNatsServer();
      lines.length = 0;
    });
    afterEach(async () => {
      for (const each of workers.splice(0)) await each.close();
      for (const each of servers.splice(0)) await each.close();
      await nats.kill();
    });

    test.each([
      ['shared memory', null],
      ['NATS', 'kind: nats'],
    ])('give the same reply as in one process, over %s', async (_name, other) => {
      const options = {
        ...(other === null
          ? {}
          : {
              deployConfig: new URL('./__fixtures__/qwen3_omni_nats.yaml', import.meta.url).pathname,
            }),
        logStats: true,
        stageOverrides: unhurried,
      };
      const body = { ...hello, return_stage_metrics: true, audio: { format: 'wav' } };
      const alone = await testServer({ stageOverrides: unhurried });
      servers.push(alone);
      const server = await head(options);
      await worker(1, options);
      await worker(2, { ...options, replicasHere: 2 });
      await until(() => alive(server).length === 4);
      expect((await fetch(`${server.url}/health`)).status).toBe(200);

      const [here, there]: unknown[] = await Promise.all(
        [alone, server].map(async (each) => (await ask(each, body)).json()),
      );
      const reply = z.object({
        choices: z.array(
          z.object({
            message: z.object({
              content: z.string().nullable(),
              audio: z.object({ data: z.string() }).optional(),
            }),
          }),
        ),
        usage: z.object({ completion_tokens: z.number() }),
        metrics: z.object({
          stage_metrics: z.record(z.string(), z.object({ output_unit_count: z.number() })),
        }),
      });
      const [expected, got] = [reply.parse(here), reply.parse(there)];
      expect(got.choices[0]).toEqual(expected.choices[0]);
      const wav = (data = ''): number => readWav(Buffer.from(data, 'base64')).samples;
      expect(wav(got.choices[1]?.message.audio?.data)).toBe(60 * 1920 - 555 * 2);
      expect(got.choices[1]?.message.audio?.data).toBe(expected.choices[1]?.message.audio?.data);
      expect(got.usage).toEqual(expected.usage);
      expect(got.metrics).toEqual(expected.metrics);

      const { transfers, connector } = server.stats();
      expect(transfers).toMatchObject([
        { edge: { from: 0, to: 1 }, transfers: 30, received: 30, bytes: 30 * 8192 },
        { edge: { from: 1, to: 2 }, transfers: 3, received: 3, bytes: 60 * 64 },
      ]);
      expect(connector).toMatchObject({ status: 'up', payloads: 0 });
      const metrics = await (await fetch(`${server.url}/metrics`)).text();
      expect(metrics).toMatch(
        /vllm_omni:transfer_size_bytes_sum\{.*from_stage="0",from_replica="0",to_stage="1",to_replica="0"\} 245760/,
      );
      expect(metrics).toMatch(/vllm_omni:transfer_in_flight_s_count\{.*from_stage="1".*\} 3\n/);
      expect(idle(server)).toBe(true);
    });

    /** What is said of a stage without a worker while the broker is there. */
    const missing = (stageId: number, name: string): string =>
      `Stage ${stageId} (${name}) has no live replica. Workers join at the broker nats://127.0.0.1:${nats.port}. Start ` +
      `one with the flags of this server: omnimeter serve ${model} --omni --stage-id ${stageId} --headless ` +
      `--omni-master-address 127.0.0.1 --omni-master-port ${nats.port}`;

    test('a stage without a worker fails what needs it at once, and nothing else', async () => {
      const server = await head();
      expect((await fetch(`${server.url}/health`)).status).toBe(503);
      expect(await failureOf(await ask(server))).toEqual({ status: 500, message: missing(1, 'talker') });
      const streamed = await ask(server, { ...hello, stream: true });
      expect(await failureOf(streamed)).toEqual({ status: 500, message: missing(1, 'talker') });
      const text = await ask(server, { ...hello, modalities: ['text'] });
      expect(text.status).toBe(200);
      await worker(2);
      await worker(1);
      await until(() => alive(server).length === 3);
      expect((await ask(server)).status).toBe(200);
    });

    test('a worker that leaves fails its own requests; another takes its slot', async () => {
      const server = await head({ stageOverrides: endless });
      const [first] = [await worker(1, { stageOverrides: endless })];
      await worker(2, { stageOverrides: endless });
      await until(() => alive(server).length === 3);
      await worker(1, { stageOverrides: endless });
      await until(() => alive(server).length === 4);
      // Given to the two in turn.
      const replies = [
        await ask(server, { ...hello, stream: true }),
        await ask(server, { ...hello, stream: true }),
      ];
      await until(() => server.stats().stages.filter(({ running }) => running > 0).length >= 3);
      await first?.close();
      expect(await streamError(replies[0] ?? new Response())).toBe(
        'Replica 0 of stage 1 (talker) was lost: its process ended.',
      );
      expect(server.stats().requests).toBe(1);
      await replies[1]?.body?.cancel();
      await until(() => server.stats().requests === 0);
      expect((await fetch(`${server.url}/health`)).status).toBe(200);
      await worker(1, { stageOverrides: endless });
      await until(() => alive(server).length === 4);
      expect(server.stats().stages.map(({ stageId, replicaId }) => [stageId, replicaId])).toEqual([
        [0, 0],
        [1, 0],
        [1, 1],
        [2, 0],
      ]);
    });

    test('the broker’s death fails what needs it; its return brings the workers back', async () => {
      const server = await head({ stageOverrides: endless });
      await worker(1, { stageOverrides: endless });
      await worker(2, { stageOverrides: endless });
      await until(() => alive(server).length === 3);
      const bound = await ask(server, { ...hello, stream: true });
      const textOnly = ask(server, { ...hello, max_tokens: 200, stream: true, modalities: ['text'] });
      await until(() => server.stats().requests === 2);
      const { port } = nats;
      await nats.kill();
      expect(await streamError(bound)).toBe(
        `Replica 0 of stage 1 (talker) was lost: the connection to the broker nats://127.0.0.1:${port} was lost.`,
      );
      expect((await fetch(`${server.url}/health`)).status).toBe(503);
      expect(await failureOf(await ask(server))).toEqual({
        status: 500,
        message:
          `Stage 1 (talker) has no live replica. The broker nats://127.0.0.1:${port}, at which workers join, cannot be ` +
          `reached: start it again, e.g. nats-server -a 127.0.0.1 -p ${port}`,
      });
      // What needs no other process goes on.
      expect((await chunksOf(await textOnly)).at(-1)?.choices[0]?.finish_reason).toBe('length');
      nats = await startNatsServer(port);
      await until(() => alive(server).length === 3);
      expect((await fetch(`${server.url}/health`)).status).toBe(200);
      await until(() => lines.filter((line) => line.includes('joined as replica 0')).length === 4);
    });

    test('a server that starts again finds the workers of the one before', async () => {
      const first = await head();
      await worker(1);
      await worker(2);
      await until(() => alive(first).length === 3);
      await first.close();
      servers.length = 0;
      const second = await head();
      await until(() => alive(second).length === 3);
      expect((await ask(second)).status).toBe(200);
    });

    test('a client that goes away leaves nothing in any process', async () => {
      const server = await head({ stageOverrides: endless });
      await worker(1, { stageOverrides: endless });
      await worker(2, { stageOverrides: endless });
      await until(() => alive(server).length === 3);
      const replies = await Promise.all(
        Array.from({ length: 5 }, () => ask(server, { ...hello, stream: true })),
      );
      await until(() => server.stats().stages.some(({ stageId, running }) => stageId === 1 && running === 5));
      for (const reply of replies) await reply.body?.cancel();
      const nothing = { running: 0, waiting: 0, waitingForChunk: 0, kvCacheUsage: 0 };
      await until(() => idle(server));
      await until(() =>
        workers.every((each) =>
          each.stats().every((stats) => isDeepStrictEqual({ ...stats, kvCacheUsage: 0 }, nothing)),
        ),
      );
    });

    test.each([
      [
        'an image',
        'ByteDance-Seed/BAGEL-7B-MoT',
        1,
        { prompt: 'a boat', size: '64x64', seed: 5 },
        '/v1/images/generations',
      ],
      [
        'a picture from one stage, on its second replica',
        'Qwen/Qwen-Image',
        0,
        { prompt: 'a boat', size: '64x64', seed: 5 },
        '/v1/images/generations',
      ],
      ['a vector', 'Qwen/Qwen3-Embedding-0.6B', 0, { input: 'hello' }, '/v1/embeddings'],
    ])('%s comes from another process as from this one', async (_what, wanted, stageId, request, path) => {
      const options = { model: wanted, stageOverrides: null, timeScale: 0.002 };
      const alone = await testServer(options);
      const server = await head(options);
      servers.push(alone);
      await worker(stageId, options);
      const stages = alone.stats().stages.length;
      await until(() => server.stats().stages.length === (stageId === 0 ? stages + 1 : stages));
      await until(() => server.stats().stages.every((stage) => stage.alive));
      const dataSchema = z.object({ data: z.array(z.unknown()).min(1) });
      const dataOf = async (each: TestServer): Promise<unknown[]> =>
        dataSchema.parse(await (await post(`${each.url}${path}`, request)).json()).data;
      const expected = await dataOf(alone);
      // The replicas take turns: one of the two replies comes from the worker.
      for (let turn = 0; turn < 2; turn += 1) expect(await dataOf(server)).toEqual(expected);
      expect(idle(server)).toBe(true);
    });

    test('a second server of the same deployment is refused', async () => {
      await head();
      await expect(head()).rejects.toThrow(/Another server takes the workers of qwen3_omni/);
    });

    test('a worker that says nothing is lost after the time set', async () => {
      const server = await head({ heartbeatTimeoutS: 0.6 });
      const broker = await connectBroker(`nats://127.0.0.1:${nats.port}`, 'silent');
      const workerId = 'silent';
      broker.answer(subjects.ping('qwen3_omni', workerId), () => new Uint8Array(0));
      const deployed = { pipeline: 'qwen3_omni', model: 'Qwen3-Omni-30B-A3B-Instruct', asyncChunk: true };
      const facts = { protocol: protocolVersion, timeScale: 1, seed: 0, ...deployed };
      const session = 'first';
      const place = { session, stageId: 1, replicaId: null, kind: 'ar' as const, hostId: hostId() };
      const request = { facts, workerId, ...place };
      const admission = await broker.request(
        subjects.register('qwen3_omni'),
        registrations.encode(request),
        1000,
      );
      expect(alive(server)).toEqual([0, 1]);
      await until(() => alive(server).length === 1);
      // Its heartbeat comes too late: it has to join again.
      const admitted = admissions.decode(admission);
      const headId = admitted.accepted ? admitted.headId : '';
      const stats = { running: 0, waiting: 0, waitingForChunk: 0 };
      const late = heartbeats.encode({ workerId, session, batches: 0, stats });
      const pulse = await broker.request(subjects.heartbeat('qwen3_omni', headId), late, 1000);
      expect(pulses.decode(pulse)).toMatchObject({ known: false });
      await broker.close();
    });

    test.each([
      ['another pace', { timeScale: 0.5 }, /timeScale is 1 there/],
      ['another seed', { seed: 3 }, /seed is 0 there/],
      ['whole hand-over', { asyncChunk: false }, /asyncChunk is true there/],
      [
        'another model of the pipeline',
        { model: 'Qwen/Qwen3-Omni-30B-A3B-Thinking' },
        /model is Qwen3-Omni-30B-A3B-Instruct there/,
      ],
      [
        'another pipeline',
        { model: 'Qwen/Qwen2.5-Omni-7B', stageOverrides: null },
        /runs qwen3_omni \(Qwen3-Omni-30B-A3B-Instruct\), not qwen2_5_omni \(Qwen2\.5-Omni-7B\)/,
      ],
    ])('a worker with %s is refused', async (_what, options, message) => {
      await head();
      const refused = await worker(1, options);
      await expect(refused.ended).rejects.toThrow(message);
    });

    describe('of a model that converses', () => {
      const miniCpmO = 'openbmb/MiniCPM-o-4_5';

      test.each([
        ['MiniCPM-o', { model: miniCpmO }],
        ['Qwen3-Omni', { deployConfig: 'qwen3_omni_duplex.yaml' }],
      ])('are refused at the start in full duplex, by both sides: %s', async (_name, options) => {
        const told =
          /deployed in full duplex.*Leave out --stage-id, or answer in turns.*minicpmo_4_5_turn\.yaml/;
        await expect(head({ ...options, stageOverrides: null })).rejects.toThrow(told);
        await expect(worker(1, { ...options, stageOverrides: null })).rejects.toThrow(told);
      });

      test('answer in turns as in one process', async () => {
        const options = {
          model: miniCpmO,
          deployConfig: 'minicpmo_4_5_turn.yaml',
          stageOverrides: null,
          timeScale: 0.01,
        };
        const alone = await testServer(options);
        servers.push(alone);
        const server = await head(options);
        await worker(1, options);
        await worker(2, options);
        await until(() => alive(server).length === 3);
        const [expected, got] = await Promise.all(
          [alone, server].map(async (each) => {
            const reply: unknown = await (await ask(each)).json();
            return z
              .object({ choices: z.array(z.object({ message: z.looseObject({ content: z.unknown() }) })) })
              .parse(reply)
              .choices.map(({ message }) => ({
                content: message.content,
                data: z.looseObject({ data: z.string() }).nullish().parse(message.audio)?.data,
              }));
          }),
        );
        expect(got).toEqual(expected);
        expect(got?.[1]?.data?.length).toBeGreaterThan(1000);
      });
    });

    test('options that do not fit are refused before anything starts', async () => {
      const refused = (options: Partial<ServeOptions>): Promise<unknown> =>
        head(options).then(
          () => null,
          (error: unknown) => String(error),
        );
      expect(await refused({ masterPort: null })).toMatch(/--stage-id needs --omni-master-address/);
      expect(await refused({ stageId: null })).toMatch(/--omni-master-address needs --stage-id/);
      expect(await refused({ stageId: 1 })).toMatch(/--stage-id 1 needs --headless/);
      expect(await refused({ stageId: 9 })).toMatch(/no such stage. Its stages: 0 \(thinker\)/);
      expect(await refused({ stageId: null, headless: true })).toMatch(/--headless needs --stage-id/);
      expect(await refused({ masterPort: 1 })).toMatch(
        /no NATS broker at nats:\/\/127.0.0.1:1 .*nats-server -a 127.0.0.1 -p 1/,
      );
    });
  },
);
