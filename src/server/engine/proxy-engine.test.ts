import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { chunksOf, onePixelPng, post, type TestServer, testServer, until } from '../api/wire.suite.ts';

type Seen = { url: string; headers: IncomingMessage['headers']; body: Record<string, unknown> };

const textModel = 'Qwen/Qwen2.5-7B-Instruct';
const speechModel = 'Qwen/Qwen3-TTS-12Hz-1.7B-CustomVoice';
const hello = { messages: [{ role: 'user', content: 'Hello' }] };

const replySchema = z.object({
  choices: z
    .array(z.looseObject({ message: z.looseObject({ content: z.unknown() }).optional() }))
    .default([]),
  usage: z.looseObject({ completion_tokens: z.number() }).optional(),
  error: z.looseObject({ message: z.string() }).optional(),
});

async function replyOf(response: Response): Promise<z.infer<typeof replySchema>> {
  return replySchema.parse(await response.json());
}

let upstream: Server;
let upstreamUrl: string;
let seen: Seen[];
let answer: (response: ServerResponse, request: IncomingMessage) => void;
const open: TestServer[] = [];

async function serve(model: string, stageOverrides: Record<string, unknown>): Promise<TestServer> {
  const server = await testServer({ model, stageOverrides });
  open.push(server);
  return server;
}

function proxied(
  options: Record<string, unknown> = {},
  stage: Record<string, unknown> = {},
): Promise<TestServer> {
  const engine = { name: 'proxy', base_url: `${upstreamUrl}/v1`, model: 'remote/model', ...options };
  return serve(textModel, { 0: { engine, ...stage } });
}

/** Answers with the events given, written at once. */
function events(...data: unknown[]): void {
  answer = (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(
      data.map((each) => `data: ${typeof each === 'string' ? each : JSON.stringify(each)}\n\n`).join(''),
    );
  };
}

const said = (content: string, more: Record<string, unknown> = {}) => ({
  choices: [{ index: 0, delta: { content }, finish_reason: null, ...more }],
});
const usage = (tokens: number) => ({
  choices: [],
  usage: { prompt_tokens: 1, completion_tokens: tokens, total_tokens: tokens + 1 },
});

beforeEach(async () => {
  seen = [];
  upstream = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (piece: string) => {
      text += piece;
    });
    request.on('end', () => {
      seen.push({ url: request.url ?? '', headers: request.headers, body: JSON.parse(text) });
      answer(response, request);
    });
  });
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const address = upstream.address();
  upstreamUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
  upstream.closeAllConnections();
  await new Promise((resolve) => upstream.close(resolve));
});

describe('text from a scripted server', () => {
  test('a reply comes through, counted as the remote server counts', async () => {
    events(
      { choices: [{ delta: { role: 'assistant', content: '' } }] },
      said('Good'),
      said(' day.', { finish_reason: 'length' }),
      usage(7),
      '[DONE]',
    );
    const server = await proxied();
    const reply = await replyOf(await post(`${server.url}/v1/chat/completions`, hello));
    expect(reply.choices[0]).toMatchObject({ message: { content: 'Good day.' }, finish_reason: 'length' });
    expect(reply.usage?.completion_tokens).toBe(7);
  });

  test('every piece is an event of its own; a stop text is named', async () => {
    events(said('a'), said('b', { finish_reason: 'stop', stop_reason: 'END' }), usage(2), '[DONE]');
    const server = await proxied();
    const chunks = await chunksOf(
      await post(`${server.url}/v1/chat/completions`, { ...hello, stream: true }),
    );
    const choices = chunks.flatMap(({ choices: each }) => each);
    expect(choices.map(({ delta }) => delta.content).filter((text) => text)).toEqual(['a', 'b']);
    expect(choices.at(-1)).toMatchObject({ finish_reason: 'stop', stop_reason: 'END' });
  });

  test('the request goes out as it came, under the remote name, with the key and the headers', async () => {
    events(said('x', { finish_reason: 'stop' }), '[DONE]');
    process.env.OMNIMETER_TEST_PROXY_KEY = 'secret';
    const server = await proxied({ api_key_env: 'OMNIMETER_TEST_PROXY_KEY', headers: { 'x-team': 'a' } });
    delete process.env.OMNIMETER_TEST_PROXY_KEY;
    const sampling = { temperature: 0.3, top_k: 5, seed: 9, stop: ['END'], repetition_penalty: 1.1 };
    await post(`${server.url}/v1/chat/completions`, {
      ...hello,
      ...sampling,
      max_tokens: 12,
      modalities: ['text'],
    });
    expect(seen[0]?.url).toBe('/v1/chat/completions');
    expect(seen[0]?.headers).toMatchObject({ authorization: 'Bearer secret', 'x-team': 'a' });
    expect(seen[0]?.body).toEqual({
      ...hello,
      ...sampling,
      max_tokens: 12,
      model: 'remote/model',
      n: 1,
      stream: true,
      stream_options: { include_usage: true },
    });
  });

  test('parameters by stage stand in place of the request’s own', async () => {
    events(said('x', { finish_reason: 'stop' }), '[DONE]');
    const server = await proxied();
    const list = [{ top_p: 0.5 }];
    await post(`${server.url}/v1/chat/completions`, {
      ...hello,
      temperature: 0.3,
      sampling_params_list: list,
    });
    expect(seen[0]?.body).toMatchObject({ top_p: 0.5 });
    expect(seen[0]?.body).not.toHaveProperty('temperature');
  });

  test('completions are asked of completions', async () => {
    events(
      { choices: [{ text: 'one', finish_reason: null }] },
      { choices: [{ text: ' two', finish_reason: 'stop' }] },
      usage(2),
      '[DONE]',
    );
    const server = await proxied();
    const reply = await replyOf(
      await post(`${server.url}/v1/completions`, { prompt: 'Count', max_tokens: 4 }),
    );
    expect(seen[0]).toMatchObject({ url: '/v1/completions', body: { prompt: 'Count', max_tokens: 4 } });
    await post(`${server.url}/v1/completions`, { prompt: ['One', 'Two'], n: 2, max_tokens: 4 });
    const prompts = seen.slice(1).map(({ body }) => [body.prompt, body.n]);
    expect(prompts.sort()).toEqual([
      ['One', 1],
      ['One', 1],
      ['Two', 1],
      ['Two', 1],
    ]);
    expect(reply.choices[0]).toMatchObject({ text: 'one two', finish_reason: 'stop' });
    expect(reply.usage?.completion_tokens).toBe(2);
  });
});

describe('trouble at the remote server', () => {
  const refusal = (status: number) => {
    answer = (response) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message: 'No room.', code: status } }));
    };
  };

  test.each([
    [400, 400],
    [429, 429],
    [503, 503],
    [401, 502],
    [404, 502],
    [302, 502],
  ])('a %d comes to a %d with its message', async (status, expected) => {
    refusal(status);
    const server = await proxied();
    const reply = await post(`${server.url}/v1/chat/completions`, hello);
    expect(reply.status).toBe(expected);
    expect((await replyOf(reply)).error?.message).toMatch(/No room\./);
  });

  test.each<[string, unknown[], number, RegExp]>([
    [
      'an error event',
      [said('a'), { error: { message: 'Out of memory.', code: 507 } }],
      507,
      /Out of memory/,
    ],
    ['an early end', [said('a')], 502, /before it was finished/],
    ['an event that is not JSON', ['{"a'], 502, /not JSON/],
    ['an event of another form', [{ choices: 3 }], 502, /another form/],
    ['a tool call', [{ choices: [{ delta: { tool_calls: [{}] } }] }], 501, /tool/],
  ])('%s fails the request, and no other', async (_name, data, status, message) => {
    events(...data);
    const server = await proxied();
    const reply = await post(`${server.url}/v1/chat/completions`, hello);
    expect(reply.status).toBe(status);
    expect((await replyOf(reply)).error?.message).toMatch(message);
    events(said('fine', { finish_reason: 'stop' }), '[DONE]');
    expect((await post(`${server.url}/v1/chat/completions`, hello)).status).toBe(200);
  });

  test('nobody at the address, and a reset, are told as such', async () => {
    const server = await proxied();
    answer = (_response, request) => request.socket.destroy();
    const reset = await post(`${server.url}/v1/chat/completions`, hello);
    expect([reset.status, (await replyOf(reset)).error?.message]).toEqual([
      502,
      expect.stringMatching(/connection/),
    ]);
    upstream.close();
    upstream.closeAllConnections();
    const refused = await post(`${server.url}/v1/chat/completions`, hello);
    expect([refused.status, (await replyOf(refused)).error?.message]).toEqual([
      502,
      expect.stringMatching(/ECONNREFUSED/),
    ]);
  });

  test.each([
    ['from the start', () => {}],
    [
      'in the middle',
      (response: ServerResponse) => {
        response.writeHead(200);
        response.write(`data: ${JSON.stringify(said('a'))}\n\n`);
      },
    ],
  ])('silence %s comes to a 504', async (_name, begin) => {
    answer = begin;
    const server = await proxied({ timeout_s: 0.05 });
    const reply = await post(`${server.url}/v1/chat/completions`, hello);
    expect([reply.status, (await replyOf(reply)).error?.message]).toEqual([
      504,
      expect.stringMatching(/silent/),
    ]);
  });

  test('a client that leaves closes the remote request and frees its seat for the next', async () => {
    let closed = false;
    answer = (response) => {
      response.on('close', () => {
        closed = true;
      });
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`data: ${JSON.stringify(said('a'))}\n\n`);
    };
    const server = await proxied({}, { max_num_seqs: 1 });
    const leaving = new AbortController();
    await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...hello, stream: true }),
      signal: leaving.signal,
    });
    const next = post(`${server.url}/v1/chat/completions`, hello);
    await until(() => server.stats().stages[0]?.waiting === 1);
    events(said('next', { finish_reason: 'stop' }), '[DONE]');
    leaving.abort();
    expect((await replyOf(await next)).choices[0]?.message?.content).toBe('next');
    await until(() => closed && server.stats().requests === 0);
    expect(server.stats().stages[0]).toMatchObject({ running: 0, waiting: 0 });
  });
});

describe('options', () => {
  test.each<[string, Record<string, unknown>, RegExp]>([
    ['no address', { base_url: undefined }, /base_url is missing/],
    ['no model', { model: undefined }, /model is missing/],
    ['another scheme', { base_url: 'ftp://a' }, /base_url must be an address/],
    ['a password', { base_url: 'http://u:p@a' }, /no user or password/],
    ['a query', { base_url: 'http://a/?b=c' }, /no query/],
    ['an unknown option', { modle: 'x' }, /no option "modle".*Options: base_url, model/],
    ['a time that is none', { timeout_s: 0 }, /timeout_s must be above 0/],
    ['a header that is no text', { headers: { a: 1 } }, /headers\.a must be a text/],
    ['a header that cannot be sent', { headers: { 'a b': 'c' } }, /headers\.a b is not a header/],
    ['a key that is not there', { api_key_env: 'OMNIMETER_NOT_SET' }, /OMNIMETER_NOT_SET, which is not set/],
  ])('%s is refused before the server starts', async (_name, options, message) => {
    await expect(proxied(options)).rejects.toThrow(message);
  });

  test('a stage that no such server can be is refused', async () => {
    const engine = { name: 'proxy', base_url: upstreamUrl, model: 'm' };
    await expect(serve('Qwen/Qwen3-Omni-30B-A3B-Instruct', { 1: { engine } })).rejects.toThrow(
      /cannot run on engine proxy/,
    );
  });
});

describe('another embedded server', () => {
  test('answers for the stage: the same text and counts as asked directly', async () => {
    const overrides = {
      0: { ttft: { baseMs: 1, perInputTokenMs: 0 }, step: { nativeMs: 0.1 }, replies: ['Alpha beta gamma.'] },
    };
    const remote = await serve(textModel, overrides);
    const head = await proxied({ base_url: remote.url, model: textModel });
    const direct = await replyOf(await post(`${remote.url}/v1/chat/completions`, hello));
    const through = await replyOf(await post(`${head.url}/v1/chat/completions`, hello));
    expect(through.choices[0]?.message?.content).toBe('Alpha beta gamma.');
    expect(through.choices).toEqual(direct.choices);
    expect(through.usage).toEqual(direct.usage);
  });

  test('speaks for the stage: sample for sample', async () => {
    const quick = {
      0: { ttft: { baseMs: 1, perInputTokenMs: 0 }, step: { nativeMs: 0.1 }, length: 30 },
      1: { decode: { firstMs: 0.1, baseMs: 0.1 } },
    };
    const remote = await serve(speechModel, quick);
    const engine = { name: 'proxy', base_url: `${remote.url}/v1/`, model: speechModel };
    const head = await serve(speechModel, { ...quick, 1: { engine } });
    const speech = { input: 'Hello there.', response_format: 'pcm' };
    const direct = Buffer.from(await (await post(`${remote.url}/v1/audio/speech`, speech)).arrayBuffer());
    const through = Buffer.from(await (await post(`${head.url}/v1/audio/speech`, speech)).arrayBuffer());
    expect(direct.length).toBeGreaterThan(1000);
    expect(through.equals(direct)).toBe(true);
  });
});

describe('speech from a scripted server', () => {
  const speak = async (headers: Record<string, string>, ...pieces: Buffer[]) => {
    answer = (response) => {
      response.writeHead(200, headers);
      for (const piece of pieces) response.write(piece);
      response.end();
    };
    const engine = { name: 'proxy', base_url: upstreamUrl, model: 'tts' };
    const server = await serve(speechModel, { 1: { engine } });
    return post(`${server.url}/v1/audio/speech`, {
      input: 'Hi.',
      response_format: 'pcm',
      stream: true,
      seed: 4,
    });
  };
  const pcm = { 'content-type': 'audio/pcm' };

  test('it is asked for bare samples as they are made', async () => {
    await (await speak(pcm, Buffer.from([1, 2, 3, 4]))).text();
    expect(seen[0]).toMatchObject({ url: '/v1/audio/speech' });
    expect(seen[0]?.body).toEqual({
      input: 'Hi.',
      seed: 4,
      model: 'tts',
      response_format: 'pcm',
      stream_format: 'audio',
    });
  });

  test.each<[string, Record<string, string>, Buffer, RegExp]>([
    ['half a sample', pcm, Buffer.from([1, 2, 3]), /middle of a sample/],
    ['no sound', pcm, Buffer.alloc(0), /no sound/],
    ['another rate', { 'content-type': 'audio/pcm;rate=16000' }, Buffer.alloc(4), /16000 Hz/],
    ['JSON', { 'content-type': 'application/json' }, Buffer.from('{}'), /application\/json/],
  ])('%s fails the request', async (_name, headers, bytes, message) => {
    expect(await (await speak(headers, bytes)).text()).toMatch(message);
  });
});

describe('pictures', () => {
  const imageModel = 'Qwen/Qwen-Image';
  const videoModel = 'Helios-Distilled';
  const quick = { 0: { denoise: { msPerStep: 0.1, sd: 0 }, encodeMs: 0, decodeMs: 0 } };
  const through = async (
    model: string,
    more: Record<string, unknown> = {},
  ): Promise<[TestServer, TestServer]> => {
    const remote = await serve(model, quick);
    const engine = { name: 'proxy', base_url: `${remote.url}/v1`, model, poll_interval_s: 0.02, ...more };
    return [remote, await serve(model, { 0: { engine } })];
  };
  const imagesSchema = z.object({ data: z.array(z.object({ b64_json: z.string() })) });
  const imagesOf = async (response: Response): Promise<string[]> =>
    imagesSchema.parse(await response.json()).data.map((each) => each.b64_json);

  test('are drawn by another server: byte for byte, from text and from a picture', async () => {
    const [remote, head] = await through(imageModel);
    const body = {
      prompt: 'a boat',
      n: 2,
      size: '64x32',
      seed: 7,
      output_format: 'jpeg',
      num_inference_steps: 3,
    };
    const [direct, proxied] = await Promise.all(
      [remote, head].map(async ({ url }) => imagesOf(await post(`${url}/v1/images/generations`, body))),
    );
    expect(direct).toHaveLength(2);
    expect(proxied).toEqual(direct);
    const [remoteEditor, editor] = await through('Qwen/Qwen-Image-Edit');
    const edit = (): FormData => {
      const form = new FormData();
      form.append('prompt', 'a larger boat');
      form.append('seed', '3');
      form.append('image', new Blob([Buffer.from(onePixelPng, 'base64')], { type: 'image/png' }), 'a.png');
      form.append('size', '48x48');
      return form;
    };
    const [edited, proxiedEdit] = await Promise.all(
      [remoteEditor, editor].map(async ({ url }) =>
        imagesOf(await fetch(`${url}/v1/images/edits`, { method: 'POST', body: edit() })),
      ),
    );
    expect(proxiedEdit).toEqual(edited);
  });

  const jobSchema = z.looseObject({ id: z.string(), status: z.string() });
  const finished = async (url: string, id: string): Promise<z.infer<typeof jobSchema>> => {
    for (;;) {
      const job = jobSchema.parse(await (await fetch(`${url}/v1/videos/${id}`)).json());
      if (job.status === 'completed' || job.status === 'failed') return job;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  const video = {
    prompt: 'a boat',
    size: '32x32',
    num_frames: 5,
    fps: 12.5,
    seed: 4,
    num_inference_steps: 2,
  };

  test('a video is made by another server, whose job is followed', async () => {
    const [remote, head] = await through(videoModel);
    const made = await Promise.all(
      [remote, head].map(async ({ url }) => {
        const { id } = jobSchema.parse(await (await post(`${url}/v1/videos`, video)).json());
        const job = await finished(url, id);
        const file = Buffer.from(await (await fetch(`${url}/v1/videos/${id}/content`)).arrayBuffer());
        return { job, file };
      }),
    );
    const [direct, proxied] = made;
    expect(proxied?.job).toMatchObject({ status: 'completed', num_frames: 5, fps: 12.5, duration_s: 0.4 });
    expect(proxied?.file.equals(direct?.file ?? Buffer.alloc(0))).toBe(true);
  });

  test('a job that is deleted is deleted there too', async () => {
    const remote = await serve(videoModel, { 0: { denoise: { msPerStep: 10_000 } } });
    const engine = { name: 'proxy', base_url: remote.url, model: videoModel, poll_interval_s: 0.02 };
    const head = await serve(videoModel, { 0: { engine } });
    const { id } = jobSchema.parse(await (await post(`${head.url}/v1/videos`, video)).json());
    await until(() => remote.stats().requests === 1);
    await fetch(`${head.url}/v1/videos/${id}`, { method: 'DELETE' });
    await until(() => remote.stats().requests === 0);
    expect(head.stats().requests).toBe(0);
  });

  test.each<[string, unknown, RegExp]>([
    ['no images', { data: [] }, /without images/],
    ['a link', { data: [{ url: 'http://x' }] }, /no b64_json/],
    ['no image', { data: [{ b64_json: 'AAAA' }] }, /what is no image/],
    ['a kind that was not asked for', { data: [{ b64_json: onePixelPng }] }, /png where webp/],
  ])('%s fails the request', async (_name, body, message) => {
    answer = (response) => response.end(JSON.stringify(body));
    const engine = { name: 'proxy', base_url: upstreamUrl, model: 'remote/painter' };
    const server = await serve(imageModel, { 0: { engine } });
    const wanted = { prompt: 'a boat', output_format: 'webp', guidance_scale: 3, user: 'me' };
    const reply = await post(`${server.url}/v1/images/generations`, wanted);
    expect([reply.status, (await replyOf(reply)).error?.message]).toEqual([
      502,
      expect.stringMatching(message),
    ]);
    expect(seen[0]).toMatchObject({ url: '/v1/images/generations' });
    expect(seen[0]?.body).toEqual({
      model: 'remote/painter',
      ...wanted,
      n: 1,
      response_format: 'b64_json',
    });
  });
});
