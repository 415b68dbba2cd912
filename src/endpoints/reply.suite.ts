import { afterEach, describe, expect, it } from 'vitest';
import type { Peer } from '../transport/contract/scripted-server.suite.ts';
import type { Sample } from '../workloads/sample.ts';
import { EndpointBench, exampleSample, exampleTarget } from './endpoint.suite.ts';
import type { Endpoint, Observation, Target } from './endpoint.ts';

/** A reply as a script plays it. */
export type PlayedReply = { readonly type: string; readonly body: string | Buffer; readonly status?: string };

/** A request as it stood on the wire. */
export type WireRequest = { readonly head: string; readonly body: Buffer };

export type RunOptions = {
  readonly transport?: 'socket' | 'node-http';
  readonly target?: Partial<Target>;
  readonly sample?: Partial<Sample>;
  readonly timeoutMs?: number;
};

export function headOf(status: string, type: string, length: number): string {
  return `HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`;
}

/** The whole of a reply as bytes. */
export function bytesOf({ type, body, status = '200 OK' }: PlayedReply): Buffer {
  const bytes = Buffer.from(body);
  return Buffer.concat([Buffer.from(headOf(status, type, bytes.length)), bytes]);
}

export const json = (value: unknown, status = '200 OK'): PlayedReply => ({
  type: 'application/json',
  body: JSON.stringify(value),
  status,
});

/** Server-sent events as one body. */
export const sse = (events: readonly unknown[]): PlayedReply => ({
  type: 'text/event-stream',
  body: events
    .map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`)
    .join(''),
});

/** Runs one request of an adapter; `play` answers each exchange. */
export async function runOne(
  bench: EndpointBench,
  endpoint: Endpoint,
  play: (peer: Peer, number: number, request: WireRequest) => Promise<void> | void,
  options: RunOptions = {},
): Promise<{ seen: Observation; wire: readonly WireRequest[] }> {
  const wire: WireRequest[] = [];
  const server = await bench.server(async (peer) => {
    for (;;) {
      const request = await peer.request();
      if (!request) return;
      wire.push(request);
      await play(peer, wire.length, request);
    }
  });
  const url = `${server.url}${endpoint.defaultPath}`;
  const prepared = endpoint.prepare(
    { ...exampleSample, ...options.sample },
    exampleTarget(url, options.target),
  );
  const seen = await bench.observe(endpoint, options.transport ?? 'socket', prepared, options);
  return { seen, wire };
}

/** A form as another program reads it: Node's own fetch stack. */
export async function formOf({ head, body }: WireRequest): Promise<[name: string, value: string | File][]> {
  const type = /^content-type: (.*)$/im.exec(head)?.[1] ?? '';
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
  return [...form.entries()];
}

export type ReplyCase = {
  readonly endpoint: Endpoint;
  readonly target?: Partial<Target>;
  readonly sample?: Partial<Sample>;
  /** Answers one request well. */
  readonly good: PlayedReply;
  /** What a good reply leaves in the observation. */
  readonly expected: Readonly<Record<string, unknown>>;
  /** Complete replies that hold nothing of what was asked for, and what they are said to be. */
  readonly hollow: readonly (readonly [name: string, reply: PlayedReply, kind: string])[];
  /** Checks the first request. */
  readonly request: (request: WireRequest) => Promise<void> | void;
};

/** What every adapter of a reply that comes whole, or as bytes, owes whatever the server does. */
export function replyContract(given: ReplyCase): void {
  const { endpoint, good } = given;
  describe.each(['socket', 'node-http'] as const)(`${endpoint.name} over %s`, (transport) => {
    const bench = { current: new EndpointBench() };
    afterEach(async () => {
      await bench.current.close();
      bench.current = new EndpointBench();
    });
    const run = (play: Parameters<typeof runOne>[2], options: RunOptions = {}) =>
      runOne(bench.current, endpoint, play, {
        transport,
        target: { ...given.target, ...options.target },
        sample: { ...given.sample, ...options.sample },
        ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
      });
    const playing = (reply: PlayedReply) => (peer: Peer) => peer.write(bytesOf(reply));
    const failed = (seen: Observation) => (seen.outcome.ok ? null : seen.outcome);

    it('sends what the dialect wants, with the run’s headers and the request’s id', async () => {
      const { wire } = await run(playing(good), {
        target: {
          headers: [
            ['Authorization', 'Bearer k'],
            ['X-Own', '1'],
          ],
        },
      });
      const [first] = wire;
      const head = first?.head.toLowerCase() ?? '';
      expect(head).toMatch(new RegExp(`^post ${endpoint.defaultPath} http/1.1`));
      for (const line of ['authorization: bearer k', 'x-own: 1', 'x-request-id: bench-0'])
        expect(head).toContain(line);
      if (first) await given.request(first);
    });

    it('reads a good reply', async () => {
      const { seen } = await run(playing(good));
      expect(seen.outcome).toEqual({ ok: true });
      expect(seen).toMatchObject(given.expected);
      const [attempt] = seen.attempts;
      const [exchange] = attempt?.exchanges ?? [];
      const times = [attempt?.sendMs ?? 0, exchange?.headersMs ?? 0, exchange?.endMs ?? 0];
      expect(times).toEqual([...times].sort((a, b) => a - b));
      expect(attempt?.endMs ?? 0).toBeGreaterThanOrEqual(exchange?.endMs ?? 0);
    });

    it('does not depend on where the bytes are cut', async () => {
      const bytes = bytesOf(good);
      const sizes = bytes.length > 4000 ? [Math.ceil(bytes.length / 37)] : [1, 7, 64];
      for (const size of sizes) {
        const pieces: Buffer[] = [];
        for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
        const { seen } = await run((peer) => peer.writePieces(pieces));
        expect(seen.outcome).toEqual({ ok: true });
        expect(seen).toMatchObject(given.expected);
      }
    });

    it.each([
      ['429 Too Many Requests', '{"error":{"message":"slow down"}}'],
      ['500 Internal Server Error', 'boom'],
      ['400 Bad Request', '{"detail":"no such model"}'],
    ])('%s is a failure with status and body', async (status, body) => {
      const { seen } = await run(playing({ status, type: 'application/json', body }));
      expect(failed(seen)).toMatchObject({ kind: 'http', status: Number.parseInt(status, 10), body });
      expect(failed(seen)?.message).toContain(body);
    });

    it.each(given.hollow)('%s is no success', async (_, reply, kind) => {
      const { seen } = await run(playing(reply));
      expect(failed(seen)?.kind).toBe(kind);
      expect(failed(seen)?.status).toBe(200);
    });

    it('JSON that does not parse is malformed', async () => {
      const { seen } = await run(playing({ type: 'application/json', body: '{"data": [' }));
      expect(failed(seen)).toMatchObject({ kind: 'malformed', body: '{"data": [' });
    });

    it('an empty body is an empty reply', async () => {
      const { seen } = await run(playing({ type: good.type, body: '' }));
      expect(failed(seen)?.kind).toBe('empty');
    });

    it('a page of HTML is the wrong content type', async () => {
      const { seen } = await run(playing({ type: 'text/html', body: '<html>sign in</html>' }));
      expect(failed(seen)).toMatchObject({ kind: 'content_type', status: 200, body: '<html>sign in</html>' });
    });

    it('a reply cut in the middle is a failure', async () => {
      const bytes = bytesOf(good);
      const { seen } = await run(async (peer) => {
        await peer.writePieces([bytes.subarray(0, bytes.length - 3)]);
        peer.reset();
      });
      expect(failed(seen)?.kind).toBe('reset');
    });

    it('a connection that breaks before a byte came is a failure of one try', async () => {
      const { seen } = await run((peer) => peer.reset());
      expect(failed(seen)?.kind).toBe('reset');
      expect(seen.attempts).toHaveLength(1);
    });

    it('a silent server is a timeout', async () => {
      const { seen } = await run(() => {}, { timeoutMs: 80 });
      expect(failed(seen)?.kind).toBe('timeout');
    });

    it('a stop ends a request under way', async () => {
      const { seen } = await run((peer) => {
        peer.write(headOf('200 OK', good.type, 1000));
        setImmediate(() => bench.current.stop.stop());
      });
      expect(failed(seen)?.kind).toBe('aborted');
    });

    it('a server that is not there cannot be connected to', async () => {
      const server = await bench.current.server(() => {});
      await server.close();
      const prepared = endpoint.prepare(
        { ...exampleSample, ...given.sample },
        exampleTarget(`${server.url}${endpoint.defaultPath}`, given.target),
      );
      const seen = await bench.current.observe(endpoint, transport, prepared);
      expect(failed(seen)?.kind).toBe('connect');
    });
  });
}
