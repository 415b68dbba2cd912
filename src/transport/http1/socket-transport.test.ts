import { describe, expect, test } from 'vitest';
import { fetchOnce, plainOptions } from '../contract/observed-exchange.suite.ts';
import { answering, scriptedServer } from '../contract/scripted-server.suite.ts';
import { transportSuite } from '../contract/transport.suite.ts';
import { socketTransport } from './socket-transport.ts';

transportSuite(socketTransport);

describe('socketTransport alone', () => {
  test('a connection is not reused within half a second of the end of its announced idle time', async () => {
    const reply = (seconds: number) =>
      `HTTP/1.1 200 OK\r\nkeep-alive: timeout=${seconds}, max=5\r\ncontent-length: 0\r\n\r\n`;
    for (const [seconds, connections] of [
      [0, 2],
      [60, 1],
    ] as const) {
      const server = await scriptedServer(answering(reply(seconds)));
      const transport = socketTransport(plainOptions);
      await fetchOnce(transport, { url: server.url });
      await fetchOnce(transport, { url: server.url });
      expect(server.connections()).toBe(connections);
      transport.close();
      await server.close();
    }
  });

  test('lines may end in a line feed alone, and header lines may be folded', async () => {
    const server = await scriptedServer(
      answering('HTTP/1.1 200 OK\nx-a: b\n  c\ntransfer-encoding: chunked\n\n5;x\nhello\n0\nt: 1\n\n'),
    );
    const transport = socketTransport(plainOptions);
    const seen = await fetchOnce(transport, { url: server.url });
    expect([seen.failure, seen.headers['x-a'], seen.body.toString()]).toEqual([null, 'b c', 'hello']);
    transport.close();
    await server.close();
  });

  test('a chunk extension without end is cut off', async () => {
    const server = await scriptedServer(
      answering(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5;${'x'.repeat(5000)}`),
    );
    const transport = socketTransport(plainOptions);
    const seen = await fetchOnce(transport, { url: server.url });
    expect(seen.failure?.kind).toBe('limit');
    transport.close();
    await server.close();
  });
});
