import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { readWav, type TestServer, testServer, until } from './wire.suite.ts';

type Message = { readonly type?: string } & Readonly<Record<string, unknown>>;

/** A client that keeps what it gets, in order; bytes as buffers. */
class Client {
  readonly got: (Message | Buffer)[] = [];
  readonly socket: WebSocket;
  #closed = false;

  constructor(url: string, headers: Record<string, string> = {}) {
    this.socket = new WebSocket(url.replace('http', 'ws'), { headers });
    this.socket.on('message', (data, isBinary) => {
      const bytes = Buffer.isBuffer(data) ? data : Buffer.from(String(data));
      this.got.push(isBinary ? bytes : JSON.parse(bytes.toString()));
    });
    this.socket.on('close', () => {
      this.#closed = true;
    });
    this.socket.on('error', () => {});
  }

  async open(): Promise<this> {
    await until(() => this.socket.readyState === WebSocket.OPEN);
    return this;
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  messages(type: string): Message[] {
    return this.got.filter((item): item is Message => !Buffer.isBuffer(item) && item.type === type);
  }

  /** Waits for so many messages of a type. */
  async wait(type: string, count = 1): Promise<Message[]> {
    await until(() => this.messages(type).length >= count);
    return this.messages(type);
  }

  get closed(): boolean {
    return this.#closed;
  }
}

const clients: Client[] = [];
let tts: TestServer;
let omni: TestServer;
beforeAll(async () => {
  tts = await testServer({
    model: 'Qwen/Qwen3-TTS-12Hz-1.7B-CustomVoice',
    stageOverrides: null,
    timeScale: 0.002,
  });
  omni = await testServer({ apiKeys: ['secret'] });
});
afterAll(async () => {
  for (const { socket } of clients) socket.terminate();
  await tts.close();
  await omni.close();
});

async function connected(url: string, headers: Record<string, string> = {}): Promise<Client> {
  const client = new Client(url, headers);
  clients.push(client);
  return client.open();
}

describe('speech from text that arrives in pieces', () => {
  const path = '/v1/audio/speech/stream';

  test('says each sentence as soon as it is complete, in order', async () => {
    const client = await connected(tts.url + path, { 'x-request-id': 'pieces' });
    client.send({ type: 'session.config', voice: 'vivian', response_format: 'wav' });
    client.send({ type: 'input.text', text: 'One two three. Four ' });
    await client.wait('audio.done');
    client.send({ type: 'input.text', text: 'five at 3.5 meters! Six' });
    client.send({ type: 'input.done' });
    const [session] = await client.wait('session.done');
    expect(session).toMatchObject({ utterance_index: 0, total_sentences: 3 });
    expect(client.messages('audio.start').map(({ sentence_text }) => sentence_text)).toEqual([
      'One two three.',
      'Four five at 3.5 meters!',
      'Six',
    ]);
    // A start, a file, an end; three times.
    const kinds = client.got.map((item) => (Buffer.isBuffer(item) ? 'bytes' : item.type));
    const sentence = ['audio.start', 'bytes', 'audio.done'];
    expect(kinds).toEqual([...sentence, ...sentence, ...sentence, 'session.done']);
    const sounds = client.got.filter(Buffer.isBuffer);
    for (const [index, { total_bytes, sentence_index, error }] of client.messages('audio.done').entries()) {
      expect({ total_bytes, sentence_index, error }).toEqual({
        total_bytes: sounds[index]?.length,
        sentence_index: index,
        error: false,
      });
    }
    expect(readWav(sounds[0] ?? Buffer.alloc(0)).rate).toBe(24000);
    // The connection stays for the next utterance.
    client.send({ type: 'input.text', text: 'Again.' });
    client.send({ type: 'input.done' });
    const [, second] = await client.wait('session.done', 2);
    expect(second).toMatchObject({ utterance_index: 1, total_sentences: 1 });
    client.send({ type: 'session.close' });
    await until(() => client.closed);
    await until(() => tts.truth().some(({ id, event }) => id === 'pieces' && event === 'done'));
    const sent = tts.truth().filter(({ id, event }) => id === 'pieces' && event === 'audio');
    expect(sent.slice(0, 3).map(({ bytes }) => bytes)).toEqual(sounds.map(({ length }) => length));
  });

  test('streams a sentence while it is made', async () => {
    const client = await connected(tts.url + path);
    client.send({ type: 'session.config', stream_audio: true, response_format: 'pcm' });
    client.send({ type: 'input.text', text: 'one two three four five six seven eight nine ten eleven.' });
    client.send({ type: 'input.done' });
    await client.wait('session.done');
    const sounds = client.got.filter(Buffer.isBuffer);
    expect(sounds.length).toBeGreaterThan(1);
    const [done] = client.messages('audio.done');
    expect(done?.total_bytes).toBe(sounds.reduce((sum, { length }) => sum + length, 0));
  });

  test.each([
    ['no JSON', '{', /JSON/],
    ['a list', '[]', /JSON object/],
    ['an unknown type', { type: 'shout' }, /Unknown message type "shout"/],
    ['text that is none', { type: 'input.text', text: 5 }, /needs "text"/],
    ['another model', { type: 'session.config', model: 'x' }, /does not exist/],
    ['a speed that is none', { type: 'session.config', speed: 'fast' }, /speed/],
    ['a stream of MP3', { type: 'session.config', stream_audio: true, response_format: 'mp3' }, /pcm or wav/],
  ])('says what is wrong with %s, and goes on', async (_what, message, expected) => {
    const client = await connected(tts.url + path);
    client.send(message);
    const [error] = await client.wait('error');
    expect(error?.message).toMatch(expected);
    client.send({ type: 'input.text', text: 'Hi.\n' });
    await client.wait('audio.done');
  });

  test('takes no new configuration while text waits', async () => {
    const client = await connected(tts.url + path);
    client.send({ type: 'input.text', text: 'half a sen' });
    client.send({ type: 'session.config', voice: 'ryan' });
    const [error] = await client.wait('error');
    expect(error?.message).toMatch(/while text is buffered/);
  });

  test('reports a voice that is not there as the sentence’s error', async () => {
    const client = await connected(tts.url + path);
    client.send({ type: 'session.config', voice: 'nobody' });
    client.send({ type: 'input.text', text: 'Hi. ' });
    const [done] = await client.wait('audio.done');
    expect(done).toMatchObject({ error: true, total_bytes: 0 });
    expect(client.messages('error')[0]?.message).toMatch(/nobody/);
  });
});

describe('realtime, turn by turn', () => {
  const headers = { authorization: 'Bearer secret' };
  const second = Buffer.alloc(32_000).toString('base64');

  test('answers speech with text and speech', async () => {
    const client = await connected(`${omni.url}/v1/realtime`, { ...headers, 'x-request-id': 'turns' });
    const [created] = await client.wait('session.created');
    expect(created?.model).toBe('Qwen/Qwen3-Omni-30B-A3B-Instruct');
    for (let turn = 1; turn <= 2; turn += 1) {
      client.send({ type: 'session.update', model: 'Qwen/Qwen3-Omni-30B-A3B-Instruct' });
      client.send({ type: 'input_audio_buffer.commit', final: false });
      client.send({ type: 'input_audio_buffer.append', audio: second });
      client.send({ type: 'input_audio_buffer.append', audio: second });
      client.send({ type: 'input_audio_buffer.commit', final: true });
      await client.wait('response.audio.done', turn);
      await client.wait('transcription.done', turn);
    }
    const done = client.messages('transcription.done')[0];
    // Two seconds at 12.5 tokens each.
    expect(done?.usage).toMatchObject({ prompt_tokens: 25 });
    const text = client
      .messages('transcription.delta')
      .map(({ delta }) => delta)
      .join('');
    const [one, two] = client.messages('transcription.done').map((message) => String(message.text));
    expect(text).toBe(`${one}${two}`);
    const samples = client
      .messages('response.audio.delta')
      .reduce((sum, { audio }) => sum + Buffer.from(String(audio), 'base64').length / 2, 0);
    expect(samples).toBe(2 * (60 * 1920 - 2 * 555));
    expect(client.messages('response.audio.delta')[0]?.sample_rate_hz).toBe(24000);
    const logged = omni
      .truth()
      .filter(({ id }) => id === 'turns')
      .reduce((sum, line) => sum + (line.samples ?? 0), 0);
    expect(logged).toBe(samples);
  });

  test.each([
    ['another model', { type: 'session.update', model: 'x' }, /does not exist/],
    ['an empty buffer', { type: 'input_audio_buffer.commit', final: true }, /buffer is empty/],
    ['audio that is no base64', { type: 'input_audio_buffer.append', audio: '***' }, /base64/],
    ['half a sample', { type: 'input_audio_buffer.append', audio: 'AAAA' }, /whole samples/],
    ['no audio', { type: 'input_audio_buffer.append' }, /needs "audio"/],
    ['an unknown event', { type: 'dance' }, /Unknown event type/],
  ])('says what is wrong with %s', async (_what, message, expected) => {
    const client = await connected(`${omni.url}/v1/realtime`, headers);
    client.send(message);
    const [error] = await client.wait('error');
    expect(error?.message).toMatch(expected);
    expect(client.closed).toBe(false);
  });

  test('stops in every stage when the client leaves', async () => {
    const slow = await testServer({ stageOverrides: null });
    const client = await connected(`${slow.url}/v1/realtime`);
    client.send({ type: 'input_audio_buffer.append', audio: second });
    client.send({ type: 'input_audio_buffer.commit', final: true });
    await until(() => slow.stats().requests === 1);
    client.socket.terminate();
    await until(() => slow.stats().requests === 0);
    expect(slow.truth().at(-1)?.event).toBe('abort');
    await slow.close();
  });

  test.each([
    ['without a key', () => `${omni.url}/v1/realtime`],
    ['on a route that has none', () => `${tts.url}/v1/nothing`],
  ])('is not opened %s', async (_what, url) => {
    const client = new Client(url());
    clients.push(client);
    await until(() => client.closed);
    expect(client.got).toEqual([]);
  });

  test.each([
    ['a model that does not speak so', () => `${tts.url}/v1/realtime`, {}],
    ['a duplex session', () => `${omni.url}/v1/realtime?duplex=1`, headers],
  ])('refuses %s', async (_what, url, given) => {
    const client = new Client(url(), given);
    clients.push(client);
    await client.wait('error');
    await until(() => client.closed);
  });
});
