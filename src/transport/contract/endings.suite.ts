import { afterEach, describe, expect, test, vi } from 'vitest';
import type { TransportErrorKind } from '../transport.ts';
import type { SuiteContext } from './observed-exchange.suite.ts';
import { fetchOnce, watch } from './observed-exchange.suite.ts';
import type { Script } from './scripted-server.suite.ts';
import { answering, scriptedServer } from './scripted-server.suite.ts';

const ok = 'HTTP/1.1 200 OK\r\n';
const chunked = `${ok}transfer-encoding: chunked\r\n\r\n`;

/** Answers once with pieces, then ends or resets the connection, or leaves it open. */
function once(pieces: readonly string[], after: 'end' | 'reset' | 'stay'): Script {
  return async (peer) => {
    await peer.request();
    await peer.writePieces(pieces);
    if (after !== 'stay') peer[after]();
  };
}

/** Sends headers or the like for ever, as fast as they are taken. */
function flooding(start: string, more: string): Script {
  return async (peer) => {
    await peer.request();
    peer.write(start);
    while (!peer.socket.destroyed) await peer.writePieces([more]);
  };
}

const broken: [name: string, script: Script, kind: TransportErrorKind, message: RegExp][] = [
  ['a close inside the headers', once([`${ok}content-le`], 'end'), 'reset', /headers/],
  [
    'a close inside a body of known length',
    once([`${ok}content-length: 5\r\n\r\n`, 'hel'], 'end'),
    'reset',
    /body/,
  ],
  ['a close between chunks', once([`${chunked}3\r\nhel\r\n`], 'end'), 'reset', /chunk|body/],
  [
    'a close before the last chunk is complete',
    once([`${chunked}3\r\nhel\r\n0\r\n`], 'end'),
    'reset',
    /chunk|body/,
  ],
  [
    'a reset inside a body',
    once([`${ok}content-length: 5\r\n\r\n`, 'hel'], 'reset'),
    'reset',
    /ECONNRESET|body/,
  ],
  [
    'a reset inside a body that lasts until the close',
    once([`${ok}\r\nhel`], 'reset'),
    'reset',
    /ECONNRESET|body/,
  ],
  ['another protocol', once(['SSH-2.0-OpenSSH_9.2\r\n'], 'stay'), 'malformed', /HTTP/],
  ['binary garbage', once(['\x15\x03\x01\x00\x02\x02\x46'], 'stay'), 'malformed', /HTTP/],
  ['HTTP/2', once(['HTTP/2 200 OK\r\n\r\n'], 'stay'), 'malformed', /HTTP/],
  ['a status that is no number', once(['HTTP/1.1 abc OK\r\n\r\n'], 'stay'), 'malformed', /HTTP/],
  ['a status of two digits', once(['HTTP/1.1 20 OK\r\n\r\n'], 'stay'), 'malformed', /HTTP/],
  ['a header line without a colon', once([`${ok}nonsense\r\n\r\n`], 'stay'), 'malformed', /HTTP|nonsense/],
  ['a blank in a header name', once([`${ok}a b: c\r\n\r\n`], 'stay'), 'malformed', /HTTP|a b/],
  ['a control character in a header', once([`${ok}a: b\x01c\r\n\r\n`], 'stay'), 'malformed', /HTTP|header/],
  [
    'a negative content-length',
    once([`${ok}content-length: -5\r\n\r\nhello`], 'stay'),
    'malformed',
    /[Cc]ontent-[Ll]ength/,
  ],
  [
    'a content-length that is no number',
    once([`${ok}content-length: 5x\r\n\r\nhello`], 'stay'),
    'malformed',
    /[Cc]ontent-[Ll]ength/,
  ],
  [
    'a content-length beyond all numbers',
    once([`${ok}content-length: 99999999999999999999\r\n\r\nhi`], 'stay'),
    'malformed',
    /[Cc]ontent-[Ll]ength/,
  ],
  [
    'two content-lengths',
    once([`${ok}content-length: 5\r\ncontent-length: 6\r\n\r\nhello!`], 'stay'),
    'malformed',
    /[Cc]ontent-[Ll]ength/,
  ],
  [
    'content-length and chunks',
    once([`${ok}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n`], 'stay'),
    'malformed',
    /[Cc]ontent-[Ll]ength|[Tt]ransfer-[Ee]ncoding/,
  ],
  [
    'an unknown transfer-encoding',
    once([`${ok}transfer-encoding: gzip, chunked\r\n\r\n`], 'stay'),
    'malformed',
    /transfer-encoding "gzip, chunked"/,
  ],
  ['a chunk size that is no number', once([`${chunked}xyz\r\n`], 'stay'), 'malformed', /[Cc]hunk/],
  ['a negative chunk size', once([`${chunked}-1\r\n`], 'stay'), 'malformed', /[Cc]hunk/],
  ['an empty chunk size', once([`${chunked}\r\nhello\r\n`], 'stay'), 'malformed', /[Cc]hunk/],
  [
    'a chunk size beyond all numbers',
    once([`${chunked}fffffffffffffffff\r\nhello`], 'stay'),
    'malformed',
    /[Cc]hunk/,
  ],
  [
    'a chunk longer than its size',
    once([`${chunked}3\r\nhello\r\n0\r\n\r\n`], 'stay'),
    'malformed',
    /[Cc]hunk|HTTP/,
  ],
  [
    'a switch of protocols',
    once(['HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n'], 'stay'),
    'malformed',
    /protocol/,
  ],
  [
    'a compressed body',
    once([`${ok}content-encoding: gzip\r\ncontent-length: 5\r\n\r\nhello`], 'stay'),
    'malformed',
    /content-encoding: gzip.*identity/,
  ],
  ['headers without end', flooding(ok, `x-filler: ${'y'.repeat(1000)}\r\n`), 'limit', /headers.*65536/],
  ['one header line without end', flooding(`${ok}x-long: `, 'y'.repeat(4000)), 'limit', /headers.*65536/],
  ['a status line without end', flooding('HTTP/1.1 200 ', 'y'.repeat(4000)), 'limit', /headers.*65536/],
];

export function endingCases({ create }: SuiteContext): void {
  afterEach(() => {
    vi.useRealTimers();
  });

  describe('replies that cannot be read', () => {
    test.each(broken)('%s', async (_name, script, kind, message) => {
      const server = await scriptedServer(script);
      const transport = create();
      const seen = await fetchOnce(transport, { url: server.url });
      expect(seen.failure?.kind).toBe(kind);
      expect(seen.failure?.message).toMatch(message);
      expect(seen.failure?.bytesReceived).toBeGreaterThan(0);
      expect(seen.times?.endMs).not.toBeNull();
      transport.close();
      await server.close();
    });

    test('what came before the failure was reported', async () => {
      const server = await scriptedServer(once([`${chunked}3\r\nhel\r\n`, '2\r\nlo\r\nzz'], 'stay'));
      const transport = create();
      const seen = await fetchOnce(transport, { url: server.url });
      expect(seen.calls).toEqual(['headers', 'data', 'failure']);
      expect(seen.body.toString()).toBe('hello');
      expect(seen.times?.status).toBe(200);
      transport.close();
      await server.close();
    });

    test('a trailer without end is a failure of some kind, not an endless exchange', async () => {
      const server = await scriptedServer(flooding(`${chunked}0\r\n`, `x-filler: ${'y'.repeat(1000)}\r\n`));
      const transport = create();
      const seen = await fetchOnce(transport, { url: server.url });
      expect(['limit', 'malformed']).toContain(seen.failure?.kind);
      transport.close();
      await server.close();
    });
  });

  describe('connecting', () => {
    test('a refused connection', async () => {
      const gone = await scriptedServer(() => {});
      await gone.close();
      const transport = create();
      const seen = await fetchOnce(transport, { url: gone.url });
      expect(seen.calls).toEqual(['failure']);
      expect(seen.failure).toMatchObject({ kind: 'connect', bytesReceived: 0 });
      expect(seen.failure?.message).toMatch(`no connection to 127.0.0.1:${gone.port}`);
      expect(seen.failure?.message).toMatch('ECONNREFUSED');
      expect(seen.times).toMatchObject({ connectedMs: null, status: null, requestBytes: 0 });
      transport.close();
    });

    test('a connection that does not open in time', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      let accepted = (): void => {};
      const reached = new Promise<void>((resolve) => {
        accepted = resolve;
      });
      // A server that never answers the TLS handshake.
      const server = await scriptedServer(() => accepted());
      const transport = create({ connectTimeoutMs: 7000 });
      const { done, seen } = watch(transport, { url: `https://127.0.0.1:${server.port}/` });
      await reached;
      vi.advanceTimersByTime(6999);
      expect(seen.failure).toBeNull();
      vi.advanceTimersByTime(1);
      await done;
      expect(seen.failure).toMatchObject({ kind: 'connect', bytesReceived: 0 });
      expect(seen.failure?.message).toMatch('did not open within 7000 ms');
      transport.close();
      await server.close();
    });
  });

  describe('time limit', () => {
    test.each([
      ['a server that never answers', [], /8000 ms.*no reply/],
      ['headers that stop', ['HTTP/1.1 200 OK\r\nx-'], /8000 ms/],
      ['a body that stops', [`${chunked}3\r\nhel\r\n`], /8000 ms.*unfinished reply/],
    ])('%s', async (_name, pieces, message) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      let played = (): void => {};
      const stalled = new Promise<void>((resolve) => {
        played = resolve;
      });
      let closed = (): void => {};
      const clientClosed = new Promise<void>((resolve) => {
        closed = resolve;
      });
      const server = await scriptedServer(async (peer) => {
        await peer.request();
        await peer.writePieces(pieces);
        played();
        await peer.closed();
        closed();
      });
      const transport = create();
      const { done, seen } = watch(transport, { url: server.url, timeoutMs: 8000 });
      await stalled;
      vi.advanceTimersByTime(7999);
      expect(seen.failure).toBeNull();
      vi.advanceTimersByTime(1);
      await done;
      expect(seen.failure?.kind).toBe('timeout');
      expect(seen.failure?.message).toMatch(message);
      expect(seen.failure?.bytesReceived).toBe(pieces.join('').length);
      await clientClosed;
      transport.close();
      await server.close();
    });

    test('it covers connecting', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const silent = await scriptedServer(() => {});
      const transport = create();
      const { done } = watch(transport, { url: `https://127.0.0.1:${silent.port}/`, timeoutMs: 50 });
      vi.advanceTimersByTime(50);
      expect((await done).failure?.kind).toBe('timeout');
      transport.close();
      await silent.close();
    });

    test('it is over once the exchange is, also for the next one on the connection', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const server = await scriptedServer(async (peer) => {
        await peer.request();
        peer.write(`${ok}content-length: 2\r\n\r\nhi`);
        await peer.request();
        vi.advanceTimersByTime(60_000);
        peer.write(`${ok}content-length: 2\r\n\r\nhi`);
      });
      const transport = create();
      await fetchOnce(transport, { url: server.url, timeoutMs: 50 });
      expect(vi.getTimerCount()).toBe(0);
      const next = await fetchOnce(transport, { url: server.url });
      expect(next).toMatchObject({ failure: null, times: { connectionReused: true } });
      transport.close();
      await server.close();
    });

    test('a limit beyond what timers take is as good as none', async () => {
      const server = await scriptedServer(answering(`${ok}content-length: 2\r\n\r\nhi`));
      const transport = create();
      const seen = await fetchOnce(transport, { url: server.url, timeoutMs: 2 ** 40 });
      expect(seen.failure).toBeNull();
      transport.close();
      await server.close();
    });
  });

  describe('abort', () => {
    test('before the connection is open: nothing is sent', async () => {
      const requests: unknown[] = [];
      const server = await scriptedServer(async (peer) => {
        requests.push(await peer.request());
      });
      const transport = create();
      const { call, done } = watch(transport, { url: server.url });
      call.abort();
      call.abort();
      const seen = await done;
      expect(seen.calls).toEqual(['failure']);
      expect(seen.failure).toMatchObject({ kind: 'aborted', bytesReceived: 0 });
      expect(requests.filter((request) => request !== null)).toEqual([]);
      transport.close();
      await server.close();
    });

    test('while the connection is being opened: the attempt is given up', async () => {
      let reach = (): void => {};
      const reached = new Promise<void>((resolve) => {
        reach = resolve;
      });
      let close = (): void => {};
      const closed = new Promise<void>((resolve) => {
        close = resolve;
      });
      // A server that never answers the TLS handshake.
      const server = await scriptedServer(async (peer) => {
        reach();
        await peer.closed();
        close();
      });
      const transport = create();
      const { call, done } = watch(transport, { url: `https://127.0.0.1:${server.port}/` });
      await reached;
      call.abort();
      expect((await done).failure).toMatchObject({ kind: 'aborted', bytesReceived: 0 });
      await closed;
      transport.close();
      await server.close();
    });

    test.each(['onHeaders', 'onData'] as const)(
      'inside %s: the connection closes and nothing follows',
      async (hook) => {
        let closed = (): void => {};
        const clientClosed = new Promise<void>((resolve) => {
          closed = resolve;
        });
        const server = await scriptedServer(async (peer) => {
          await peer.request();
          await peer.writePieces([`${chunked}3\r\nhel\r\n2\r\nlo\r\n`, '1\r\n!\r\n0\r\n\r\n']);
          await peer.closed();
          closed();
        });
        const transport = create();
        const seen = await fetchOnce(
          transport,
          { url: server.url },
          { [hook]: (call: { abort(): void }) => call.abort() },
        );
        expect(seen.calls).toEqual(
          hook === 'onHeaders' ? ['headers', 'failure'] : ['headers', 'data', 'failure'],
        );
        expect(seen.failure?.kind).toBe('aborted');
        expect(seen.body.toString()).toBe(hook === 'onHeaders' ? '' : 'hel');
        await clientClosed;
        transport.close();
        await server.close();
      },
    );

    test('in the last read of a reply, before its end is reported, it still counts', async () => {
      const server = await scriptedServer(answering(`${ok}content-length: 2\r\n\r\nhi`));
      const transport = create();
      const seen = await fetchOnce(transport, { url: server.url }, { onData: (call) => call.abort() });
      expect(seen.failure?.kind).toBe('aborted');
      transport.close();
      await server.close();
    });

    test('after the end it does nothing, not even to the exchange that has the connection now', async () => {
      const server = await scriptedServer(answering(`${ok}content-length: 2\r\n\r\nhi`));
      const transport = create();
      const first = watch(transport, { url: server.url });
      await first.done;
      const second = watch(transport, { url: server.url });
      first.call.abort();
      expect((await second.done).failure).toBeNull();
      expect(server.connections()).toBe(1);
      transport.close();
      await server.close();
    });
  });
}
