import type { IncomingMessage } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { StopSwitch } from '../../foundation/stop-switch.ts';
import { type WsPeer, WsStand } from '../../transport/contract/web-socket-server.suite.ts';
import { createTransport } from '../../transport/select-transport.ts';
import { exampleSample, exampleTarget } from '../endpoint.suite.ts';
import type { Observation } from '../endpoint.ts';
import { openaiRealtimeDuplex } from '../openai-realtime-duplex.ts';
import { exampleLive, listen } from './virtual-session.suite.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function stand(
  play: (peer: WsPeer) => void,
  refuse?: (request: IncomingMessage) => string | null,
): Promise<WsStand> {
  const server = await WsStand.start(play, refuse);
  cleanups.push(() => server.close());
  return server;
}

function hold(url: string, stop = new StopSwitch()): Promise<Observation> {
  const transport = createTransport('socket', {
    newConnectionPerRequest: false,
    insecure: false,
    maxConnections: null,
    connectTimeoutMs: 5000,
    env: {},
  });
  cleanups.push(() => transport.close());
  const live = { ...exampleLive, pcm: new Uint8Array(32_000), durationS: 1, timeoutS: 20 };
  const prepared = openaiRealtimeDuplex.prepare(
    { ...exampleSample, live },
    exampleTarget(`${url}/v1/realtime`, { headers: [['Authorization', 'Bearer k']] }),
  );
  return openaiRealtimeDuplex.observe(prepared, { transport, timeoutMs: 0, maxLineBytes: 1 << 20, stop });
}

const failed = (seen: Observation) => (seen.outcome.ok ? null : seen.outcome);

/** Answers what a session needs; `on` hears every event. */
function polite({ socket }: WsPeer, on: (event: Record<string, unknown>) => void = () => {}): void {
  let seq = 0;
  const say = (event: Record<string, unknown>): void =>
    socket.send(JSON.stringify({ ...event, server_event_seq: ++seq }));
  socket.on('message', (data) => {
    const event = JSON.parse(data.toString());
    on(event);
    if (event.type === 'session.update') say({ type: 'session.created', session: { id: 's' } });
    if (event.type === 'input_audio_buffer.commit') {
      say({ type: 'input_audio_buffer.committed', event: {} });
      say(listen());
    }
    if (event.type === 'session.close') {
      say({ type: 'session.closed', reason: 'client_close' });
      socket.close(1000);
    }
  });
}

describe('a live session over a real socket', () => {
  it('outlives binary messages, garbage and a flood of events', async () => {
    let appends = 0;
    const server = await stand((peer) =>
      polite(peer, ({ type }) => {
        if (type !== 'input_audio_buffer.append') return;
        appends += 1;
        peer.socket.send(Buffer.from([0, 1, 2]));
        peer.socket.send('no json');
        for (let i = 0; i < 2000; i += 1) peer.socket.send(`{"type":"noise.${i}"}`);
      }),
    );
    const seen = await hold(server.url);
    expect(seen.outcome).toEqual({ ok: true });
    expect(appends).toBe(5);
    expect(seen.duplex?.warnings).toEqual([
      'ignored binary messages, which are no events: 3 bytes (the first of 5)',
      'ignored messages that are no JSON objects: "no json" (the first of 5)',
    ]);
    // Five times 2000, the commit, the decision and the end.
    expect(seen.events.timesMs).toHaveLength(10_003);
    const [exchange] = seen.attempts[0]?.exchanges ?? [];
    expect(exchange).toMatchObject({ method: 'GET', status: 101, connectionReused: false });
    expect(exchange?.requestBytes).toBeGreaterThan(32_000);
    expect(server.peers[0]?.request.headers.authorization).toBe('Bearer k');
  });

  it('is stopped at once, and says good-bye', async () => {
    const stop = new StopSwitch();
    const heard: unknown[] = [];
    const server = await stand((peer) =>
      polite(peer, ({ type }) => {
        heard.push(type);
        if (type === 'input_audio_buffer.append') stop.stop();
      }),
    );
    const closed = new Promise<number>((resolve) => {
      const look = setInterval(() => {
        const socket = server.peers[0]?.socket;
        if (!socket) return;
        clearInterval(look);
        socket.on('close', resolve);
      }, 1);
    });
    const seen = await hold(server.url, stop);
    expect(failed(seen)?.kind).toBe('aborted');
    expect(await closed).toBe(1000);
    expect(heard).toContain('session.close');
  });

  it('is refused by a status, with its body', async () => {
    const server = await stand(
      () => {},
      () => 'HTTP/1.1 401 Unauthorized\r\nContent-Length: 6\r\nConnection: close\r\n\r\nno key',
    );
    const seen = await hold(server.url);
    expect(failed(seen)).toMatchObject({
      kind: 'http',
      message: 'HTTP 401 Unauthorized: no key',
      body: 'no key',
    });
    expect(seen.duplex).toMatchObject({ serverSessionId: null, ineligibleReasons: ['case_failed'] });
  });

  it.each([
    [
      'text that is no UTF-8',
      ({ request }: WsPeer) => request.socket.write(Buffer.from([0x81, 1, 0xff])),
      'malformed',
    ],
    [
      'bytes that are no frame',
      ({ request }: WsPeer) => request.socket.write('HTTP/1.1 200 OK\r\n'),
      'malformed',
    ],
    [
      'a frame that claims more than any message has',
      ({ request }: WsPeer) => request.socket.write(Buffer.from([0x81, 127, 0, 0, 1, 0, 0, 0, 0, 0])),
      'limit',
    ],
    ['a broken connection', ({ request }: WsPeer) => request.socket.destroy(), 'reset'],
    ['a close', ({ socket }: WsPeer) => socket.close(1011, 'overload'), 'reset'],
  ] as const)('ends with %s', async (_, act, kind) => {
    const server = await stand((peer) =>
      polite(peer, ({ type }) => {
        if (type === 'input_audio_buffer.append') act(peer);
      }),
    );
    const seen = await hold(server.url);
    expect(failed(seen)?.kind).toBe(kind);
    expect(seen.duplex?.inputAudioChunks).toBeGreaterThan(0);
  });

  it('has nobody to talk to', async () => {
    const server = await WsStand.start(() => {});
    const { url } = server;
    await server.close();
    expect(failed(await hold(url))).toMatchObject({ kind: 'connect' });
  });
});
