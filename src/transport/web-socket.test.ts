import { connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { nowMs } from '../foundation/clock.ts';
import { plainOptions } from './contract/observed-exchange.suite.ts';
import { type WsPeer, WsStand } from './contract/web-socket-server.suite.ts';
import { createTransport } from './select-transport.ts';
import type {
  ExchangeTimes,
  Transport,
  TransportOptions,
  WebSocketCall,
  WebSocketEnd,
  WebSocketRequest,
} from './transport.ts';

type Seen = {
  call: WebSocketCall;
  texts: { text: string; timeMs: number }[];
  binary: number[];
  opened: Promise<void>;
  end: Promise<{ end: WebSocketEnd; times: ExchangeTimes }>;
};

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function stand(
  play: (peer: WsPeer) => void,
  refuse?: Parameters<typeof WsStand.start>[1],
): Promise<WsStand> {
  const server = await WsStand.start(play, refuse);
  cleanups.push(() => server.close());
  return server;
}

function transportOf(options: Partial<TransportOptions> = {}): Transport {
  const transport = createTransport('socket', { ...plainOptions, ...options });
  cleanups.push(() => transport.close());
  return transport;
}

function open(transport: Transport, request: Partial<WebSocketRequest> & { url: string }): Seen {
  const texts: Seen['texts'] = [];
  const binary: number[] = [];
  let call: WebSocketCall | null = null;
  let settleOpen = (): void => {};
  const opened = new Promise<void>((resolve) => {
    settleOpen = resolve;
  });
  const end = new Promise<{ end: WebSocketEnd; times: ExchangeTimes }>((resolve) => {
    call = transport.openWebSocket(
      { headers: [], openTimeoutMs: 5000, maxMessageBytes: 1 << 20, ...request },
      {
        onOpen: () => settleOpen(),
        onText: (text, timeMs) => texts.push({ text, timeMs }),
        onBinary: (bytes) => binary.push(bytes),
        onEnd: (reason, times) => resolve({ end: reason, times }),
      },
    );
  });
  if (call === null) throw new Error('nothing was opened');
  return { call, texts, binary, opened, end };
}

describe.each(['socket', 'node-http'] as const)('a WebSocket of the %s transport', (name) => {
  it('sends headers and texts, and takes texts with their time, and only the length of binary messages', async () => {
    const heard: string[] = [];
    const server = await stand(({ socket }) => {
      socket.on('message', (data) => {
        heard.push(data.toString());
        socket.send(Buffer.from([1, 2, 3]));
        socket.send('Hé 😀');
        socket.close(1000, 'bye');
      });
    });
    const transport = createTransport(name, plainOptions);
    cleanups.push(() => transport.close());
    const before = nowMs();
    const seen = open(transport, {
      url: `${server.url}/v1/realtime?a=1`,
      headers: [
        ['Authorization', 'Bearer k'],
        ['X-Own', 'ü'],
      ],
    });
    await seen.opened;
    seen.call.send('hello');
    const { end, times } = await seen.end;
    expect(heard).toEqual(['hello']);
    expect(seen.texts.map(({ text }) => text)).toEqual(['Hé 😀']);
    expect(seen.binary).toEqual([3]);
    expect(end).toEqual({ kind: 'closed', code: 1000, reason: 'bye' });
    const request = server.peers[0]?.request;
    expect(request?.url).toBe('/v1/realtime?a=1');
    expect(request?.headers).toMatchObject({
      authorization: 'Bearer k',
      host: `127.0.0.1:${server.port}`,
      'x-own': Buffer.from('ü').toString('latin1'),
    });
    const order = [
      before,
      times.sendMs,
      times.connectedMs ?? 0,
      times.headersMs ?? 0,
      seen.texts[0]?.timeMs ?? 0,
      times.endMs ?? 0,
    ];
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(times).toMatchObject({ method: 'GET', status: 101, connectionReused: false });
    expect(times.requestBytes).toBeGreaterThan(100);
    expect(transport.stats()).toMatchObject({ connectionsOpened: 1, requests: 1 });
  });
});

it('messages of one read share its time, also the read that brought the upgrade', async () => {
  const server = await stand(({ socket }) => {
    for (let i = 0; i < 5; i += 1) socket.send(String(i));
    socket.close();
  });
  const seen = open(transportOf(), { url: server.url.replace('http', 'ws') });
  await seen.end;
  expect(seen.texts.map(({ text }) => text)).toEqual(['0', '1', '2', '3', '4']);
  expect(seen.texts.every(({ timeMs }) => timeMs > 0)).toBe(true);
});

it('a refusal keeps status and body', async () => {
  const server = await stand(
    () => {},
    () => 'HTTP/1.1 403 Forbidden\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnope',
  );
  const { end } = await open(transportOf(), { url: server.url }).end;
  expect(end).toEqual({ kind: 'http', status: 403, message: 'HTTP 403 Forbidden: nope', body: 'nope' });
});

it('an answer that is no upgrade is malformed', async () => {
  const server = await stand(
    () => {},
    () =>
      'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n',
  );
  expect((await open(transportOf(), { url: server.url }).end).end.kind).toBe('malformed');
});

it('nobody there is a failure to connect', async () => {
  const server = await WsStand.start(() => {});
  const { url } = server;
  await server.close();
  const { end } = await open(transportOf(), { url }).end;
  expect(end.kind).toBe('connect');
});

it('a server that never answers the opening request is a timeout', async () => {
  const mute = createServer(() => {});
  cleanups.push(() => mute.close());
  await new Promise<void>((resolve) => {
    mute.listen(0, '127.0.0.1', resolve);
  });
  const address = mute.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const { end } = await open(transportOf(), { url: `ws://127.0.0.1:${address.port}/`, openTimeoutMs: 50 })
    .end;
  expect(end.kind).toBe('timeout');
});

it('a message above the limit, and bytes that are no frames, end it', async () => {
  const large = await stand(({ socket }) => socket.send('x'.repeat(2000)));
  const { end } = await open(transportOf(), { url: large.url, maxMessageBytes: 1000 }).end;
  expect(end.kind).toBe('limit');
  const garbage = await stand(({ request }) => request.socket.write('this is no frame at all'));
  expect((await open(transportOf(), { url: garbage.url }).end).end.kind).toBe('malformed');
});

it('a dropped connection is a reset', async () => {
  const server = await stand(({ request }) => request.socket.destroy());
  expect((await open(transportOf(), { url: server.url }).end).end.kind).toBe('reset');
});

it('can be aborted while it opens and while it is open, and with its transport', async () => {
  const server = await stand(() => {});
  const transport = transportOf();
  const early = open(transport, { url: server.url });
  early.call.abort();
  expect((await early.end).end.kind).toBe('aborted');
  const late = open(transport, { url: server.url });
  await late.opened;
  late.call.abort();
  expect((await late.end).end.kind).toBe('aborted');
  const last = open(transport, { url: server.url });
  await last.opened;
  transport.close();
  expect((await last.end).end.kind).toBe('aborted');
  expect((await open(transport, { url: server.url }).end).end.kind).toBe('aborted');
});

it('closes by the protocol', async () => {
  let code = 0;
  const server = await stand(({ socket }) =>
    socket.on('close', (given) => {
      code = given;
    }),
  );
  const seen = open(transportOf(), { url: server.url });
  await seen.opened;
  seen.call.close();
  expect((await seen.end).end).toEqual({ kind: 'closed', code: 1000, reason: '' });
  expect(code).toBe(1000);
});

it.each([
  ['another scheme', 'ftp://127.0.0.1/', []],
  ['a header with a line break', 'http://127.0.0.1:1/', [['X', 'a\nb']]],
] as const)('%s is refused before anything is sent', async (_, url, headers) => {
  expect((await open(transportOf(), { url, headers }).end).end.kind).toBe('unsendable');
});

it('goes through a proxy by a tunnel', async () => {
  const server = await stand(({ socket }) => socket.on('message', () => socket.close(1000, 'heard')));
  const asked: string[] = [];
  const proxy = createServer((client: Socket) => {
    client.once('data', (head) => {
      asked.push(head.toString().split('\r\n')[0] ?? '');
      const onward = connect(server.port, '127.0.0.1', () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n');
        client.pipe(onward).pipe(client);
      });
      onward.on('error', () => {});
    });
    client.on('error', () => {});
  });
  cleanups.push(() => proxy.close());
  await new Promise<void>((resolve) => {
    proxy.listen(0, '127.0.0.1', resolve);
  });
  const address = proxy.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const seen = open(transportOf({ env: { http_proxy: `http://127.0.0.1:${address.port}` } }), {
    url: server.url,
  });
  await seen.opened;
  seen.call.send('x');
  expect((await seen.end).end).toMatchObject({ kind: 'closed', reason: 'heard' });
  expect(asked).toEqual([`CONNECT 127.0.0.1:${server.port} HTTP/1.1`]);
});
