import { afterEach, describe, expect, it } from 'vitest';
import { StopSwitch } from '../foundation/stop-switch.ts';
import { eventKinds } from '../records/event-log.ts';
import {
  type Peer,
  type Script,
  type ScriptedServer,
  scriptedServer,
} from '../transport/contract/scripted-server.suite.ts';
import { createTransport } from '../transport/select-transport.ts';
import type { Transport } from '../transport/transport.ts';
import type { Sample } from '../workloads/sample.ts';
import type { Endpoint, Observation, PreparedRequest, Target } from './endpoint.ts';

export const exampleSample: Sample = {
  prompt: 'Say hé',
  promptTokens: 3,
  expectedOutputTokens: 7,
  media: [],
  requestId: 'bench-0',
};

export function exampleTarget(url: string, changes: Partial<Target> = {}): Target {
  return {
    baseUrl: url,
    url,
    model: 'served',
    headers: [],
    extraBody: {},
    ignoreEos: false,
    logprobs: null,
    stream: true,
    ...changes,
  };
}

export const sseHead =
  'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';

/** Bytes of one HTTP chunk. */
export function httpChunk(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

export const lastChunk = '0\r\n\r\n';

/** An event-stream reply, one HTTP chunk an event, each a read of its own. */
export async function playEvents(peer: Peer, events: readonly unknown[], { end = true } = {}): Promise<void> {
  const lines = events.map((event) =>
    httpChunk(`data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`),
  );
  await peer.writePieces([sseHead, ...lines, ...(end ? [lastChunk] : [])]);
}

/** Runs one request of an adapter against a script. */
export class EndpointBench {
  readonly #transports: Transport[] = [];
  readonly #servers: ScriptedServer[] = [];
  readonly stop = new StopSwitch();

  async server(script: Script): Promise<ScriptedServer> {
    const server = await scriptedServer(script);
    this.#servers.push(server);
    return server;
  }

  observe(
    endpoint: Endpoint,
    transportName: 'socket' | 'node-http',
    prepared: PreparedRequest,
    limits: { timeoutMs?: number; maxLineBytes?: number } = {},
  ): Promise<Observation> {
    const transport = createTransport(transportName, {
      newConnectionPerRequest: false,
      insecure: false,
      maxConnections: null,
      connectTimeoutMs: 5000,
      env: {},
    });
    this.#transports.push(transport);
    return endpoint.observe(prepared, {
      transport,
      timeoutMs: limits.timeoutMs ?? 10_000,
      maxLineBytes: limits.maxLineBytes ?? 1 << 20,
      stop: this.stop,
    });
  }

  async close(): Promise<void> {
    for (const transport of this.#transports.splice(0)) transport.close();
    for (const server of this.#servers.splice(0)) await server.close();
  }
}

export type EndpointCase = {
  readonly endpoint: Endpoint;
  /** A body as another program would expect it, for {@link exampleSample}. */
  readonly body: Readonly<Record<string, unknown>>;
  /** A streamed chunk that carries this text. */
  readonly chunk: (text: string) => Record<string, unknown>;
  /** An unstreamed reply that carries this text. */
  readonly whole: (text: string) => Record<string, unknown>;
  readonly usage: Record<string, unknown>;
};

/** What every adapter of a streamed dialect owes, whatever the server does. */
export function endpointContract({ endpoint, body, chunk, whole, usage }: EndpointCase): void {
  describe.each(['socket', 'node-http'] as const)(`${endpoint.name} over %s`, (transport) => {
    const bench = { current: new EndpointBench() };
    afterEach(async () => {
      await bench.current.close();
      bench.current = new EndpointBench();
    });
    /** The observation of one request, and the requests as they stood on the wire. */
    const run = async (
      play: (peer: Peer, number: number) => Promise<void> | void,
      options: {
        target?: Partial<Target>;
        sample?: Partial<Sample>;
        timeoutMs?: number;
        maxLineBytes?: number;
      } = {},
    ): Promise<{ seen: Observation; wire: { head: string; body: string }[] }> => {
      const wire: { head: string; body: string }[] = [];
      const server = await bench.current.server(async (peer) => {
        for (;;) {
          const request = await peer.request();
          if (!request) return;
          wire.push({ head: request.head, body: request.body.toString() });
          await play(peer, wire.length);
        }
      });
      const url = `${server.url}${endpoint.defaultPath}`;
      const prepared = endpoint.prepare(
        { ...exampleSample, ...options.sample },
        exampleTarget(url, options.target),
      );
      return { seen: await bench.current.observe(endpoint, transport, prepared, options), wire };
    };
    const events =
      (list: readonly unknown[], end = true) =>
      (peer: Peer) =>
        playEvents(peer, list, { end });
    const plain = (status: string, type: string, text: string) => (peer: Peer) =>
      peer.write(
        `HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
      );
    const failed = (seen: Observation) => (seen.outcome.ok ? null : seen.outcome);

    it('sends the body that the dialect wants, headers and id', async () => {
      const { wire } = await run(events([chunk('x'), usage, '[DONE]']), {
        target: {
          headers: [
            ['Authorization', 'Bearer k'],
            ['X-Own', '1'],
          ],
          ignoreEos: true,
          extraBody: { top_k: 3 },
        },
        sample: { bodyOverrides: { seed: 5 } },
      });
      expect(JSON.parse(wire[0]?.body ?? '')).toEqual({ ...body, ignore_eos: true, top_k: 3, seed: 5 });
      expect(Object.keys(JSON.parse(wire[0]?.body ?? ''))).toEqual([
        ...Object.keys(body),
        'ignore_eos',
        'top_k',
        'seed',
      ]);
      const head = wire[0]?.head.toLowerCase() ?? '';
      expect(head).toMatch(new RegExp(`^post ${endpoint.defaultPath} http/1.1`));
      for (const line of [
        'content-type: application/json',
        'authorization: bearer k',
        'x-own: 1',
        'x-request-id: bench-0',
        'accept-encoding: identity',
      ])
        expect(head).toContain(line);
    });

    it('lets the extra body win over every field but the sample’s own', async () => {
      const { wire } = await run(events([chunk('x')]), {
        target: { extraBody: { model: 'other', stream_options: null, max_tokens: 1 } },
        sample: { bodyOverrides: { max_tokens: 2 } },
      });
      expect(JSON.parse(wire[0]?.body ?? '')).toMatchObject({
        model: 'other',
        stream_options: null,
        max_tokens: 2,
      });
    });

    it('reads text, usage and the time of every message', async () => {
      const { seen } = await run(events([chunk('Hé'), chunk('llo'), usage, '[DONE]']));
      expect(seen.outcome).toEqual({ ok: true });
      expect(seen.text).toBe('Héllo');
      expect(seen).toMatchObject({ promptTokens: 11, outputTokens: 2, outputTokensSource: 'usage' });
      expect([...seen.events.kinds]).toEqual([eventKinds.text, eventKinds.text, eventKinds.usage]);
      expect([...seen.events.bytes.subarray(0, 2)]).toEqual([3, 3]);
      const [attempt] = seen.attempts;
      const times = [
        attempt?.sendMs ?? 0,
        attempt?.exchanges[0]?.headersMs ?? 0,
        ...seen.events.timesMs,
        attempt?.endMs ?? 0,
      ];
      expect(times).toEqual([...times].sort((a, b) => a - b));
      expect(seen.attempts).toHaveLength(1);
    });

    it('takes nothing that comes after [DONE]', async () => {
      const { seen } = await run(events([chunk('all'), usage, '[DONE]', chunk(' more'), 'no JSON', usage]));
      expect(seen.outcome).toEqual({ ok: true });
      expect(seen.text).toBe('all');
      expect([...seen.events.kinds]).toEqual([eventKinds.text, eventKinds.usage]);
    });

    it('does not believe figures that no server can mean', async () => {
      const absurd: unknown = JSON.parse(JSON.stringify(usage), (key, value) =>
        key.endsWith('_tokens') && typeof value === 'number' ? 1e300 : value,
      );
      const { seen } = await run(events([chunk('a'), absurd, '[DONE]']));
      expect(seen.outcome).toEqual({ ok: true });
      expect(seen).toMatchObject({ promptTokens: null, outputTokens: null, outputTokensSource: null });
    });

    it('does not depend on where the bytes are cut', async () => {
      const text = `: hello\r\n\r\ndata: ${JSON.stringify(chunk('a😀é'))}\r\n\r\ndata:${JSON.stringify(usage)}\n\ndata: [DONE]\n\n`;
      const bytes = Buffer.concat([httpChunk(text), Buffer.from(lastChunk)]);
      for (const size of [1, 2, 3, 7, 64]) {
        const pieces: Buffer[] = [];
        for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
        const { seen } = await run((peer) => peer.writePieces([sseHead, ...pieces]));
        expect(seen.outcome).toEqual({ ok: true });
        expect(seen.text).toBe('a😀é');
        expect(seen.outputTokens).toBe(2);
      }
    });

    it('reads a reply that was not streamed, without a first-token time', async () => {
      const { seen } = await run(
        plain('200 OK', 'application/json', JSON.stringify({ ...whole('all of it'), usage: usage.usage })),
        { target: { stream: false } },
      );
      expect(seen.outcome).toEqual({ ok: true });
      expect(seen.text).toBe('all of it');
      expect(seen.outputTokens).toBe(2);
      expect([...seen.events.kinds]).toEqual([eventKinds.whole]);
    });

    it('reads a whole JSON reply although a stream was asked for', async () => {
      const { seen } = await run(
        plain('200 OK', 'application/json; charset=utf-8', JSON.stringify(whole('all'))),
      );
      expect(seen).toMatchObject({ outcome: { ok: true }, text: 'all' });
    });

    it.each([
      ['429 Too Many Requests', '{"error":{"message":"slow down"}}'],
      ['500 Internal Server Error', 'boom'],
      ['404 Not Found', '{"detail":"no such model"}'],
    ])('%s is a failure with status and body', async (status, text) => {
      const { seen } = await run(plain(status, 'application/json', text));
      expect(failed(seen)).toMatchObject({ kind: 'http', status: Number.parseInt(status, 10), body: text });
      expect(failed(seen)?.message).toContain(text);
      expect(seen.events.timesMs).toHaveLength(0);
    });

    it('an error event after tokens is a failure', async () => {
      const { seen } = await run(
        events([
          chunk('a'),
          { error: { message: 'engine died', type: 'InternalServerError', param: null, code: 500 } },
          '[DONE]',
        ]),
      );
      expect(failed(seen)).toMatchObject({ kind: 'stream_error', message: 'engine died' });
    });

    it('an error of any length is kept by its beginning', async () => {
      const { seen } = await run(events([{ error: { message: `engine ${'died '.repeat(200_000)}` } }]));
      const said = failed(seen);
      expect(said?.message).toMatch(/^engine died .*… \(1000007 characters\)$/);
      expect(said?.message.length).toBeLessThan(30_000);
      expect(said?.body?.length ?? 0).toBeLessThan(30_000);
    });

    it('an event named error is a failure, whatever it carries', async () => {
      const { seen } = await run((peer) =>
        peer.writePieces([sseHead, httpChunk('event: error\ndata: {"message":"no"}\n\n'), lastChunk]),
      );
      expect(failed(seen)?.kind).toBe('stream_error');
      expect(failed(seen)?.body).toContain('no');
    });

    it('a stream cut in the middle is a failure', async () => {
      const { seen } = await run(async (peer) => {
        await playEvents(peer, [chunk('a'), chunk('b')], { end: false });
        peer.reset();
      });
      expect(failed(seen)?.kind).toBe('reset');
      expect(seen.attempts).toHaveLength(1);
    });

    it('a stream closed without its last HTTP chunk is a failure, unless it said [DONE]', async () => {
      const cut = (list: readonly unknown[]) => async (peer: Peer) => {
        await playEvents(peer, list, { end: false });
        peer.end();
      };
      expect(failed((await run(cut([chunk('a')]))).seen)?.kind).toBe('reset');
      expect((await run(cut([chunk('a'), usage, '[DONE]']))).seen.outcome).toEqual({ ok: true });
    });

    it.each([
      ['an empty stream', sseHead + lastChunk],
      ['only [DONE]', `${sseHead}${httpChunk('data: [DONE]\n\n')}${lastChunk}`],
      ['no body', 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 0\r\n\r\n'],
      [
        'an empty JSON body',
        'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 0\r\n\r\n',
      ],
      ['an empty object', 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}'],
    ])('%s is an empty reply, not a success', async (_, bytes) => {
      const { seen } = await run((peer) => peer.write(bytes));
      expect(failed(seen)?.kind).toBe('empty');
      expect(failed(seen)?.status).toBe(200);
    });

    it.each([
      ['an event that is not JSON', 'data: {"choices": [\n\n'],
      ['bytes that are no event', 'hello\nworld\n\n'],
      ['random bytes', '\x00\x01\xff\xfe\n\n\n'],
    ])('%s is malformed', async (_, text) => {
      const { seen } = await run((peer) => peer.writePieces([sseHead, httpChunk(text), lastChunk]));
      expect(failed(seen)?.kind).toBe('malformed');
      expect(failed(seen)?.body).not.toBe('');
    });

    it('JSON that does not parse is malformed', async () => {
      const { seen } = await run(plain('200 OK', 'application/json', '{"choices": '));
      expect(failed(seen)).toMatchObject({ kind: 'malformed', body: '{"choices": ' });
    });

    it('a page of HTML is the wrong content type', async () => {
      const { seen } = await run(plain('200 OK', 'text/html', '<html>sign in</html>'));
      expect(failed(seen)).toMatchObject({ kind: 'content_type', status: 200, body: '<html>sign in</html>' });
      expect(failed(seen)?.message).toContain('text/html');
    });

    it('messages of odd shapes neither crash it nor count', async () => {
      const odd = [
        [],
        'null',
        '7',
        '"x"',
        { choices: null },
        { choices: [null] },
        { choices: [{ delta: null, text: null }] },
        { usage: 'x' },
        { metrics: [], choices: [] },
      ];
      const { seen } = await run(events([...odd, chunk('ok'), usage, '[DONE]']));
      expect(seen).toMatchObject({ outcome: { ok: true }, text: 'ok', outputTokens: 2 });
    });

    it('a stream that only its closing ends is cut off unless a finish reason or [DONE] came', async () => {
      const closing = (list: readonly unknown[]) => async (peer: Peer) => {
        const lines = list.map(
          (event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`,
        );
        await peer.writePieces([
          'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n',
          ...lines.map((line) => Buffer.from(line)),
        ]);
        peer.end();
      };
      // The Responses API has an end mark of its own and says what it missed.
      expect(['reset', 'malformed']).toContain(failed((await run(closing([chunk('half')]))).seen)?.kind);
      expect((await run(closing([chunk('all'), usage, '[DONE]']))).seen.outcome).toEqual({ ok: true });
    });

    it('a 200 whose JSON is an error, or nothing known, keeps its words', async () => {
      const old = await run(
        plain('200 OK', 'application/json', '{"object":"error","message":"old style","code":400}'),
      );
      expect(failed(old.seen)).toMatchObject({ kind: 'stream_error', message: 'old style' });
      const other = await run(plain('200 OK', 'application/json', '{"detail":"Not Found"}'));
      expect(failed(other.seen)).toMatchObject({ kind: 'empty', body: '{"detail":"Not Found"}' });
    });

    it('a 204 is an empty reply with its own status', async () => {
      const { seen } = await run((peer) => peer.write('HTTP/1.1 204 No Content\r\n\r\n'));
      expect(failed(seen)).toMatchObject({ kind: 'empty', status: 204 });
    });

    it('a silent server is a timeout', async () => {
      const { seen } = await run(events([chunk('a')], false), { timeoutMs: 120 });
      expect(failed(seen)).toMatchObject({ kind: 'timeout' });
    });

    it('a line above the limit is refused', async () => {
      const { seen } = await run(events([chunk('a'), `{"x":"${'y'.repeat(5000)}"}`]), { maxLineBytes: 1000 });
      expect(failed(seen)?.kind).toBe('limit');
      expect(failed(seen)?.message).toContain('--max-line-bytes');
    });

    it('a stop ends a request under way', async () => {
      const { seen } = await run(async (peer) => {
        await playEvents(peer, [chunk('a')], { end: false });
        bench.current.stop.stop();
      });
      expect(failed(seen)?.kind).toBe('aborted');
    });

    it('a server that is not there cannot be connected to', async () => {
      const server = await bench.current.server(() => {});
      await server.close();
      const prepared = endpoint.prepare(exampleSample, exampleTarget(`${server.url}${endpoint.defaultPath}`));
      const seen = await bench.current.observe(endpoint, transport, prepared);
      expect(failed(seen)?.kind).toBe('connect');
      expect(failed(seen)?.message).toMatch(/refused/i);
    });

    it('batched prompts are refused before anything is sent', () => {
      expect(() =>
        endpoint.prepare({ ...exampleSample, prompt: ['a', 'b'] }, exampleTarget('http://127.0.0.1:1/')),
      ).toThrow(/one prompt a request/);
    });
  });
}
