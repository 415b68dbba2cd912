import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { UsageError } from '../../foundation/errors.ts';
import { errorBodySchema } from '../../protocol/error-body.ts';
import { countWords, post, type TestServer, testServer, until } from '../api/wire.suite.ts';
import { type ServeOptions, serveDefaults } from '../serve-options.ts';
import { type RunningServer, startServer } from '../start-server.ts';
import { DuplexClient, miniCpmO, opening, tone } from './duplex-client.suite.ts';
import { inside } from './virtual-duplex.suite.ts';

const duplexPath = '/v1/realtime?duplex=1&autostart=0';
let folder: string;
let server: TestServer;
let clients: DuplexClient[] = [];

function scriptFile(name: string, script: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(script));
  return path;
}

function duplexServer(options: Partial<ServeOptions> = {}): Promise<TestServer> {
  return testServer({ model: miniCpmO, stageOverrides: null, timeScale: 0.01, ...options });
}

async function connected(url: string): Promise<DuplexClient> {
  const client = await DuplexClient.open(url);
  clients.push(client);
  return client;
}

async function openedAt(url: string, over: Readonly<Record<string, unknown>> = {}): Promise<DuplexClient> {
  const client = await connected(url);
  client.send(opening(over));
  await client.next('session.updated');
  return client;
}

function appendFor(client: DuplexClient, durationMs: number, amplitude?: number): void {
  for (let atMs = 0; atMs < durationMs; atMs += 200) client.append(tone(200, amplitude));
}

/** The places of what came, which must follow each other. */
function expectInOrder(client: DuplexClient): void {
  const seqs = client.events.map(({ seq }) => seq).filter((seq) => seq > 0);
  expect(seqs).toEqual(seqs.map((_, index) => (seqs[0] ?? 0) + index));
}

async function closeAll(): Promise<void> {
  for (const client of clients) {
    if (client.socket.readyState === WebSocket.OPEN) client.send({ type: 'session.close' });
    client.socket.close();
  }
  await until(() => clients.every(({ socket }) => socket.readyState === WebSocket.CLOSED));
  clients = [];
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'omnimeter-duplex-'));
  server = await duplexServer({
    duplexScript: scriptFile('main.json', {
      sessions: [{ responses: [{ at_ms: 0, text: 'One two three four.', audio_s: 4, delta_ms: 500 }] }],
    }),
  });
});
afterEach(closeAll);
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

describe('a conversation over a socket', () => {
  test('opens, hears, speaks, is acknowledged, commits and closes, everything in order', async () => {
    const client = await openedAt(server.url + duplexPath);
    appendFor(client, 1200);
    const delta = await client.next('response.output_audio.delta');
    client.send({ type: 'playback.ack', played_ms: 0, committed_ms: 0, response_id: delta.response_id });
    await client.next('playback.acknowledged');
    for (const { seq } of client.events) client.send({ type: 'session.event_ack', server_event_seq: seq });
    await client.next('response.done');
    client.append(tone(199));
    client.send({ type: 'input_audio_buffer.commit', final: true });
    const committed = await client.next('input_audio_buffer.committed');
    await client.next('response.listen', ({ seq }) => seq > committed.seq);
    client.send({ type: 'session.close' });
    expect(await client.next('session.closed')).toMatchObject({ reason: 'client_close' });
    expect(await client.closed()).toBe(1000);
    expectInOrder(client);
    expect(client.events.at(-1)?.type).toBe('session.closed');
    const audioMs = client.events
      .filter(({ type }) => type === 'response.output_audio.delta')
      .reduce((sum, event) => sum + Buffer.from(String(event.delta), 'base64').length / 48, 0);
    expect(audioMs).toBe(4000);
  });

  test('the truth log has a line for every event that left', async () => {
    const client = await openedAt(server.url + duplexPath);
    const session = String(inside(client.events[0], 'session', 'id'));
    appendFor(client, 1200);
    await client.next('response.done');
    client.send({ type: 'session.close' });
    await client.closed();
    const lines = (): ReturnType<TestServer['truth']> =>
      server.truth().filter((line) => 'session' in line && line.session === session);
    const seen = client.events.map(({ type, seq }) => [type, seq]);
    expect(lines().map((line) => [inside(line, 'type'), inside(line, 'seq')])).toEqual(seen);
    const audio = lines().filter(({ event }) => event === 'audio');
    expect(audio.reduce((sum, { samples = 0 }) => sum + samples, 0)).toBe(4 * 24000);
    const spoken = lines().filter(({ event }) => event === 'text');
    // The server of the tests counts a word as a token.
    expect(spoken.reduce((sum, { tokens = 0 }) => sum + tokens, 0)).toBe(4);
    expect(new Set(audio.map((line) => inside(line, 'response'))).size).toBe(1);
  });

  test.each([
    '/v1/realtime?duplex=true&autostart=0',
    '/v1/realtime?duplex=ON&autostart=0',
    '/v1/realtime?autostart=0',
    '/v1/duplex?autostart=0',
  ])('%s is one', async (path) => {
    const client = await openedAt(server.url + path);
    expect(client.events[0]?.type).toBe('session.created');
  });

  test('starts by itself unless told not to', async () => {
    const client = await connected(`${server.url}/v1/duplex`);
    expect(await client.next('session.created')).toMatchObject({ session: { modalities: ['text'] } });
    const quiet = await connected(`${server.url}/v1/duplex?resume=1`);
    quiet.send({ type: 'session.heartbeat' });
    expect(await quiet.next('error')).toMatchObject({ code: 'unknown_session' });
  });

  test.each(['0', 'false', 'off'])('duplex=%s asks for what this deployment has not', async (value) => {
    const client = await connected(`${server.url}/v1/realtime?duplex=${value}`);
    expect(String((await client.next('error')).message)).toContain('Realtime API is not available');
    expect(await client.closed()).toBe(1008);
  });

  test('another model is refused, a name that ends like the served one is not', async () => {
    const client = await connected(server.url + duplexPath);
    client.send(opening({ model: 'someone/else' }));
    expect(await client.next('error')).toMatchObject({ code: 'invalid_duplex_runtime_config' });
    client.send(opening({ model: '/models/MiniCPM-o-4_5' }));
    await client.next('session.created');
  });

  test('who comes back is told what was missed', async () => {
    const first = await openedAt(server.url + duplexPath);
    const created = first.events[0];
    appendFor(first, 1200);
    await first.next('response.created');
    first.terminate();
    const last = first.events.at(-1)?.seq ?? 0;
    const second = await connected(`${server.url}/v1/duplex?autostart=0&resume=1`);
    second.send({
      type: 'session.resume',
      session_id: inside(created, 'session', 'id'),
      resume_token: created?.resume_token,
      last_received_server_event_seq: last,
    });
    await second.next('session.resumed');
    await second.next('response.done');
    expectInOrder(second);
    expect(second.events.find(({ seq }) => seq > 0)?.seq).toBe(last + 1);
  });

  test('a fifth is refused, and finds a place when one has gone', async () => {
    for (let count = 0; count < 4; count += 1) await openedAt(server.url + duplexPath);
    const fifth = await connected(server.url + duplexPath);
    fifth.send(opening());
    expect(await fifth.next('error')).toMatchObject({
      code: 'resource_exhausted',
      error: 'duplex_session_capacity_exhausted: limit=4',
    });
    clients[0]?.send({ type: 'session.close' });
    await clients[0]?.closed();
    fifth.send(opening());
    await fifth.next('session.created');
  });

  test('turns can be the server’s to find', async () => {
    const client = await openedAt(server.url + duplexPath, {
      turn_detection: { type: 'server_vad' },
      extra_body: { auto_response: false },
    });
    appendFor(client, 1000, 4000);
    appendFor(client, 1000, 0);
    await client.next('response.done');
    const types = client.types();
    expect(types.indexOf('input_audio_buffer.speech_started')).toBeLessThan(
      types.indexOf('input_audio_buffer.speech_stopped'),
    );
    expect(types.indexOf('input_audio_buffer.committed')).toBeLessThan(types.indexOf('response.created'));
  });
});

describe('the deployment', () => {
  test('takes its limits from the file', async () => {
    const path = join(folder, 'one.yaml');
    writeFileSync(
      path,
      'base_config: minicpmo_4_5.yaml\nduplex_session: { max_sessions: 1, disconnect_grace_s: 0.05 }\n',
    );
    const small = await duplexServer({ deployConfig: path });
    try {
      const first = await openedAt(small.url + duplexPath);
      const second = await connected(small.url + duplexPath);
      second.send(opening());
      expect(await second.next('error')).toMatchObject({
        error: 'duplex_session_capacity_exhausted: limit=1',
      });
      first.terminate();
      for (let tries = 1; !second.types().includes('session.created'); tries += 1) {
        second.send(opening());
        await until(() => second.events.length > tries);
      }
    } finally {
      await closeAll();
      await small.close();
    }
  });

  describe('shares its places between conversations and chats', () => {
    const chat = { messages: [{ role: 'user', content: 'Hi' }], modalities: ['text'], max_tokens: 3 };
    const ask = ({ url }: RunningServer, over: object = {}, signal?: AbortSignal): Promise<Response> =>
      fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        body: JSON.stringify({ ...chat, ...over }),
        ...(signal === undefined ? {} : { signal }),
      });
    const lines: string[] = [];
    let small: RunningServer;
    beforeAll(async () => {
      const deployConfig = join(folder, 'two.yaml');
      writeFileSync(deployConfig, 'base_config: minicpmo_4_5.yaml\nduplex_session: { max_sessions: 2 }\n');
      // Real time: a long chat is still under way when it is looked at.
      const options = { ...serveDefaults, model: miniCpmO, port: 0, deployConfig, logStats: true };
      small = await startServer(options, { countTokens: countWords, logLine: (line) => lines.push(line) });
    });
    afterAll(() => small.close());

    test('which are counted, and refused to a third of either kind', async () => {
      const leaving = new AbortController();
      const long = await ask(small, { max_tokens: 1500, stream: true }, leaving.signal);
      expect(long.status).toBe(200);
      const session = await openedAt(small.url + duplexPath);
      const metrics = await (await fetch(`${small.url}/metrics`)).text();
      const labels = `{model_name="${miniCpmO}"}`;
      for (const sample of [
        `vllm_omni:num_requests_running${labels} 2`,
        `vllm_omni:num_duplex_sessions_attached${labels} 1`,
        `vllm_omni:num_duplex_chats${labels} 1`,
        `vllm_omni:duplex_max_sessions${labels} 2`,
      ])
        expect(metrics.split('\n')).toContain(sample);

      for (const stream of [false, true]) {
        const refused = await ask(small, { stream });
        expect(refused.status).toBe(503);
        expect(errorBodySchema.parse(await refused.json()).error).toMatchObject({
          code: 503,
          message: expect.stringMatching(/^duplex_session_capacity_exhausted: limit=2\. .*max_sessions/),
        });
      }
      const third = await connected(small.url + duplexPath);
      third.send(opening());
      expect(await third.next('error')).toMatchObject({ code: 'resource_exhausted' });

      leaving.abort();
      await until(() => small.stats().requests === 0);
      expect((await ask(small)).status).toBe(200);
      session.send({ type: 'session.close' });
      await session.closed();
      expect(lines.at(-1)).toMatch(/^\[OmniTiming\] req=duplex-.* responses=0 .*reason=client_close$/);
      const after = await (await fetch(`${small.url}/metrics`)).text();
      expect(after).toContain(
        'vllm_omni:duplex_refused_total{model_name="openbmb/MiniCPM-o-4_5",kind="chat"',
      );
      expect(after).toContain(`vllm_omni:num_requests_running${labels} 0\n`);
    });

    test('which a reply gives back before its client can ask again', async () => {
      const session = await openedAt(small.url + duplexPath);
      for (let turn = 0; turn < 6; turn += 1) {
        const reply = await ask(small, { stream: turn % 2 === 0 });
        expect(reply.status).toBe(200);
        await reply.text();
      }
      session.send({ type: 'session.close' });
      await session.closed();
    });

    test.each([
      ['n', { n: 2 }],
      ['logprobs', { logprobs: true }],
      ['tools', { tools: [{ type: 'function', function: { name: 'time' } }] }],
    ])('and takes no %s', async (field, over) => {
      const refused = await ask(small, over);
      expect(refused.status).toBe(400);
      expect(errorBodySchema.parse(await refused.json()).error).toMatchObject({ param: field });
    });
  });

  test('in turns answers turns, and a chat is answered either way', async () => {
    const turns = await duplexServer({ deployConfig: 'minicpmo_4_5_turn.yaml' });
    try {
      const client = await connected(`${turns.url}/v1/realtime`);
      client.send({ type: 'session.update', model: miniCpmO });
      client.send({ type: 'input_audio_buffer.append', audio: tone(400) });
      client.send({ type: 'input_audio_buffer.commit', final: true });
      await client.next('response.audio.done');
      for (const path of ['/v1/realtime?duplex=1', '/v1/duplex']) {
        const refused = await connected(turns.url + path);
        expect(String((await refused.next('error')).message)).toMatch(/speaks in turns/);
      }
      for (const { url } of [turns, server]) {
        const reply = await post(`${url}/v1/chat/completions`, {
          messages: [{ role: 'user', content: 'Hi' }],
          modalities: ['text'],
          max_tokens: 3,
        });
        expect(reply.status).toBe(200);
      }
    } finally {
      await closeAll();
      await turns.close();
    }
  });

  test('of a model that answers turns is in full duplex when so deployed', async () => {
    const omni = await testServer({ deployConfig: 'qwen3_omni_duplex.yaml', timeScale: 0.01 });
    try {
      const client = await connected(`${omni.url}/v1/duplex?autostart=0`);
      client.send({ type: 'session.update', session: { model: 'Qwen/Qwen3-Omni-30B-A3B-Instruct' } });
      expect(await client.next('session.created')).toMatchObject({
        session: { modalities: ['audio', 'text'], capabilities: { supports_turn_commit_only: true } },
      });
      appendFor(client, 400);
      client.send({ type: 'input_audio_buffer.commit', response_create: false });
      client.send({ type: 'response.create' });
      await client.next('response.done');
    } finally {
      await closeAll();
      await omni.close();
    }
  });

  test('in turns has no use for a script', async () => {
    const path = scriptFile('unused.json', {});
    await expect(testServer({ duplexScript: path })).rejects.toThrow(UsageError);
  });

  test('says that it stops', async () => {
    const stopping = await duplexServer();
    const client = await openedAt(stopping.url + duplexPath);
    await stopping.close();
    expect(await client.next('session.closed')).toMatchObject({ reason: 'shutdown' });
    await client.closed();
  });

  test('asks for its key', async () => {
    const locked = await duplexServer({ apiKeys: ['secret'] });
    try {
      const client = await connected(locked.url + duplexPath);
      await client.closed();
      expect(client.events).toEqual([]);
    } finally {
      await locked.close();
    }
  });
});

describe('faults of --fault', () => {
  async function conversation(fault: string): Promise<DuplexClient> {
    const faulty = await duplexServer({
      faults: [fault],
      duplexScript: scriptFile('faulty.json', {
        sessions: [{ responses: [{ at_ms: 0, text: 'One two.', audio_s: 2 }] }],
      }),
    });
    try {
      const client = await connected(faulty.url + duplexPath);
      client.send(opening());
      appendFor(client, 1200);
      const ends = ['rate_limits.updated', 'error'];
      await until(
        () =>
          client.types().some((type) => ends.includes(type)) || client.socket.readyState === WebSocket.CLOSED,
      );
      return client;
    } finally {
      await faulty.close();
    }
  }

  test('reset, error-event', async () => {
    const reset = await conversation('reset:4');
    expect(reset.events).toHaveLength(4);
    expect(await reset.closed()).toBe(1006);
    const failed = await conversation('error-event:4');
    expect(failed.events).toHaveLength(5);
    expect(failed.events.at(-1)).toMatchObject({ type: 'error', code: 'engine_error' });
    expect(await failed.closed()).toBe(1011);
  });

  test('429, 500', async () => {
    expect((await conversation('429')).events[0]).toMatchObject({
      type: 'error',
      code: 'resource_exhausted',
    });
    expect((await conversation('500')).events[0]).toMatchObject({ type: 'error', code: 'internal_error' });
  });

  test('bad-base64, wrong-rate, empty', async () => {
    const broken = (await conversation('bad-base64')).events.find(
      ({ type }) => type === 'response.output_audio.delta',
    );
    expect(broken?.delta).not.toMatch(/^[A-Za-z0-9+/=]*$/);
    const wrong = (await conversation('wrong-rate:8000')).events.find(
      ({ type }) => type === 'response.output_audio.delta',
    );
    expect(wrong?.sample_rate_hz).toBe(8000);
    const empty = await conversation('empty');
    expect(empty.types().filter((type) => type.endsWith('.delta'))).toEqual([]);
    expect(empty.types()).toContain('response.done');
  });

  test('stall, slow-headers, dead-replica', async () => {
    const stalled = await conversation('stall:4:20');
    expect(stalled.types()).toContain('response.done');
    const slow = await conversation('slow-headers:20');
    expect(slow.types()).toContain('response.done');
    const dead = await conversation('dead-replica:0');
    expect(dead.events.find(({ type }) => type === 'response.done')).toMatchObject({
      response: { status: 'failed' },
    });
  });
});

describe('under attack', () => {
  test('a session goes on while others send what is too large, broken, unknown, too much, or leave', async () => {
    const good = await openedAt(server.url + duplexPath);
    const huge = await openedAt(server.url + duplexPath);
    huge.append('A'.repeat(17 * 1024 * 1024));
    expect(await huge.next('error')).toMatchObject({ error: { code: 'event_too_large' } });
    huge.send('x'.repeat(65 * 1024 * 1024));
    expect(await huge.closed()).toBe(1009);

    const broken = await openedAt(server.url + duplexPath);
    const flood = 10_000;
    for (let count = 0; count < flood; count += 1) {
      if (count % 4 === 0) broken.append('*broken*');
      else if (count % 4 === 1) broken.send({ type: `unknown.${count}` });
      else if (count % 4 === 2) broken.send('{"type":');
      else broken.send({ type: 'conversation.item.create', item: { id: 'x'.repeat(300), content: [] } });
      if (count % 500 === 0) good.append(tone(200));
    }
    // Half-open and half-sent conversations.
    for (let count = 0; count < 50; count += 1) {
      const leaving = await DuplexClient.open(server.url + duplexPath);
      leaving.send(opening());
      leaving.append(tone(200));
      leaving.terminate();
    }
    for (let count = 0; count < 6; count += 1) good.append(tone(200));
    await good.next('response.done');
    good.send({ type: 'session.heartbeat' });
    await good.next('session.heartbeat_ack');
    expectInOrder(good);
    expect(good.types()).not.toContain('error');

    broken.send({ type: 'session.heartbeat' });
    await broken.next('session.heartbeat_ack');
    const codes = broken.events
      .filter(({ type }) => type === 'error')
      .map((event) => inside(event, 'error', 'code'));
    // Every event was refused by itself, or is among those whose number is told.
    const dropped = broken.events
      .map((event) => /^(\d+) events were dropped/.exec(String(inside(event, 'error', 'message')))?.[1])
      .reduce((sum, count) => sum + Number(count ?? 0), 0);
    const single = codes.filter((code) => code !== 'input_backpressure').length;
    expect(single + dropped).toBeGreaterThanOrEqual(flood - 8);
    expect(new Set(codes.filter((code) => code !== 'input_backpressure'))).toEqual(
      new Set(['bad_audio', 'unknown_event', 'invalid_json', 'bad_event']),
    );
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
  });
});
