import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { probeImage } from '../../media/probe-image.ts';
import { imagesResponseSchema } from '../../protocol/images.ts';
import { videoJobSchema, videoListSchema } from '../../protocol/videos.ts';
import type { ServeOptions } from '../serve-options.ts';
import {
  countWords,
  eventsOf,
  onePixelPng,
  post,
  shortWav,
  type TestServer,
  testServer,
  until,
} from './wire.suite.ts';

const servers: TestServer[] = [];
afterAll(async () => {
  for (const server of servers) await server.close();
});

async function serverOf(model: string, options: Partial<ServeOptions> = {}): Promise<TestServer> {
  const server = await testServer({ model, stageOverrides: null, timeScale: 0.002, ...options });
  servers.push(server);
  return server;
}

const picture = (): Blob => new Blob([Buffer.from(onePixelPng, 'base64')], { type: 'image/png' });
function form(fields: Record<string, string | Blob>): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  return data;
}
const send = (url: string, body: FormData, id = 'x'): Promise<Response> =>
  fetch(url, { method: 'POST', body, headers: { 'x-request-id': id } });

describe('images', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await serverOf('Qwen/Qwen-Image');
  });

  test('carry stage metrics only when asked, and are logged', async () => {
    const body = { prompt: 'a cat', size: '640x320', n: 2, num_inference_steps: 4 };
    const url = `${server.url}/v1/images/generations`;
    const plain = await (await post(url, body)).text();
    expect(plain).not.toContain('metrics');
    const response = await post(url, { ...body, return_stage_metrics: true }, { 'x-request-id': 'two' });
    const { data, metrics, size } = imagesResponseSchema.parse(await response.json());
    expect(size).toBe('640x320');
    const [stage] = Object.values(metrics?.stage_metrics ?? {});
    expect(stage).toMatchObject({
      final_output_type: 'image',
      output_unit_type: 'image',
      output_unit_count: 2,
      image_pixels: 2 * 640 * 320,
      num_inference_steps: 4,
      finish_reason: 'stop',
    });
    expect(metrics?.peak_memory_mb).toBeGreaterThan(1000);
    expect(metrics?.stage_durations).toHaveProperty('stage_0_gen_ms');
    for (const { b64_json } of data)
      expect(await probeImage(Buffer.from(b64_json ?? '', 'base64'), 1e8)).toMatchObject({
        widthPx: 640,
        heightPx: 320,
      });
    const lines = server.truth().filter(({ id }) => id === 'two');
    expect(lines.map(({ event }) => event)).toEqual(['accepted', 'image', 'headers', 'done']);
    expect(lines[1]).toMatchObject({ images: 2 });
  });

  test('are the same for the same seed', async () => {
    const url = `${server.url}/v1/images/generations`;
    const draw = async (seed: number): Promise<unknown> => {
      const response = await post(url, { prompt: 'a', size: '64x64', seed, num_inference_steps: 1 });
      return JSON.parse(await response.text()).data[0].b64_json;
    };
    const first = await draw(1);
    expect(await draw(1)).toBe(first);
    expect(await draw(2)).not.toBe(first);
  });

  test('come in a chat, streamed and whole', async () => {
    const url = `${server.url}/v1/chat/completions`;
    const body = {
      messages: [{ role: 'user', content: 'a dog' }],
      extra_body: { height: 64, width: 96, num_inference_steps: 2 },
    };
    const whole = JSON.parse(await (await post(url, body)).text());
    const [part] = whole.choices[0].message.content;
    expect(part).toMatchObject({ type: 'image_url', peak_memory_mb: expect.any(Number) });
    expect(part.stage_durations).toHaveProperty('stage_0_gen_ms');
    const bytes = Buffer.from(part.image_url.url.split(',')[1], 'base64');
    expect(await probeImage(bytes, 1e8)).toEqual({ format: 'png', widthPx: 96, heightPx: 64 });
    const events = await eventsOf(await post(url, { ...body, stream: true }));
    const chunks = events.slice(0, -1).map((event) => JSON.parse(event));
    expect(chunks).toHaveLength(1);
    expect(chunks[0]).toMatchObject({ modality: 'image' });
    expect(chunks[0].choices[0].finish_reason).toBe('stop');
    expect(chunks[0].choices[0].delta.content).toHaveLength(1);
  });

  test('of an edit are as large as the first one where the size is auto', async () => {
    const edit = await serverOf('Qwen/Qwen-Image-Edit');
    const made = await post(`${server.url}/v1/images/generations`, {
      prompt: 'a',
      size: '80x48',
      num_inference_steps: 1,
    });
    const source = Buffer.from(JSON.parse(await made.text()).data[0].b64_json, 'base64');
    const response = await send(
      `${edit.url}/v1/images/edits`,
      form({ prompt: 'more', 'image[]': new Blob([source]), size: 'auto', output_format: 'jpeg', n: '2' }),
    );
    const { data, output_format } = imagesResponseSchema.parse(await response.json());
    expect([data.length, output_format]).toEqual([2, 'jpeg']);
    const bytes = Buffer.from(data[0]?.b64_json ?? '', 'base64');
    expect(await probeImage(bytes, 1e8)).toEqual({ format: 'jpeg', widthPx: 80, heightPx: 48 });
  });

  test('of an edit stream text, then the image, with metrics when asked', async () => {
    const hunyuan = await serverOf('tencent/HunyuanImage-3.0-Instruct');
    const url = `${hunyuan.url}/v1/images/edits`;
    const fields = { prompt: 'more', image: picture(), size: '64x64', stream: 'True' };
    const plain = await eventsOf(await send(url, form(fields)));
    expect(plain.join('')).not.toContain('"metrics"');
    const events = await eventsOf(await send(url, form({ ...fields, return_stage_metrics: 'true' }), 'edit'));
    expect(events.at(-1)).toBe('[DONE]');
    const chunks = events.slice(0, -1).map((event) => JSON.parse(event));
    const deltas = chunks.filter(({ type }) => type === 'ar_delta');
    expect(deltas).toHaveLength(chunks.length - 1);
    const last = chunks.at(-1);
    expect(last).toMatchObject({ object: 'image.edit.chunk', type: 'image' });
    const { stage_metrics: stages } = last.metrics;
    expect(stages['0'].num_tokens_out).toBe(countWords(deltas.map(({ delta }) => delta).join('')));
    expect(stages['1']).toMatchObject({
      final_output_type: 'image',
      output_unit_count: 1,
      image_pixels: 4096,
    });
    expect(last.data).toHaveLength(1);
    const sent = hunyuan.truth().filter(({ id }) => id === 'edit');
    expect(sent.filter(({ event }) => event === 'text')).toHaveLength(deltas.length);
    expect(sent.filter(({ event }) => event === 'image')).toMatchObject([{ images: 1 }]);
  });
});

describe('videos', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await serverOf('BestWishYsh/Helios-Distilled');
  });
  const url = (): string => `${server.url}/v1/videos`;
  const job = async (id: string): Promise<ReturnType<typeof videoJobSchema.parse>> =>
    videoJobSchema.parse(await (await fetch(`${url()}/${id}`)).json());
  const completed = async (id: string): Promise<ReturnType<typeof videoJobSchema.parse>> => {
    await until(() => server.stats().requests === 0);
    return job(id);
  };

  test('have exact frames and a fractional rate, and metrics when asked', async () => {
    const created = videoJobSchema.parse(
      await (
        await send(
          url(),
          form({ prompt: 'a', num_frames: '33', fps: '23.976', size: '64x64', return_stage_metrics: '1' }),
        )
      ).json(),
    );
    expect(created).toMatchObject({
      status: 'queued',
      object: 'video',
      model: 'BestWishYsh/Helios-Distilled',
    });
    expect(created.id).toMatch(/^video_gen_[0-9a-f]{32}$/);
    const done = await completed(created.id);
    expect(done).toMatchObject({
      status: 'completed',
      progress: 100,
      fps: 23.976,
      num_frames: 33,
      error: null,
    });
    expect(done.duration_s).toBeCloseTo(33 / 23.976, 9);
    expect(done.inference_time_s).toBeGreaterThan(0);
    expect(done.peak_memory_mb).toBeGreaterThan(1000);
    expect(done.stage_durations).toHaveProperty('stage_0_gen_ms');
    expect(done.metrics?.stage_metrics?.['0']).toMatchObject({
      output_unit_type: 'video',
      output_unit_count: 1,
    });
  });

  test('are listed newest first, page by page', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 3; index += 1)
      ids.push(
        videoJobSchema.parse(await (await post(url(), { prompt: `p${index}`, num_frames: 1 })).json()).id,
      );
    const list = async (query: string): Promise<ReturnType<typeof videoListSchema.parse>> =>
      videoListSchema.parse(await (await fetch(`${url()}?${query}`)).json());
    const first = await list('limit=2');
    expect(first.data.map(({ id }) => id)).toEqual([ids[2], ids[1]]);
    expect([first.first_id, first.last_id, first.has_more]).toEqual([ids[2], ids[1], true]);
    const rest = await list(`limit=1&after=${ids[1]}`);
    expect(rest.data.map(({ id }) => id)).toEqual([ids[0]]);
    const oldest = await list('order=asc');
    expect(oldest.data.at(-1)?.id).toBe(ids[2]);
    expect(oldest.has_more).toBe(false);
    await completed(ids[2] ?? '');
  });

  test('are refused before they are complete, and stop when they are deleted', async () => {
    const slow = await serverOf('BestWishYsh/Helios-Distilled', { timeScale: 1 });
    const created = videoJobSchema.parse(await (await post(`${slow.url}/v1/videos`, { prompt: 'a' })).json());
    expect((await fetch(`${slow.url}/v1/videos/${created.id}/content`)).status).toBe(409);
    const second = videoJobSchema.parse(await (await post(`${slow.url}/v1/videos`, { prompt: 'b' })).json());
    expect(slow.stats().requests).toBe(2);
    for (const { id } of [created, second]) {
      const response = await fetch(`${slow.url}/v1/videos/${id}`, { method: 'DELETE' });
      expect(await response.json()).toEqual({ id, deleted: true, object: 'video.deleted' });
    }
    expect(slow.stats().requests).toBe(0);
    expect((await fetch(`${slow.url}/v1/videos/${created.id}`)).status).toBe(404);
  });

  test('come at once where that is asked for', async () => {
    const response = await send(
      `${url()}/sync`,
      form({ prompt: 'a', num_frames: '5', size: '64x64' }),
      'sync',
    );
    expect(response.headers.get('content-type')).toBe('video/mp4');
    expect(JSON.parse(response.headers.get('x-stage-durations') ?? '')).toHaveProperty('stage_0_gen_ms');
    expect(Number(response.headers.get('x-inference-time-s'))).toBeGreaterThan(0);
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.toString('latin1', 4, 8)).toBe('ftyp');
    expect(server.truth().filter(({ id, event }) => id === 'sync' && event === 'video')).toMatchObject([
      { frames: 5 },
    ]);
  });
});

describe('speech', () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await serverOf('Qwen/Qwen3-TTS-12Hz-1.7B-Base');
  });
  const url = (): string => `${server.url}/v1/audio/speech`;
  const input = 'one two three four five six seven eight nine ten';

  test('as events has deltas and usage, or an error', async () => {
    const response = await post(
      url(),
      { input, stream: true, response_format: 'pcm' },
      { 'x-request-id': 'sse' },
    );
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const text = await response.text();
    expect(text).toMatch(/^event: speech\.audio\.delta\ndata: \{"type":"speech\.audio\.delta",/);
    const data = text
      .split('\n')
      .filter((line) => line.startsWith('data: '))
      .map((line) => JSON.parse(line.slice(6)));
    const bytes = data.slice(0, -1).reduce((sum, { audio }) => sum + Buffer.from(audio, 'base64').length, 0);
    const { usage, type } = data.at(-1);
    expect(type).toBe('speech.audio.done');
    expect(usage).toMatchObject({
      input_tokens: 10,
      total_tokens: usage.input_tokens + usage.output_tokens,
      input_token_details: { text_tokens: 10, audio_tokens: 0 },
    });
    expect(bytes).toBe(usage.output_tokens * 1920 * 2);
    const samples = server
      .truth()
      .filter(({ id }) => id === 'sse')
      .reduce((sum, line) => sum + (line.samples ?? 0), 0);
    expect(samples * 2).toBe(bytes);
  });

  test('as a WAV stream has a header of no length and then bare samples', async () => {
    const response = await post(url(), { input, stream_format: 'audio' });
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.toString('latin1', 0, 4)).toBe('RIFF');
    expect(bytes.readUInt32LE(40)).toBe(0xffffffff);
    expect((bytes.length - 44) % (1920 * 2)).toBe(0);
  });

  test('costs what a voice to clone says', async () => {
    // Two samples at 16 kHz are less than a codec frame.
    const ref = `data:audio/wav;base64,${shortWav}`;
    const response = await post(url(), { input, task_type: 'Base', ref_audio: ref });
    expect(response.headers.get('x-vllm-omni-input-audio-tokens')).toBe('0');
    expect(response.headers.get('x-vllm-omni-input-text-tokens')).toBe('10');
  });

  test('has voices that can be added and deleted', async () => {
    const voices = `${server.url}/v1/audio/voices`;
    const sample = new Blob([Buffer.from(shortWav, 'base64')], { type: 'audio/wav' });
    const added = await send(
      voices,
      form({ name: 'Me', consent: 'yes', audio_sample: sample, ref_text: 'hi' }),
    );
    expect(await added.json()).toMatchObject({
      success: true,
      voice: { name: 'Me', consent: 'yes', mime_type: 'audio/wav', file_size: 48, ref_text: 'hi' },
    });
    const listed = JSON.parse(await (await fetch(voices)).text());
    expect(listed.voices).toContain('me');
    expect(listed.voices).toEqual([...listed.voices].sort());
    expect(listed.uploaded_voices).toHaveLength(1);
    expect((await post(url(), { input, voice: 'ME' })).status).toBe(200);
    const deleted = await fetch(`${voices}/Me`, { method: 'DELETE' });
    expect(await deleted.json()).toEqual({ success: true, message: "Voice 'Me' deleted successfully" });
    expect((await post(url(), { input, voice: 'me' })).status).toBe(400);
  });
});

test('documents are ranked, best first', async () => {
  const server = await serverOf('Qwen/Qwen3-Reranker-0.6B');
  const body = { query: 'cats', documents: ['dogs run', { text: 'cats sleep' }, 'cats'], top_n: 2 };
  const { results, usage } = JSON.parse(await (await post(`${server.url}/v1/rerank`, body)).text());
  expect(results).toHaveLength(2);
  expect(results[0].relevance_score).toBeGreaterThanOrEqual(results[1].relevance_score);
  for (const { index, document } of results) expect(document.text).toContain(index === 0 ? 'dogs' : 'cats');
  expect(usage.total_tokens).toBe(3 + 5);
  const { data } = JSON.parse(
    await (await post(`${server.url}/score`, { text_1: 'cats', text_2: ['cats', 'dogs'] })).text(),
  );
  expect(data[0].score).toBeGreaterThan(data[1].score);
});

test('vectors in base64 are 32-bit floats', async () => {
  const server = await serverOf('Qwen/Qwen3-Embedding-0.6B');
  const ask = async (format: string): Promise<unknown> => {
    const response = await post(`${server.url}/v1/embeddings`, {
      input: 'a b',
      encoding_format: format,
      dimensions: 32,
    });
    return JSON.parse(await response.text()).data[0].embedding;
  };
  const bytes = Buffer.from(String(await ask('base64')), 'base64');
  const numbers = Array.from({ length: 32 }, (_, index) => bytes.readFloatLE(index * 4));
  expect(bytes).toHaveLength(128);
  expect(await ask('float')).toEqual(numbers);
  const { data } = JSON.parse(await (await post(`${server.url}/pooling`, { input: [[1, 2, 3]] })).text());
  expect(data[0]).toMatchObject({ object: 'pooling', index: 0 });
  expect(data[0].data).toHaveLength(1024);
});

describe('metrics', () => {
  const families = (text: string): Map<string, number> =>
    new Map(
      text
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
    );
  const read = async ({ url }: TestServer): Promise<string> => (await fetch(`${url}/metrics`)).text();

  test('are listed and not observed without being asked for', async () => {
    const server = await testServer();
    servers.push(server);
    await post(`${server.url}/v1/completions`, { prompt: 'a', max_tokens: 2 });
    const text = await read(server);
    expect(text).toContain('# TYPE vllm_omni:num_requests_running gauge');
    expect(families(text).size).toBe(0);
  });

  test('count what ended, by reason, and what is under way', async () => {
    const server = await testServer({ logStats: true, stageOverrides: null, timeScale: 0.002 });
    servers.push(server);
    const response = await fetch(`${server.url}/metrics`);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const url = `${server.url}/v1/chat/completions`;
    const body = { messages: [{ role: 'user', content: 'a b' }], max_tokens: 5 };
    await (await post(url, { ...body, modalities: ['text'] })).text();
    await (await post(url, { ...body, modalities: ['audio'] })).text();
    const slow = await testServer({ logStats: true, stageOverrides: null });
    servers.push(slow);
    const controller = new AbortController();
    const left = fetch(`${slow.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: controller.signal,
    });
    left.catch(() => {});
    await until(() => slow.stats().requests === 1);
    const model = 'model_name="Qwen/Qwen3-Omni-30B-A3B-Instruct"';
    expect(families(await read(slow)).get(`vllm_omni:num_requests_running{${model}}`)).toBe(1);
    controller.abort();
    await until(() => slow.stats().requests === 0);
    const after = families(await read(slow));
    expect(after.get(`vllm_omni:requests_success_total{${model},finished_reason="abort"}`)).toBe(1);
    expect(after.get(`vllm_omni:num_requests_running{${model}}`)).toBe(0);
    expect(after.get(`vllm_omni:num_requests_waiting{${model}}`)).toBe(0);

    const text = await read(server);
    const values = families(text);
    expect(values.get(`vllm_omni:requests_success_total{${model},finished_reason="length"}`)).toBe(1);
    expect(values.get(`vllm_omni:requests_success_total{${model},finished_reason="stop"}`)).toBe(1);
    expect(values.get(`vllm_omni:e2e_request_latency_s_count{${model}}`)).toBe(2);
    const stage = `${model},stage="2",replica="0"`;
    expect(values.get(`vllm_omni:audio_duration_s_count{${stage}}`)).toBe(1);
    expect(values.get(`vllm_omni:audio_ttfp_s_bucket{${stage},le="+Inf"}`)).toBe(1);
    expect(values.get(`vllm_omni:audio_continuity_ok_total{${stage},threshold_ms="100"}`)).toBe(1);
    // Buckets never fall.
    const buckets = [...values].filter(([name]) => name.startsWith('vllm_omni:e2e_request_latency_s_bucket'));
    const counts = buckets.map(([, value]) => value);
    expect([...counts].sort((a, b) => a - b)).toEqual(counts);
    expect(buckets).toHaveLength(14);
  });
});
