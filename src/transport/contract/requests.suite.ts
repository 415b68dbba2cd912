import { describe, expect, test } from 'vitest';
import type { SuiteContext } from './observed-exchange.suite.ts';
import { fetchOnce } from './observed-exchange.suite.ts';
import { answering, scriptedServer, type WireRequest } from './scripted-server.suite.ts';

const empty = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';

/** The headers of a request in order, names in lower case. */
function headersOf(request: WireRequest | undefined): [string, string][] {
  return (request?.lines ?? []).slice(1).map((line) => {
    const colon = line.indexOf(': ');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 2)];
  });
}

export function requestCases({ create }: SuiteContext): void {
  /** What the server sees of one request. */
  async function sent(
    request: Partial<Parameters<typeof fetchOnce>[1]> & { path?: string },
    options: Parameters<typeof create>[0] = {},
  ): Promise<{ request: WireRequest; port: number; seen: Awaited<ReturnType<typeof fetchOnce>> }> {
    const requests: WireRequest[] = [];
    const server = await scriptedServer(async (peer) => {
      for (let got = await peer.request(); got !== null; got = await peer.request()) {
        requests.push(got);
        peer.write(empty);
      }
    });
    const transport = create(options);
    const { path = '/', ...rest } = request;
    const seen = await fetchOnce(transport, { url: `http://127.0.0.1:${server.port}${path}`, ...rest });
    transport.close();
    await server.close();
    const [first] = requests;
    if (first === undefined) throw new Error(`nothing was sent: ${seen.failure?.message}`);
    return { request: first, port: server.port, seen };
  }

  describe('requests on the wire', () => {
    test('a POST has our headers, then the given ones in order, then the body', async () => {
      const { request, port, seen } = await sent({
        method: 'POST',
        path: '/v1/chat?a=b%20c',
        headers: [
          ['Content-Type', 'application/json'],
          ['Authorization', 'Bearer k'],
          ['X-Twice', '1'],
          ['X-Twice', '2'],
        ],
        body: Buffer.from('{"a":"é"}'),
      });
      expect(request.lines[0]).toBe('POST /v1/chat?a=b%20c HTTP/1.1');
      const headers = headersOf(request);
      expect(headers.filter(([name]) => /^(content-type|authorization|x-twice)$/.test(name))).toEqual([
        ['content-type', 'application/json'],
        ['authorization', 'Bearer k'],
        ['x-twice', '1'],
        ['x-twice', '2'],
      ]);
      expect(Object.fromEntries(headers)).toMatchObject({
        host: `127.0.0.1:${port}`,
        'content-length': '10',
        'accept-encoding': 'identity',
        connection: 'keep-alive',
      });
      expect(headers).toHaveLength(8);
      expect(request.body.toString()).toBe('{"a":"é"}');
      expect(seen.times?.requestBytes).toBe(request.head.length + 4 + 10);
    });

    test('a GET without a body has no content-length, a POST without one has 0', async () => {
      const get = Object.fromEntries(headersOf((await sent({ method: 'GET' })).request));
      const post = Object.fromEntries(headersOf((await sent({ method: 'POST' })).request));
      expect(get).not.toHaveProperty('content-length');
      expect(get).not.toHaveProperty('transfer-encoding');
      expect(post).toHaveProperty('content-length', '0');
    });

    test('given host, connection and accept-encoding replace ours; URL credentials become a header', async () => {
      const given = await sent({
        headers: [
          ['Host', 'model.internal'],
          ['Accept-Encoding', 'gzip'],
          ['Connection', 'close'],
        ],
      });
      expect(headersOf(given.request)).toEqual([
        ['host', 'model.internal'],
        ['accept-encoding', 'gzip'],
        ['connection', 'close'],
      ]);
      const server = await scriptedServer(async (peer) => {
        const request = await peer.request();
        peer.write(
          `HTTP/1.1 200 OK\r\nx-got: ${Object.fromEntries(headersOf(request ?? undefined)).authorization}\r\ncontent-length: 0\r\n\r\n`,
        );
      });
      const transport = create();
      const seen = await fetchOnce(transport, { url: `http://us%40er:p%3Ass@127.0.0.1:${server.port}/` });
      // printf 'us@er:p:ss' | base64
      expect(seen.headers['x-got']).toBe('Basic dXNAZXI6cDpzcw==');
      transport.close();
      await server.close();
    });

    test('header values are sent as UTF-8', async () => {
      const { request } = await sent({ headers: [['x-name', 'naïve 日本']] });
      const value = Object.fromEntries(headersOf(request))['x-name'] ?? '';
      expect(Buffer.from(value, 'latin1').toString('utf8')).toBe('naïve 日本');
    });

    test('a body in shared memory is sent as it is', async () => {
      const body = new Uint8Array(new SharedArrayBuffer(100_000)).map((_, i) => i % 251);
      const shared = new Uint8Array(new SharedArrayBuffer(100_000));
      shared.set(body);
      const { request } = await sent({ method: 'POST', body: shared });
      expect(request.body.equals(Buffer.from(body))).toBe(true);
    });

    test('a body larger than any socket buffer arrives whole', async () => {
      const body = Buffer.alloc(9_000_000, 'abcdefghijk');
      const { request, seen } = await sent({ method: 'POST', body });
      expect(request.body.equals(body)).toBe(true);
      expect(seen.failure).toBeNull();
    });

    test.each([
      ['a relative URL', { url: '/v1/chat' }, /absolute URL/],
      ['another scheme', { url: 'ws://127.0.0.1/' }, /expected http:\/\//],
      ['a line break in a header', { headers: [['x-a', 'b\r\nx-c: d']] as const }, /x-a holds a line break/],
      ['a header name with a blank', { headers: [['x a', 'b']] as const }, /"x a" is not valid/],
      [
        'a content-length of its own',
        { headers: [['Content-Length', '3']] as const },
        /Content-Length is set by/,
      ],
      ['a method with a blank', { method: 'GET /' }, /no HTTP method/],
    ])('%s is refused and nothing is sent', async (_name, request, message) => {
      const server = await scriptedServer(answering(empty));
      const transport = create();
      const seen = await fetchOnce(transport, { url: server.url, ...request });
      expect(seen.calls).toEqual(['failure']);
      expect(seen.failure).toMatchObject({ kind: 'unsendable', bytesReceived: 0 });
      expect(seen.failure?.message).toMatch(message);
      expect(server.connections()).toBe(0);
      transport.close();
      await server.close();
    });

    test('localhost and an IPv6 literal are reached', async () => {
      const transport = create();
      const four = await scriptedServer(answering(empty));
      const named = await fetchOnce(transport, { url: `http://localhost:${four.port}/` });
      expect(named.failure).toBeNull();
      await four.close();
      const six = await scriptedServer(
        async (peer) => {
          const request = await peer.request();
          const host = Object.fromEntries(headersOf(request ?? undefined)).host;
          peer.write(`HTTP/1.1 200 OK\r\nx-host: ${host}\r\ncontent-length: 0\r\n\r\n`);
        },
        { host: '::1' },
      ).catch(() => null);
      // Machines without IPv6 exist.
      if (six !== null) {
        const literal = await fetchOnce(transport, { url: six.url });
        expect(literal.failure).toBeNull();
        expect(literal.headers['x-host']).toBe(`[::1]:${six.port}`);
        await six.close();
      }
      transport.close();
    });
  });
}
