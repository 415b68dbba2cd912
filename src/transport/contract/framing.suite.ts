import { describe, expect, test } from 'vitest';
import type { SuiteContext } from './observed-exchange.suite.ts';
import { fetchOnce } from './observed-exchange.suite.ts';
import { answering, scriptedServer } from './scripted-server.suite.ts';

const ok = 'HTTP/1.1 200 OK\r\n';

/** Replies of every framing, with what must be reported of them. */
const replies: [name: string, bytes: string, body: string][] = [
  ['content-length', `${ok}content-length: 5\r\n\r\nhello`, 'hello'],
  ['content-length: 0', `${ok}content-length: 0\r\n\r\n`, ''],
  ['one chunk', `${ok}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`, 'hello'],
  ['several chunks', `${ok}transfer-encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n`, 'hello'],
  ['no chunk', `${ok}transfer-encoding: chunked\r\n\r\n0\r\n\r\n`, ''],
  [
    'upper-case and padded sizes',
    `${ok}Transfer-Encoding: Chunked\r\n\r\n00A\r\n0123456789\r\n000\r\n\r\n`,
    '0123456789',
  ],
  [
    'chunk extensions',
    `${ok}transfer-encoding: chunked\r\n\r\n5;a=b;c="d"\r\nhello\r\n0;last\r\n\r\n`,
    'hello',
  ],
  [
    'trailers',
    `${ok}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nx-sum: 1\r\nx-time: 2\r\n\r\n`,
    'hello',
  ],
  [
    'an interim reply first',
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n${ok}content-length: 5\r\n\r\nhello`,
    'hello',
  ],
  [
    'chunk data that looks like framing',
    `${ok}transfer-encoding: chunked\r\n\r\n7\r\n0\r\n\r\n5\r\r\n0\r\n\r\n`,
    '0\r\n\r\n5\r',
  ],
];

export function framingCases({ create }: SuiteContext): void {
  describe('framing of replies', () => {
    test.each(replies)('%s, in one read', async (_name, bytes, body) => {
      const server = await scriptedServer(answering(bytes));
      const transport = create();
      const seen = await fetchOnce(transport, { url: server.url });
      expect(seen.failure).toBeNull();
      expect(seen.status).toBe(200);
      expect(seen.body.toString('latin1')).toBe(body);
      expect(seen.calls).toEqual(body === '' ? ['headers', 'end'] : ['headers', 'data', 'end']);
      expect(seen.times?.responseBytes).toBe(bytes.length);
      transport.close();
      await server.close();
    });

    test.each(replies)('%s, byte by byte', async (_name, bytes, body) => {
      const server = await scriptedServer(async (peer) => {
        await peer.request();
        await peer.writePieces([...bytes]);
      });
      const transport = create();
      const seen = await fetchOnce(transport, { url: server.url });
      expect(seen.failure).toBeNull();
      expect(seen.body.toString('latin1')).toBe(body);
      transport.close();
      await server.close();
    });

    test('a body without length lasts until the connection closes', async () => {
      const server = await scriptedServer(async (peer) => {
        await peer.request();
        await peer.writePieces([`${ok}\r\nhel`, 'lo']);
        peer.end();
      });
      const transport = create();
      const seen = await fetchOnce(transport, { url: server.url });
      expect(seen.failure).toBeNull();
      expect(seen.body.toString()).toBe('hello');
      transport.close();
      await server.close();
    });

    test.each([
      ['HEAD', `${ok}content-length: 5\r\n\r\n`, 200],
      ['GET', 'HTTP/1.1 204 No Content\r\n\r\n', 204],
      ['GET', 'HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n', 304],
      ['HEAD', `${ok}transfer-encoding: chunked\r\n\r\n`, 200],
    ])('%s answered by %j has no body', async (method, reply, status) => {
      const server = await scriptedServer(answering(reply));
      const transport = create();
      for (let i = 0; i < 2; i += 1) {
        const seen = await fetchOnce(transport, { url: server.url, method });
        expect(seen.status).toBe(status);
        expect(seen.calls).toEqual(['headers', 'end']);
      }
      expect(server.connections()).toBe(1);
      transport.close();
      await server.close();
    });

    test('reports status, reason and headers: names in lower case, repeated ones joined', async () => {
      const reply =
        'HTTP/1.1 429 Too Many Requests, Friend\r\nX-A: 1\r\nx-a:2\r\nSet-Cookie: a\r\nset-cookie: b\r\n' +
        'Age: 1\r\nAge: 2\r\nX-Latin: caf\xe9\r\nX-Empty:\r\nX-Blank: \t v w \t\r\nContent-Length: 4\r\n\r\nbusy';
      const server = await scriptedServer(answering(reply));
      const transport = create();
      const seen = await fetchOnce(transport, { url: server.url });
      expect(seen.status).toBe(429);
      expect(seen.reason).toBe('Too Many Requests, Friend');
      expect(seen.headers).toEqual({
        'x-a': '1, 2',
        'set-cookie': 'a, b',
        age: '1, 2',
        'x-latin': 'caf\xe9',
        'x-empty': '',
        'x-blank': 'v w',
        'content-length': '4',
      });
      expect(seen.body.toString()).toBe('busy');
      transport.close();
      await server.close();
    });

    test.each(['HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n', 'HTTP/1.1 200 \r\ncontent-length: 0\r\n\r\n'])(
      'a status line without a reason: %j',
      async (reply) => {
        const server = await scriptedServer(answering(reply));
        const transport = create();
        const seen = await fetchOnce(transport, { url: server.url });
        expect([seen.status, seen.reason]).toEqual([200, '']);
        transport.close();
        await server.close();
      },
    );

    test('more headers than a client usually takes are all reported', async () => {
      const lines = Array.from({ length: 2500 }, (_, i) => `x-${i}: ${i}\r\n`);
      const server = await scriptedServer(answering(`${ok}${lines.join('')}content-length: 0\r\n\r\n`));
      const transport = create();
      const seen = await fetchOnce(transport, { url: server.url });
      expect(Object.keys(seen.headers)).toHaveLength(2501);
      transport.close();
      await server.close();
    });

    test('every read has its own time, never falling, between send and end', async () => {
      const server = await scriptedServer(async (peer) => {
        await peer.request();
        await peer.writePieces([`${ok}content-length: 6\r\n\r\n`, 'ab', 'cd', 'ef']);
      });
      const transport = create();
      const { readsMs, times, headersMs } = await fetchOnce(transport, { url: server.url });
      expect(readsMs).toHaveLength(3);
      const line = [times?.sendMs, times?.connectedMs, headersMs, ...readsMs, times?.endMs].map(Number);
      expect(line).toEqual(line.toSorted((a, b) => a - b));
      expect(times?.headersMs).toBe(headersMs);
      expect(new Set(readsMs).size).toBe(3);
      transport.close();
      await server.close();
    });
  });
}
