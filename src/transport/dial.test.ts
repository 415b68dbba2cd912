import { expect, test } from 'vitest';
import { answering, scriptedServer } from './contract/scripted-server.suite.ts';
import { Dialer } from './dial.ts';
import { proxyRules } from './proxy-rules.ts';
import { RouteTable } from './route.ts';

/** A name with an address that nobody answers at and one where the server is. */
test('of several addresses of a name the one that answers is used, and read into the given buffer', async () => {
  const server = await scriptedServer(answering('HTTP/1.1 200 OK\r\n\r\n'));
  const dialer = new Dialer({
    connectTimeoutMs: 5000,
    insecure: false,
    lookup: (_name, options, done) => {
      const addresses = [
        { address: '::1', family: 6 },
        { address: '127.0.0.1', family: 4 },
      ];
      process.nextTick(() => (options.all ? done(null, addresses) : done(null, '127.0.0.1', 4)));
    },
  });
  const route = new RouteTable(proxyRules({})).find(`http://model.test:${server.port}/`);
  if ('problem' in route) throw new Error(route.problem);
  const buffer = Buffer.alloc(1000);
  const read = await new Promise<string>((resolve, reject) => {
    const onread = {
      buffer,
      callback: (length: number) => {
        resolve(buffer.toString('latin1', 0, length));
        return true;
      },
    };
    dialer.dial(route, onread, (socket, problem) => {
      if (socket === null) reject(new Error(problem));
      else socket.write('GET / HTTP/1.1\r\n\r\n');
    });
  });
  expect(read).toBe('HTTP/1.1 200 OK\r\n\r\n');
  await server.close();
});

test('all addresses of a name are named when none answers', async () => {
  const gone = await scriptedServer(() => {});
  await gone.close();
  const dialer = new Dialer({
    connectTimeoutMs: 5000,
    insecure: false,
    lookup: (_name, _options, done) => {
      const addresses = ['127.0.0.1', '127.0.0.1'].map((address) => ({ address, family: 4 }));
      process.nextTick(() => done(null, addresses));
    },
  });
  const route = new RouteTable(proxyRules({})).find(`http://model.test:${gone.port}/`);
  if ('problem' in route) throw new Error(route.problem);
  const problem = await new Promise<string>((resolve) => {
    dialer.dial(route, null, (_socket, text) => resolve(text));
  });
  expect(problem).toBe(
    `no connection to model.test:${gone.port}: connect ECONNREFUSED 127.0.0.1:${gone.port}`,
  );
});
