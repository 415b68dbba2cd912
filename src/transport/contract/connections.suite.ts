import { describe, expect, test } from 'vitest';
import type { SuiteContext } from './observed-exchange.suite.ts';
import { fetchOnce, watch } from './observed-exchange.suite.ts';
import { answering, scriptedServer } from './scripted-server.suite.ts';

const ok = 'HTTP/1.1 200 OK\r\n';
const small = `${ok}content-length: 2\r\n\r\nhi`;

export function connectionCases({ create }: SuiteContext): void {
  describe('connections', () => {
    test('one connection serves requests in a row', async () => {
      const server = await scriptedServer(answering(small));
      const transport = create();
      const reused: (boolean | undefined)[] = [];
      for (let i = 0; i < 5; i += 1) {
        const { times } = await fetchOnce(transport, { url: server.url });
        reused.push(times?.connectionReused);
        if (times?.connectionReused) expect(times.connectedMs).toBe(times.sendMs);
      }
      expect(reused).toEqual([false, true, true, true, true]);
      expect(server.connections()).toBe(1);
      expect(transport.stats()).toEqual({ connectionsOpened: 1, connectionsReused: 4, requests: 5 });
      transport.close();
      await server.close();
    });

    test('a request made in onEnd reuses the connection that just ended', async () => {
      const server = await scriptedServer(answering(small));
      const transport = create();
      const second = await new Promise<boolean>((resolve, reject) => {
        const request = { method: 'GET', url: server.url, headers: [], body: null, timeoutMs: 0 };
        const ignore = { onHeaders: () => {}, onData: () => {}, onFailure: reject };
        transport.request(request, {
          ...ignore,
          onEnd: () =>
            transport.request(request, { ...ignore, onEnd: (times) => resolve(times.connectionReused) }),
        });
      });
      expect(second).toBe(true);
      transport.close();
      await server.close();
    });

    test.each([
      ['connection: close', `${ok}connection: close\r\ncontent-length: 2\r\n\r\nhi`],
      ['HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nhi'],
      ['bytes behind the end', `${small}HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n`],
    ])('a reply with %s ends its connection', async (_name, reply) => {
      const server = await scriptedServer(answering(reply));
      const transport = create();
      for (let i = 0; i < 3; i += 1) {
        const seen = await fetchOnce(transport, { url: server.url });
        expect([seen.status, seen.body.toString()]).toEqual([200, 'hi']);
      }
      expect(server.connections()).toBe(3);
      transport.close();
      await server.close();
    });

    test('HTTP/1.0 with keep-alive is reused', async () => {
      const server = await scriptedServer(
        answering('HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nhi'),
      );
      const transport = create();
      await fetchOnce(transport, { url: server.url });
      await fetchOnce(transport, { url: server.url });
      expect(server.connections()).toBe(1);
      transport.close();
      await server.close();
    });

    test('bytes on an idle connection close it, and are no reply to the next request', async () => {
      let closed = (): void => {};
      const clientClosed = new Promise<void>((resolve) => {
        closed = resolve;
      });
      const server = await scriptedServer(async (peer) => {
        await peer.request();
        if (peer.number > 1) {
          peer.write(small);
          return;
        }
        await peer.writePieces([small, 'HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n']);
        await peer.closed();
        closed();
      });
      const transport = create();
      await fetchOnce(transport, { url: server.url });
      await clientClosed;
      const seen = await fetchOnce(transport, { url: server.url });
      expect(seen.status).toBe(200);
      expect(server.connections()).toBe(2);
      transport.close();
      await server.close();
    });

    test('a reused connection that closes before any byte is replaced once, unseen by the caller', async () => {
      const server = await scriptedServer(async (peer) => {
        await peer.request();
        peer.write(small);
        if (peer.number === 1) {
          // The second request reaches a server that has just decided to close.
          await peer.request();
          peer.socket.destroy();
        }
      });
      const transport = create();
      await fetchOnce(transport, { url: server.url });
      const seen = await fetchOnce(transport, {
        url: server.url,
        method: 'POST',
        body: Buffer.from('again'),
      });
      expect(seen.calls).toEqual(['headers', 'data', 'end']);
      expect(seen.times?.connectionReused).toBe(false);
      expect(server.connections()).toBe(2);
      transport.close();
      await server.close();
    });

    test('one of several stale connections is replaced by a fresh one, not by another of them', async () => {
      const server = await scriptedServer(async (peer) => {
        await peer.request();
        peer.write(small);
        if (peer.number <= 3) {
          await peer.request();
          peer.socket.destroy();
        }
      });
      const transport = create();
      await Promise.all(Array.from({ length: 3 }, () => fetchOnce(transport, { url: server.url })));
      expect(server.connections()).toBe(3);
      const seen = await fetchOnce(transport, { url: server.url });
      expect([seen.failure, server.connections()]).toEqual([null, 4]);
      transport.close();
      await server.close();
    });

    test.each([
      ['end', 'reset'],
      ['reset', 'reset'],
    ] as const)('a fresh connection that closes (%s) before any byte is not replaced', async (way, kind) => {
      const server = await scriptedServer(async (peer) => {
        await peer.request();
        peer[way]();
      });
      const transport = create();
      const seen = await fetchOnce(transport, { url: server.url });
      expect(seen.failure).toMatchObject({ kind, bytesReceived: 0 });
      expect(server.connections()).toBe(1);
      transport.close();
      await server.close();
    });

    test('the connection that replaces a stale one is not replaced again', async () => {
      const server = await scriptedServer(async (peer) => {
        await peer.request();
        if (peer.number === 1) {
          peer.write(small);
          await peer.request();
        }
        peer.end();
      });
      const transport = create();
      await fetchOnce(transport, { url: server.url });
      const seen = await fetchOnce(transport, { url: server.url });
      expect(seen.failure).toMatchObject({ kind: 'reset', bytesReceived: 0 });
      expect(server.connections()).toBe(2);
      transport.close();
      await server.close();
    });

    test('a reused connection that closes inside the reply is a failure', async () => {
      const server = await scriptedServer(async (peer) => {
        await peer.request();
        peer.write(small);
        await peer.request();
        await peer.writePieces(['HTTP/1.1 20']);
        peer.end();
      });
      const transport = create();
      await fetchOnce(transport, { url: server.url });
      const seen = await fetchOnce(transport, { url: server.url });
      expect(seen.failure).toMatchObject({ kind: 'reset', bytesReceived: 11 });
      expect(server.connections()).toBe(1);
      transport.close();
      await server.close();
    });

    test('a reply before the request was taken is reported, and its connection not reused', async () => {
      const server = await scriptedServer(async (peer) => {
        peer.socket.pause();
        peer.write('HTTP/1.1 413 Too Large\r\ncontent-length: 3\r\n\r\nbig');
      });
      const transport = create();
      const body = Buffer.alloc(30_000_000);
      for (let i = 0; i < 2; i += 1) {
        const seen = await fetchOnce(transport, { url: server.url, method: 'POST', body });
        expect([seen.status, seen.body.toString()]).toEqual([413, 'big']);
      }
      expect(server.connections()).toBe(2);
      transport.close();
      await server.close();
    });

    test('newConnectionPerRequest opens one each and says so to the server', async () => {
      const heads: string[] = [];
      const server = await scriptedServer(async (peer) => {
        for (let got = await peer.request(); got !== null; got = await peer.request()) {
          heads.push(got.head);
          peer.write(small);
        }
      });
      const transport = create({ newConnectionPerRequest: true });
      for (let i = 0; i < 3; i += 1) await fetchOnce(transport, { url: server.url });
      expect(server.connections()).toBe(3);
      expect(heads.every((head) => /^connection: close$/im.test(head))).toBe(true);
      expect(transport.stats().connectionsReused).toBe(0);
      transport.close();
      await server.close();
    });

    test.each([1, 3])('maxConnections %d holds the rest back', async (maxConnections) => {
      const order: string[] = [];
      let open = 0;
      let most = 0;
      const server = await scriptedServer(async (peer) => {
        for (let got = await peer.request(); got !== null; got = await peer.request()) {
          open += 1;
          most = Math.max(most, open);
          order.push(got.lines[0]?.split(' ')[1] ?? '');
          await peer.writePieces([ok, 'content-length: 2\r\n\r\n', 'h']);
          open -= 1;
          peer.write('i');
        }
      });
      const transport = create({ maxConnections });
      const paths = Array.from({ length: 12 }, (_, i) => `/${i}`);
      const seen = await Promise.all(paths.map((path) => fetchOnce(transport, { url: server.url + path })));
      expect(seen.every(({ failure }) => failure === null)).toBe(true);
      expect(most).toBe(maxConnections);
      expect(server.connections()).toBe(maxConnections);
      // First come, first served; connections opened at the same moment may be accepted in any order.
      if (maxConnections === 1) expect(order).toEqual(paths);
      // Waiting for a connection is not part of the exchange.
      const sends = seen.map(({ times }) => times?.sendMs ?? 0);
      expect(sends).toEqual(sends.toSorted((a, b) => a - b));
      expect(sends[11]).toBeGreaterThanOrEqual(seen[0]?.times?.endMs ?? Number.POSITIVE_INFINITY);
      transport.close();
      await server.close();
    });

    test('maxConnections is counted per origin, and a failed or aborted exchange gives its place back', async () => {
      let reach = (): void => {};
      const second = new Promise<void>((resolve) => {
        reach = resolve;
      });
      const silent = await scriptedServer(async (peer) => {
        await peer.request();
        if (peer.number === 2) reach();
      });
      const server = await scriptedServer(answering(small));
      const transport = create({ maxConnections: 1 });
      const stuck = watch(transport, { url: silent.url });
      const waiting = watch(transport, { url: silent.url });
      const later = watch(transport, { url: silent.url });
      expect((await fetchOnce(transport, { url: server.url })).status).toBe(200);
      waiting.call.abort();
      expect((await waiting.done).failure?.kind).toBe('aborted');
      stuck.call.abort();
      await second;
      later.call.abort();
      expect((await later.done).times?.connectedMs).not.toBeNull();
      expect(silent.connections()).toBe(2);
      transport.close();
      await server.close();
      await silent.close();
    });

    test('close() ends open exchanges and idle connections, and refuses new requests', async () => {
      const server = await scriptedServer(async (peer) => {
        await peer.request();
        peer.write(peer.number === 1 ? small : `${ok}content-length: 2\r\n\r\n`);
        await peer.closed();
      });
      const transport = create();
      const idle = watch(transport, { url: server.url });
      await idle.done;
      const connecting = watch(transport, { url: server.url });
      transport.close();
      expect((await connecting.done).failure?.kind).toBe('aborted');
      expect((await fetchOnce(transport, { url: server.url })).failure?.kind).toBe('aborted');
      await server.close();
    });
  });
}
