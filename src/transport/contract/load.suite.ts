import { describe, expect, test } from 'vitest';
import type { SuiteContext } from './observed-exchange.suite.ts';
import { fetchOnce } from './observed-exchange.suite.ts';
import { answering, scriptedServer } from './scripted-server.suite.ts';

export function loadCases({ create }: SuiteContext): void {
  describe('load', () => {
    test('a thousand simultaneous requests each get their own reply', async () => {
      const server = await scriptedServer(async (peer) => {
        for (let got = await peer.request(); got !== null; got = await peer.request()) {
          const path = got.lines[0]?.split(' ')[1] ?? '';
          peer.write(
            `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${path.length.toString(16)}\r\n${path}\r\n`,
          );
          peer.write('0\r\n\r\n');
        }
      });
      const transport = create();
      for (let round = 0; round < 2; round += 1) {
        const paths = Array.from({ length: 1000 }, (_, i) => `/round-${round}/${i}`);
        const seen = await Promise.all(paths.map((path) => fetchOnce(transport, { url: server.url + path })));
        expect(seen.map(({ body }) => body.toString())).toEqual(paths);
      }
      expect(server.connections()).toBe(1000);
      expect(transport.stats().connectionsReused).toBe(1000);
      transport.close();
      await server.close();
    });

    test('memory does not grow with the number of requests', async () => {
      const server = await scriptedServer(answering('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi'));
      const transport = create();
      const run = async (count: number): Promise<number> => {
        for (let i = 0; i < count; i += 1) {
          await fetchOnce(transport, { url: `${server.url}/${i}`, timeoutMs: 60_000 });
        }
        globalThis.gc?.();
        return process.memoryUsage().heapUsed;
      };
      const before = await run(500);
      const after = await run(5000);
      // 1 KB kept per request would be 5 MB; without --expose-gc garbage is in the figure too.
      expect(after - before).toBeLessThan(globalThis.gc === undefined ? 60e6 : 4e6);
      expect(server.connections()).toBe(1);
      transport.close();
      await server.close();
    });
  });
}
