import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { chunksOf, eventsOf, post, type TestServer, testServer, until } from './wire.suite.ts';

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function started(...args: Parameters<typeof testServer>): Promise<TestServer> {
  const server = await testServer(...args);
  servers.push(server);
  return server;
}

const messages = [{ role: 'user', content: 'hello' }];
/** Goes on for minutes, with a first token at once. */
const endless = {
  0: { ttft: { baseMs: 1, perInputTokenMs: 0 }, step: { nativeMs: 5 }, batchSlope: 0 },
  1: { ttft: { baseMs: 5 }, step: { nativeMs: 1 }, batchSlope: 0, length: [4000] },
};

function idle(server: TestServer): boolean {
  const { requests, stages, payloadsInFlight } = server.stats();
  const busy = stages.reduce((sum, stage) => sum + stage.running + stage.waiting + stage.waitingForChunk, 0);
  return requests + busy + payloadsInFlight === 0;
}

function rawRequest(
  body: unknown,
  { path = '/v1/chat/completions', version = '1.1', headers = '' } = {},
): string {
  const text = JSON.stringify(body);
  return `POST ${path} HTTP/${version}\r\nhost: localhost\r\ncontent-length: ${text.length}\r\n${headers}\r\n${text}`;
}

function readAll(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    socket.setEncoding('latin1');
    socket.on('data', (piece) => {
      text += piece;
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });
}

describe('a client that goes away', () => {
  test.each([
    ['while text streams', { stream: true, max_tokens: 2000 }, 1],
    ['before the first byte of a whole reply', { stream: false, max_tokens: 2000 }, 0],
  ])('frees every stage %s', async (_when, options, readFirst) => {
    const server = await started({ stageOverrides: endless });
    const stop = new AbortController();
    const sent = fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-request-id': 'gone' },
      body: JSON.stringify({ messages, ...options }),
      signal: stop.signal,
    });
    sent.catch(() => {});
    await until(() => server.stats().stages[0]?.running === 1);
    if (readFirst === 1) await (await sent).body?.getReader().read();
    stop.abort();
    await until(() => idle(server));
    expect(
      server
        .truth()
        .filter(({ id }) => id === 'gone')
        .at(-1)?.event,
    ).toBe('abort');
  });

  test('leaves the others alone, at whatever moment it goes', async () => {
    const server = await started({ stageOverrides: endless });
    const survivor = post(`${server.url}/v1/chat/completions`, {
      messages,
      stream: true,
      modalities: ['text'],
      max_tokens: 80,
    });
    const gone = Array.from({ length: 40 }, (_, index) => {
      const stop = new AbortController();
      const sent = fetch(`${server.url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify({ messages, stream: true, max_tokens: 2000 }),
        signal: stop.signal,
      })
        .then((response) => response.text())
        .catch(() => 'aborted');
      setTimeout(() => stop.abort(), index * 5);
      return sent;
    });
    const chunks = await chunksOf(await survivor);
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('length');
    expect(new Set(await Promise.all(gone))).toEqual(new Set(['aborted']));
    await until(() => idle(server));
  });
});

describe('a connection', () => {
  test('is used again after a streamed reply', async () => {
    const server = await started();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const once = (): Promise<{ text: string; port: number | undefined }> =>
      new Promise((resolve, reject) => {
        const request = httpRequest(
          `${server.url}/v1/chat/completions`,
          { method: 'POST', agent },
          (reply: IncomingMessage) => {
            let text = '';
            const port = reply.socket.localPort;
            reply.on('data', (bytes: Buffer) => {
              text += bytes.toString();
            });
            reply.on('end', () => resolve({ text, port }));
          },
        );
        request.on('error', reject);
        request.end(JSON.stringify({ messages, stream: true, max_tokens: 3 }));
      });
    const first = await once();
    const second = await once();
    agent.destroy();
    expect(first.text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(second.text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(second.port).toBe(first.port);
  });

  test('may carry a second request before the first has its reply', async () => {
    const server = await started();
    const socket = connect(server.port, '127.0.0.1');
    const all = readAll(socket);
    const body = { messages, stream: true, modalities: ['text'], max_tokens: 3 };
    socket.write(rawRequest(body, { headers: 'x-request-id: a\r\n' }));
    socket.write(rawRequest(body, { headers: 'x-request-id: b\r\nconnection: close\r\n' }));
    const replies = (await all).split('HTTP/1.1 200 OK').slice(1);
    expect(replies).toHaveLength(2);
    for (const [index, id] of ['a', 'b'].entries()) {
      expect(replies[index]).toContain(`"id":"chatcmpl-${id}"`);
      expect(replies[index]?.match(/data: /g)).toHaveLength(1 + 3 + 1);
      expect(replies[index]?.endsWith('0\r\n\r\n')).toBe(true);
    }
  });

  test('of HTTP/1.0 gets the events without chunks', async () => {
    const server = await started();
    const socket = connect(server.port, '127.0.0.1');
    const all = readAll(socket);
    socket.write(
      rawRequest({ messages, stream: true, modalities: ['text'], max_tokens: 3 }, { version: '1.0' }),
    );
    const [head, body = ''] = (await all).split('\r\n\r\n');
    expect(head).not.toMatch(/transfer-encoding/i);
    const events = body.split('\n\n').filter((event) => event !== '');
    expect(events).toHaveLength(1 + 3 + 1);
    for (const event of events) expect(event).toMatch(/^data: /);
  });
});

describe('a server', () => {
  test('that closes ends open streams with an error event and refuses new ones', async () => {
    const server = await testServer({ stageOverrides: endless });
    const response = await post(`${server.url}/v1/chat/completions`, {
      messages,
      stream: true,
      max_tokens: 2000,
    });
    const events = eventsOf(response);
    await server.close();
    const last = (await events).slice(-2);
    expect(JSON.parse(last[0] ?? '').error).toMatchObject({ code: 503, type: 'ServiceUnavailableError' });
    expect(last[1]).toBe('[DONE]');
    await expect(fetch(`${server.url}/health`)).rejects.toThrow();
  });

  test('keeps the promise of its name and port', async () => {
    const server = await started({ model: '/home/models/Qwen/Qwen3-Omni-30B-A3B-Instruct' });
    const list = await (await fetch(`${server.url}/v1/models`)).json();
    expect(list).toMatchObject({
      object: 'list',
      data: [
        {
          id: '/home/models/Qwen/Qwen3-Omni-30B-A3B-Instruct',
          object: 'model',
          max_model_len: 65536,
          parent: null,
        },
      ],
    });
    for (const model of [
      undefined,
      'Qwen3-Omni-30B-A3B-Instruct',
      'Qwen/Qwen3-Omni-30B-A3B-Instruct',
      '/home/models/Qwen/Qwen3-Omni-30B-A3B-Instruct',
    ]) {
      const response = await post(`${server.url}/v1/completions`, { model, prompt: 'a', max_tokens: 1 });
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ model: '/home/models/Qwen/Qwen3-Omni-30B-A3B-Instruct' });
    }
    const port = server.port;
    await expect(testServer({ port })).rejects.toThrow(/EADDRINUSE/);
  });

  test('serves under a name of its own, whatever its letters', async () => {
    const server = await started({ servedModelName: 'Sprachmodell-Ü' });
    const response = await post(`${server.url}/v1/chat/completions`, {
      model: 'Sprachmodell-Ü',
      messages,
      stream: true,
      modalities: ['text'],
      max_tokens: 2,
    });
    const chunks = await chunksOf(response);
    expect(chunks[0]?.model).toBe('Sprachmodell-Ü');
    const other = await post(`${server.url}/v1/completions`, {
      model: 'Qwen/Qwen3-Omni-30B-A3B-Instruct',
      prompt: 'a',
    });
    expect(other.status).toBe(404);
  });
});
