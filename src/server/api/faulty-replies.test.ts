import { afterAll, describe, expect, test } from 'vitest';
import { errorBodySchema } from '../../protocol/error-body.ts';
import type { ServeOptions } from '../serve-options.ts';
import { eventsOf, onePixelPng, post, readWav, type TestServer, testServer, until } from './wire.suite.ts';

const servers: TestServer[] = [];
afterAll(async () => {
  for (const server of servers) await server.close();
});

async function faulty(faults: readonly string[], options: Partial<ServeOptions> = {}): Promise<TestServer> {
  const server = await testServer({ faults, ...options });
  servers.push(server);
  return server;
}

const small = { stageOverrides: null, timeScale: 0.002 };
const omni = 'Qwen/Qwen3-Omni-30B-A3B-Instruct';
const messages = [{ role: 'user', content: 'one two' }];
const streamed = { messages, max_tokens: 5, stream: true, modalities: ['text'] };
const chat = ({ url }: TestServer, body: unknown = streamed): Promise<Response> =>
  post(`${url}/v1/chat/completions`, body);

describe('befalls streams:', () => {
  test('429 says when to try again, and the next one goes through', async () => {
    const server = await faulty(['429:7@request=0']);
    const refused = await chat(server);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '7']);
    expect(errorBodySchema.parse(await refused.json()).error.type).toBe('RateLimitError');
    expect((await eventsOf(await chat(server))).at(-1)).toBe('[DONE]');
  });

  test.each(['500', '503'])('%s', async (status) => {
    const response = await chat(await faulty([status]));
    expect(response.status).toBe(Number(status));
    expect(errorBodySchema.parse(await response.json()).error.code).toBe(Number(status));
  });

  test('an error event after so many, and the end mark', async () => {
    const server = await faulty(['error-event:3']);
    const events = await eventsOf(await chat(server));
    expect(events).toHaveLength(5);
    expect(errorBodySchema.parse(JSON.parse(events[3] ?? '')).error.code).toBe(500);
    expect(events[4]).toBe('[DONE]');
    expect(server.stats().requests).toBe(0);
    expect(server.truth().map(({ event }) => event)).toEqual([
      'accepted',
      'headers',
      'role',
      'text',
      'text',
      'error',
      'done',
    ]);
  });

  test('a reset after so many', async () => {
    const server = await faulty(['reset:2']);
    await expect(chat(server).then((response) => response.text())).rejects.toThrow();
    await until(() => server.stats().requests === 0 && server.truth().at(-1)?.event === 'abort');
    expect(server.truth().filter(({ event }) => event === 'text')).toHaveLength(1);
  });

  test('a stall that ends loses nothing', async () => {
    const server = await faulty(['stall:2:60']);
    const events = await eventsOf(await chat(server));
    expect(events).toHaveLength(1 + 5 + 1);
    const times = server.truth().map(({ t }) => t);
    const gaps = times.slice(1).map((t, at) => t - (times[at] ?? t));
    // Accepted, headers and two events come before it.
    expect(gaps.indexOf(Math.max(...gaps))).toBe(3);
    expect(gaps[3]).toBeGreaterThan(55);
  });

  test('a stall for ever ends with the client', async () => {
    const server = await faulty(['stall:1']);
    const controller = new AbortController();
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(streamed),
      signal: controller.signal,
    });
    const reader = response.body?.getReader();
    await reader?.read();
    controller.abort();
    await until(() => server.truth().at(-1)?.event === 'abort');
  });

  test('late headers', async () => {
    const server = await faulty(['slow-headers:60']);
    await (await chat(server)).text();
    const [accepted, headers] = server.truth();
    expect((headers?.t ?? 0) - (accepted?.t ?? 0)).toBeGreaterThan(55);
  });

  test('no content', async () => {
    const events = await eventsOf(await chat(await faulty(['empty'])));
    expect(events.join('')).not.toMatch(/"content":"[^"]/);
    expect(events.at(-1)).toBe('[DONE]');
  });

  test('base64 that is none, once', async () => {
    const events = await eventsOf(
      await chat(await faulty(['bad-base64']), { ...streamed, modalities: ['audio'] }),
    );
    const contents = events
      .filter((event) => event.includes('"modality":"audio"'))
      .map((event): string => JSON.parse(event).choices[0].delta.content);
    expect(contents.map((content) => /^[A-Za-z0-9+/=]*$/.test(content))).toEqual([false, true, true]);
  });

  test('a rate that is not that of the audio', async () => {
    const body = { ...streamed, stream: false, modalities: ['audio'] };
    const { choices } = JSON.parse(await (await chat(await faulty(['wrong-rate']), body)).text());
    const wav = readWav(Buffer.from(choices[0].message.audio.data, 'base64'));
    expect(wav).toMatchObject({ rate: 16000, samples: 60 * 1920 - 2 * 555 });
    const events = await eventsOf(await chat(await faulty(['wrong-rate:8000']), { ...body, stream: true }));
    const [choice] = JSON.parse(events[0] ?? '').choices;
    expect(readWav(Buffer.from(choice.delta.content, 'base64')).rate).toBe(8000);
    expect(choice.audio_metadata.sample_rate_hz).toBe(8000);
  });

  test('only for the model with a suffix, which is the same model', async () => {
    const server = await faulty(['500@model=-broken']);
    expect((await chat(server, { ...streamed, model: `${omni}-broken` })).status).toBe(500);
    expect((await chat(server, { ...streamed, model: omni })).status).toBe(200);
    expect((await chat(server, { ...streamed, model: `${omni}-other` })).status).toBe(404);
  });
});

describe('befalls stages:', () => {
  test('a replica that dies fails what is bound to it, and says so', async () => {
    const server = await faulty(['dead-replica:2@request=1'], {
      stageOverrides: { 0: { ttft: { baseMs: 1, perInputTokenMs: 0 }, step: { nativeMs: 20 } } },
    });
    const first = chat(server, { ...streamed, max_tokens: 50, modalities: ['text', 'audio'] });
    await until(() => server.stats().requests === 1);
    const second = await chat(server, { ...streamed, modalities: ['audio'] });
    const events = await eventsOf(await first);
    expect(errorBodySchema.parse(JSON.parse(events.at(-2) ?? '')).error.message).toMatch(
      /Replica 0 of stage 2/,
    );
    expect(await second.text()).toMatch(/no live replica/);
    expect((await fetch(`${server.url}/health`)).status).toBe(503);
    // What does not need the stage goes on.
    expect((await eventsOf(await chat(server))).at(-1)).toBe('[DONE]');
  });

  test('a replica that dies comes back in its slot, and health and metrics say so', async () => {
    const server = await faulty(['dead-replica:1:150@request=1'], { logStats: true });
    expect((await chat(server)).status).toBe(200);
    const state = async (): Promise<[number, boolean[]]> => [
      (await fetch(`${server.url}/health`)).status,
      server.stats().stages.map(({ alive }) => alive),
    ];
    expect(await state()).toEqual([200, [true, true, true]]);
    const lost = await (await chat(server, { ...streamed, modalities: ['audio'] })).text();
    expect(lost).toMatch(/Stage 1 \(talker\) has no live replica/);
    expect(await state()).toEqual([503, [true, false, true]]);
    await until(() => server.stats().stages.every(({ alive }) => alive));
    expect(await state()).toEqual([200, [true, true, true]]);
    expect((await eventsOf(await chat(server, { ...streamed, modalities: ['audio'] }))).at(-1)).toBe(
      '[DONE]',
    );
    const text = await (await fetch(`${server.url}/metrics`)).text();
    expect(text).toMatch(/requests_success_total\{.*finished_reason="abort"\} 1\n/);
    expect(text).toMatch(/vllm_omni:stage_replica_up\{.*stage="1",replica="0"\} 1\n/);
  });

  test('a slow stage takes so many times as long', async () => {
    const server = await faulty(['slow-stage:0:100@request=1'], {
      stageOverrides: { 0: { ttft: { baseMs: 10, perInputTokenMs: 0, sd: 0 }, step: { nativeMs: 0.1 } } },
    });
    const body = { ...streamed, stream: false, return_stage_metrics: true };
    const servingTtftMs = async (): Promise<number> =>
      JSON.parse(await (await chat(server, body)).text()).metrics.stage_metrics['0']
        .serving_time_to_first_output_ms;
    // Nothing is early; how late a busy machine makes it is another matter, but not that late.
    expect(await servingTtftMs()).toBeLessThan(800);
    expect(await servingTtftMs()).toBeGreaterThanOrEqual(1000);
    expect(await servingTtftMs()).toBeLessThan(800);
  });
});

describe('befalls whole replies:', () => {
  test.each([
    ['reset', null],
    ['error-event', 500],
  ])('%s', async (fault, status) => {
    const response = chat(await faulty([fault]), { ...streamed, stream: false });
    if (status === null) await expect(response).rejects.toThrow();
    else expect((await response).status).toBe(status);
  });

  test('nothing at all', async () => {
    const response = await chat(await faulty(['empty']), { ...streamed, stream: false });
    expect([response.status, await response.text()]).toEqual([200, '']);
  });

  test('images that are no base64', async () => {
    const server = await faulty(['bad-base64'], { model: 'Qwen/Qwen-Image', ...small });
    const response = await post(`${server.url}/v1/images/generations`, {
      prompt: 'a',
      size: '64x64',
      num_inference_steps: 1,
    });
    const { data } = JSON.parse(await response.text());
    expect(data[0].b64_json).not.toMatch(/^[A-Za-z0-9+/=]*$/);
  });

  test('a video job that fails', async () => {
    const server = await faulty(['error-event'], { model: 'BestWishYsh/Helios-Distilled', ...small });
    const created = JSON.parse(await (await post(`${server.url}/v1/videos`, { prompt: 'a' })).text());
    let job = created;
    await until(() => server.stats().requests === 0);
    job = await (await fetch(`${server.url}/v1/videos/${created.id}`)).json();
    expect(job).toMatchObject({
      status: 'failed',
      error: { message: expect.stringMatching(/fault script/) },
    });
    expect((await fetch(`${server.url}/v1/videos/${created.id}/content`)).status).toBe(422);
  });

  test('speech, streamed: no bytes, or a connection that breaks', async () => {
    const model = 'Qwen/Qwen3-TTS-12Hz-1.7B-CustomVoice';
    const body = { input: 'hello there', stream_format: 'audio', response_format: 'pcm' };
    const empty = await faulty(['empty'], { model, ...small });
    const nothing = await post(`${empty.url}/v1/audio/speech`, body);
    expect([nothing.status, (await nothing.arrayBuffer()).byteLength]).toEqual([200, 0]);
    const broken = await faulty(['error-event:1'], { model, ...small });
    const cut = await post(`${broken.url}/v1/audio/speech`, body);
    await expect(cut.arrayBuffer()).rejects.toThrow();
  });

  test('an edit, streamed', async () => {
    const server = await faulty(['error-event:2'], { model: 'tencent/HunyuanImage-3.0-Instruct', ...small });
    const form = new FormData();
    form.set('prompt', 'a');
    form.set('stream', 'true');
    form.set('image', new Blob([Buffer.from(onePixelPng, 'base64')]));
    const response = await fetch(`${server.url}/v1/images/edits`, { method: 'POST', body: form });
    const events = await eventsOf(response);
    expect(events).toHaveLength(4);
    expect(JSON.parse(events[2] ?? '')).toHaveProperty('error.message');
  });
});
