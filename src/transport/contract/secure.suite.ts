import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { SuiteContext } from './observed-exchange.suite.ts';
import { fetchOnce } from './observed-exchange.suite.ts';
import type { Peer, Script } from './scripted-server.suite.ts';
import { answering, scriptedServer } from './scripted-server.suite.ts';

const hi = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi';

/** A forward proxy that notes what it was asked: CONNECT opens a tunnel, anything else is answered by itself. */
export function proxyScript(
  asked: string[][],
  answer = 'HTTP/1.1 200 Connection established\r\n\r\n',
): Script {
  return async (peer: Peer) => {
    for (let got = await peer.request(); got !== null; got = await peer.request()) {
      asked.push([...got.lines]);
      const [method, authority = ''] = got.lines[0]?.split(' ') ?? [];
      if (method !== 'CONNECT') {
        peer.write(hi);
        continue;
      }
      if (!/^HTTP\/1\.1 200/.test(answer)) {
        peer.write(answer);
        peer.end();
        return;
      }
      const onward = connect(Number(authority.split(':').at(-1)), '127.0.0.1', () => {
        peer.socket.removeAllListeners('data');
        peer.write(answer);
        peer.socket.pipe(onward).pipe(peer.socket);
      });
      onward.on('error', () => peer.socket.destroy());
      return;
    }
  };
}

export function secureCases({ create }: SuiteContext): void {
  describe('TLS', () => {
    test('an unknown certificate is refused with a message that says what to do', async () => {
      const server = await scriptedServer(answering(hi), { tls: true });
      const transport = create();
      const seen = await fetchOnce(transport, { url: server.url });
      expect(seen.failure).toMatchObject({ kind: 'connect', bytesReceived: 0 });
      expect(seen.failure?.message).toMatch(/self-signed certificate.*NODE_EXTRA_CA_CERTS.*--insecure/);
      transport.close();
      await server.close();
    });

    test('insecure skips verification; the server name is sent; the connection is reused', async () => {
      const server = await scriptedServer(answering(hi), { tls: true });
      const transport = create({ insecure: true });
      for (let i = 0; i < 3; i += 1) {
        const seen = await fetchOnce(transport, { url: `https://localhost:${server.port}/` });
        expect([seen.failure, seen.body.toString()]).toEqual([null, 'hi']);
        expect(seen.times?.responseBytes).toBe(hi.length);
      }
      const byAddress = await fetchOnce(transport, { url: server.url });
      expect(byAddress.failure).toBeNull();
      expect(server.serverNames).toEqual(['localhost', null]);
      transport.close();
      await server.close();
    });

    test('large bodies pass in both directions, from shared memory too', async () => {
      const big = Buffer.alloc(3_000_000, 'abcdefg');
      const bodies: Buffer[] = [];
      const server = await scriptedServer(
        async (peer) => {
          const got = await peer.request();
          if (got !== null) bodies.push(got.body);
          peer.write(`HTTP/1.1 200 OK\r\ncontent-length: ${big.length}\r\n\r\n`);
          peer.write(big);
        },
        { tls: true },
      );
      const shared = new Uint8Array(new SharedArrayBuffer(big.length));
      shared.set(big);
      const transport = create({ insecure: true });
      const seen = await fetchOnce(transport, { url: server.url, method: 'POST', body: shared });
      expect(seen.body.equals(big)).toBe(true);
      expect(bodies[0]?.equals(big)).toBe(true);
      transport.close();
      await server.close();
    });

    test('chunks and a body that lasts until the close are read', async () => {
      const server = await scriptedServer(
        async (peer) => {
          await peer.request();
          const ok = 'HTTP/1.1 200 OK\r\n';
          const chunked = 'transfer-encoding: chunked\r\n\r\n3\r\nhel\r\n';
          await peer.writePieces(
            peer.number === 1 ? [ok + chunked, '2\r\nlo\r\n0\r', '\n\r\n'] : [ok, '\r\nhel', 'lo'],
          );
          peer.end();
        },
        { tls: true },
      );
      const transport = create({ insecure: true });
      for (let i = 0; i < 2; i += 1) {
        const seen = await fetchOnce(transport, { url: server.url });
        expect([seen.failure, seen.body.toString()]).toEqual([null, 'hello']);
      }
      expect(server.connections()).toBe(2);
      transport.close();
      await server.close();
    });

    test('https to a server without TLS, and http to one with it', async () => {
      const plain = await scriptedServer((peer) => peer.write('HTTP/1.1 400 Bad Request\r\n\r\n'));
      const secure = await scriptedServer(answering(hi), { tls: true });
      const transport = create({ insecure: true });
      const first = await fetchOnce(transport, { url: `https://127.0.0.1:${plain.port}/` });
      expect(first.failure).toMatchObject({ kind: 'connect' });
      expect(first.failure?.message).toMatch(/is it an http:\/\/ URL\?/);
      const second = await fetchOnce(transport, { url: `http://127.0.0.1:${secure.port}/` });
      expect(['malformed', 'reset']).toContain(second.failure?.kind);
      transport.close();
      await plain.close();
      await secure.close();
    });
  });

  describe('proxies', () => {
    test('http goes through http_proxy in absolute form, with credentials', async () => {
      const asked: string[][] = [];
      const proxy = await scriptedServer(proxyScript(asked));
      const transport = create({ env: { http_proxy: `http://us:p%40ss@127.0.0.1:${proxy.port}` } });
      for (let i = 0; i < 2; i += 1) {
        const seen = await fetchOnce(transport, { url: 'http://model.test:8000/v1/chat?a=b' });
        expect(seen.body.toString()).toBe('hi');
      }
      expect(proxy.connections()).toBe(1);
      expect(asked[0]?.[0]).toBe('GET http://model.test:8000/v1/chat?a=b HTTP/1.1');
      expect(asked[0]).toContain('host: model.test:8000');
      // printf 'us:p@ss' | base64
      expect(asked[0]).toContain('proxy-authorization: Basic dXM6cEBzcw==');
      transport.close();
      await proxy.close();
    });

    test.each([false, true])('https goes through a tunnel (the proxy itself over TLS: %s)', async (tls) => {
      const asked: string[][] = [];
      const heads: string[] = [];
      const server = await scriptedServer(
        async (peer) => {
          for (let got = await peer.request(); got !== null; got = await peer.request()) {
            heads.push(got.head);
            peer.write(hi);
          }
        },
        { tls: true },
      );
      const proxy = await scriptedServer(proxyScript(asked), { tls });
      const transport = create({
        insecure: true,
        env: { HTTPS_PROXY: `${tls ? 'https' : 'http'}://us:pw@127.0.0.1:${proxy.port}` },
      });
      for (let i = 0; i < 2; i += 1) {
        const seen = await fetchOnce(transport, { url: `https://localhost:${server.port}/v1` });
        expect([seen.failure, seen.body.toString()]).toEqual([null, 'hi']);
      }
      expect(asked).toEqual([
        [
          `CONNECT localhost:${server.port} HTTP/1.1`,
          `host: localhost:${server.port}`,
          // printf 'us:pw' | base64
          'proxy-authorization: Basic dXM6cHc=',
        ],
      ]);
      expect(heads[0]).toMatch(/^GET \/v1 HTTP\/1\.1\r\n/);
      expect(heads.join('')).not.toMatch(/proxy-authorization/i);
      expect(server.serverNames).toEqual(['localhost']);
      transport.close();
      await proxy.close();
      await server.close();
    });

    test('a refused tunnel, a dead proxy and an unsupported one are failures to connect', async () => {
      const refusing = await scriptedServer(
        proxyScript([], 'HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'),
      );
      const odd = await scriptedServer(proxyScript([], 'nonsense\r\n\r\n'));
      const dead = await scriptedServer(() => {});
      await dead.close();
      const through = async (proxy: string) => {
        const transport = create({ env: { all_proxy: proxy } });
        const seen = await fetchOnce(transport, { url: 'https://model.test/' });
        transport.close();
        return seen.failure;
      };
      const address = (port: number) => `127.0.0.1:${port}`;
      expect(await through(`http://${address(refusing.port)}`)).toMatchObject({
        kind: 'connect',
        message: `no connection to model.test:443 through the proxy ${address(refusing.port)}: the proxy refused the tunnel: 407 Proxy Authentication Required`,
      });
      expect((await through(`http://${address(odd.port)}`))?.message).toMatch(
        'answer to CONNECT is not HTTP',
      );
      expect((await through(address(dead.port)))?.message).toMatch('ECONNREFUSED');
      const socks = await through('socks5://127.0.0.1:1080');
      expect(socks?.kind).toBe('unsendable');
      expect(socks?.message).toMatch(/all_proxy is of the unsupported kind socks5:/);
      await refusing.close();
      await odd.close();
    });

    test('a server named in no_proxy is reached directly', async () => {
      const server = await scriptedServer(answering(hi));
      const transport = create({
        env: { http_proxy: 'http://127.0.0.1:9', NO_PROXY: 'localhost, 127.0.0.0/8' },
      });
      expect((await fetchOnce(transport, { url: server.url })).body.toString()).toBe('hi');
      transport.close();
      await server.close();
    });
  });
}
