import { once } from 'node:events';
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestServer, testServer } from './wire.suite.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer();
});
afterAll(() => server.close());

const body = JSON.stringify({ messages: [{ role: 'user', content: 'hello' }], max_tokens: 2 });

type Reply = { readonly status: number; readonly head: string; readonly body: unknown };

/** Writes bytes as they are, and reads the replies until the server closes, or so many have come. */
function raw(text: string | readonly string[], replies = 1): Promise<Reply[]> {
  const packets = [text].flat();
  return new Promise((resolve, reject) => {
    const socket = connect(server.port, '127.0.0.1', () => {
      for (const [index, packet] of packets.entries()) setTimeout(() => socket.write(packet), index * 200);
    });
    socket.setTimeout(5000, () => socket.destroy());
    let all = '';
    const read = (): Reply[] => {
      const found: Reply[] = [];
      let rest = all;
      for (;;) {
        const end = rest.indexOf('\r\n\r\n');
        const length = Number(/content-length: (\d+)/i.exec(rest.slice(0, end))?.[1] ?? Number.NaN);
        if (end < 0 || !(rest.length >= end + 4 + length)) return found;
        const head = rest.slice(0, end);
        const status = Number(head.split(' ')[1]);
        found.push({ status, head, body: JSON.parse(rest.slice(end + 4, end + 4 + length)) });
        rest = rest.slice(end + 4 + length);
      }
    };
    socket.setEncoding('utf8').on('data', (piece) => {
      all += piece;
      if (read().length === replies) socket.destroy();
    });
    socket.on('error', reject).on('close', () => resolve(read()));
  });
}

function chat(headers: string): string {
  return `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n${headers}\r\n${body}`;
}

describe('an offer of another protocol', () => {
  const h2c = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQAAP__' };
  const offer = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n';

  test.each([
    ['with its request', offer],
    ['of several protocols', 'connection: keep-alive,upgrade\r\nupgrade: TLS/1.2, foo/2\r\n'],
  ])('is declined, and the request answered: %s', async (_what, headers) => {
    const [reply] = await raw(chat(headers));
    expect(reply?.status).toBe(200);
    expect(reply?.body).toMatchObject({ object: 'chat.completion' });
  });

  test('leaves the connection to further requests, offered again or not', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const ports: unknown[] = [];
    for (const headers of [h2c, {}, h2c, h2c]) {
      const reply = await new Promise<IncomingMessage>((resolve, reject) => {
        const options = { agent, method: 'POST', headers: { ...headers, 'content-length': body.length } };
        httpRequest(`${server.url}/v1/chat/completions`, options, resolve).on('error', reject).end(body);
      });
      expect(reply.statusCode).toBe(200);
      ports.push(reply.socket.localPort);
      await once(reply.resume(), 'end');
    }
    agent.destroy();
    expect(new Set(ports).size).toBe(1);
  });

  const plain = 'GET /v1/models HTTP/1.1\r\nHost: a\r\n\r\n';
  const offered = plain.replace('\r\n\r\n', `\r\n${offer}\r\n`);
  test.each([
    ['behind another', [plain + offered, plain]],
    ['behind its like', [offered + offered, plain]],
    ['between others', [plain + offered + plain, plain]],
    ['behind a chat', [chat('') + offered, plain]],
    ['of a chat behind a chat', [chat('') + chat(offer), plain + offered]],
    ['again and again', [offered, offered, plain + offered + offered + chat(offer) + plain]],
  ])('is declined in its turn: %s', async (_what, packets) => {
    const requests = packets.join('').split(' HTTP/1.1').length - 1;
    const replies = await raw(packets, requests);
    expect(replies.map(({ status }) => status)).toEqual(new Array(requests).fill(200));
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
  });

  test('of a client that is gone before its turn leaves the server alive', async () => {
    for (let count = 0; count < 20; count += 1) {
      const socket = connect(server.port, '127.0.0.1', () => {
        socket.write(chat('') + offered);
        setTimeout(() => socket.resetAndDestroy(), count);
      });
      await once(socket, 'close');
    }
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
  });

  test('keeps what else the connection is told', async () => {
    const [reply] = await raw(chat('Connection: close, Upgrade\r\nUpgrade: h2c\r\n'), 2);
    expect(reply?.status).toBe(200);
    expect(reply?.head.toLowerCase()).toContain('connection: close');
  });

  test('with a body that comes later is read whole', async () => {
    const reply = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = httpRequest(
        `${server.url}/v1/chat/completions`,
        { method: 'POST', headers: { connection: 'Upgrade', upgrade: 'h2c', 'content-length': body.length } },
        resolve,
      );
      request.on('error', reject);
      request.flushHeaders();
      setTimeout(() => request.end(body), 50);
    });
    expect(reply.statusCode).toBe(200);
    reply.resume();
  });
});

describe('what is no request', () => {
  test.each([
    ['no HTTP', 'hello\r\n\r\n', 400],
    [
      'no number as its length',
      'POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-length: x\r\n\r\n',
      400,
    ],
    ['a head without end', `GET /health HTTP/1.1\r\nhost: a\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`, 431],
    [
      'chunks that are none',
      'POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
      400,
    ],
  ])('gets the error body that all errors have: %s', async (_what, text, status) => {
    const [reply] = await raw(text);
    expect(reply?.status).toBe(status);
    expect(reply?.body).toEqual({
      error: { message: expect.any(String), type: 'BadRequestError', param: null, code: status },
    });
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
  });
});

describe('a path', () => {
  test.each([
    ['GET', '/v1/chat/completions', 'POST'],
    ['PUT', '/v1/videos/video_1', 'GET, HEAD, DELETE'],
    ['POST', '/health', 'GET, HEAD'],
    ['DELETE', '/v1/models/a/b', 'GET, HEAD'],
    ['PATCH', '/v1/audio/voices/', 'GET, HEAD, POST'],
  ])('says what it takes in place of %s: %s', async (method, path, allow) => {
    const reply = await fetch(server.url + path, { method });
    expect(reply.status).toBe(405);
    expect(reply.headers.get('allow')).toBe(allow);
    expect(await reply.json()).toMatchObject({
      error: { code: 405, message: expect.stringContaining(method) },
    });
  });

  test.each(['/v1/chat', '/v1/videos/a/b/c', '/v1/models2'])('that there is not is 404: %s', async (path) => {
    const reply = await fetch(server.url + path);
    expect(reply.status).toBe(404);
    expect(await reply.json()).toMatchObject({ error: { code: 404 } });
  });

  test.each(['/v1/realtime', '/v1/duplex', '/v1/audio/speech/stream'])(
    'of a WebSocket says so to a plain request: %s',
    async (path) => {
      const reply = await fetch(server.url + path);
      expect(reply.status).toBe(426);
      expect(await reply.json()).toMatchObject({ error: { code: 426 } });
    },
  );
});
