import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { onePixelPng, post, type TestServer, testServer } from './wire.suite.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A host of pictures, and how often it was asked. */
async function pictures(): Promise<{ readonly port: number; asked(): number }> {
  let asked = 0;
  const host = createServer((_request, response) => {
    asked += 1;
    response.end(Buffer.from(onePixelPng, 'base64'));
  }).listen(0, '127.0.0.1');
  await once(host, 'listening');
  closing.push(() => host.close());
  const address = host.address();
  return { port: typeof address === 'object' && address !== null ? address.port : 0, asked: () => asked };
}

function ask({ url }: TestServer, picture: string): Promise<Response> {
  const content = [{ type: 'image_url', image_url: { url: picture } }];
  return post(`${url}/v1/chat/completions`, { messages: [{ role: 'user', content }], max_tokens: 1 });
}

test('media come from the allowed hosts alone', async () => {
  const host = await pictures();
  const server = await testServer({ allowedMediaDomains: ['LOCALHOST', 'example.org'] });
  closing.push(() => server.close());
  expect((await ask(server, `http://localhost:${host.port}/a.png`)).status).toBe(200);
  expect(host.asked()).toBe(1);
  for (const url of [
    `http://127.0.0.1:${host.port}/a.png`,
    `http://localhost@127.0.0.1:${host.port}/a.png`,
    `http://localhost.evil.test:${host.port}/a.png`,
  ]) {
    const refused = await ask(server, url);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      error: { message: expect.stringMatching(/fetches no media from .*--allowed-media-domains/) },
    });
  }
  expect(host.asked()).toBe(1);
});

test('all hosts are allowed unless some are named', async () => {
  const host = await pictures();
  const server = await testServer();
  closing.push(() => server.close());
  expect((await ask(server, `http://127.0.0.1:${host.port}/a.png`)).status).toBe(200);
});

test.each([301, 404, 500])('a host that answers %d is told, and nothing else happens', async (status) => {
  const host = createServer((_request, response) => {
    response.writeHead(status, { location: '/elsewhere' });
    response.write('some ');
    setTimeout(() => response.end('words'), 50);
  }).listen(0, '127.0.0.1');
  await once(host, 'listening');
  const address = host.address();
  closing.push(() => host.close());
  const server = await testServer();
  closing.push(() => server.close());
  const url = `http://name:secret@127.0.0.1:${typeof address === 'object' ? address?.port : 0}/a.png`;
  const refused = await ask(server, url);
  expect(refused.status).toBe(400);
  const text = await refused.text();
  expect(text).toContain(`answered ${status}`);
  expect(text).not.toContain('secret');
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
});

test.each(['https://example.org', 'example.org/path', 'a b', ''])('%j is no host', async (domain) => {
  await expect(testServer({ allowedMediaDomains: [domain] })).rejects.toThrow(
    /--allowed-media-domains .*not the name/,
  );
});
