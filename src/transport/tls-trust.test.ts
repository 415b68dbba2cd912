import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { answering, scriptedServer } from './contract/scripted-server.suite.ts';
import { proxyScript } from './contract/secure.suite.ts';

const here = (path: string): string => new URL(path, import.meta.url).href;

/** Trusted certificates are read when a process starts, so this needs a process of its own. */
test('a certificate from NODE_EXTRA_CA_CERTS is accepted, for the names in it only', async () => {
  const server = await scriptedServer(answering('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi'), {
    tls: true,
  });
  // The proxy leads every name to this machine.
  const proxy = await scriptedServer(proxyScript([]));
  const client = `
    import { transports } from '${here('./select-transport.ts')}';
    import { fetchOnce, plainOptions } from '${here('./contract/observed-exchange.suite.ts')}';
    const results = [];
    for (const make of Object.values(transports)) {
      const transport = make({ ...plainOptions, env: { https_proxy: '${proxy.url}', no_proxy: 'localhost,127.0.0.1' } });
      for (const host of ['localhost', '127.0.0.1', 'other.test']) {
        const seen = await fetchOnce(transport, { url: 'https://' + host + ':${server.port}/' });
        results.push(seen.failure?.message ?? seen.body.toString());
      }
      transport.close();
    }
    console.log(JSON.stringify(results));`;
  const certificate = fileURLToPath(new URL('./contract/__fixtures__/localhost-cert.pem', import.meta.url));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '--eval', client],
    { env: { ...process.env, NODE_EXTRA_CA_CERTS: certificate } },
  );
  const wrongName = expect.stringMatching(/other\.test.*use a name that the certificate is for/s);
  expect(JSON.parse(stdout)).toEqual(['hi', 'hi', wrongName, 'hi', 'hi', wrongName]);
  await proxy.close();
  await server.close();
});
