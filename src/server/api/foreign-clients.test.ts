import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import OpenAI, { toFile } from 'openai';
import { afterAll, describe, expect, test } from 'vitest';
import { probeClip } from '../../media/probe-clip.ts';
import { probeImage } from '../../media/probe-image.ts';
import type { ServeOptions } from '../serve-options.ts';
import { countWords, onePixelPng, readWav, type TestServer, testServer } from './wire.suite.ts';

/** Clients that nobody here wrote: what they refuse to read, users cannot read. */

const servers: TestServer[] = [];
async function serverOf(model: string, options: Partial<ServeOptions> = {}): Promise<TestServer> {
  const server = await testServer({ model, stageOverrides: null, timeScale: 0.002, ...options });
  servers.push(server);
  return server;
}
afterAll(async () => {
  for (const server of servers) await server.close();
});

function clientOf({ url }: TestServer, apiKey = 'none'): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
}

const mostPixels = 1e8;
const decoded = (base64: string | undefined | null): Buffer => Buffer.from(base64 ?? '', 'base64');

describe('openai: chat with an omni model', async () => {
  const model = 'Qwen/Qwen3-Omni-30B-A3B-Instruct';
  const client = clientOf(await testOmni());
  async function testOmni(): Promise<TestServer> {
    const server = await testServer();
    servers.push(server);
    return server;
  }
  const messages = [{ role: 'user' as const, content: 'one two three' }];

  test('text and audio, whole', async () => {
    const reply = await client.chat.completions.create({
      model,
      messages,
      max_tokens: 7,
      modalities: ['text', 'audio'],
      audio: { format: 'wav', voice: 'alloy' },
    });
    expect(countWords(reply.choices[0]?.message.content ?? '')).toBe(7);
    const sound = reply.choices[1]?.message.audio;
    expect(readWav(decoded(sound?.data))).toMatchObject({ rate: 24000, samples: 60 * 1920 - 2 * 555 });
    expect(reply.usage?.completion_tokens).toBe(7);
  });

  test.each(['flac', 'mp3', 'opus'] as const)('audio as %s', async (format) => {
    const reply = await client.chat.completions.create({
      model,
      messages,
      max_tokens: 7,
      modalities: ['audio'],
      audio: { format, voice: 'alloy' },
    });
    const { durationS } = await probeClip(decoded(reply.choices[0]?.message.audio?.data));
    expect(durationS).toBeCloseTo((60 * 1920 - 2 * 555) / 24000, 3);
  });

  test('streamed, with usage', async () => {
    const stream = await client.chat.completions.create({
      model,
      messages,
      max_tokens: 7,
      stream: true,
      stream_options: { include_usage: true },
      modalities: ['text'],
    });
    let text = '';
    let tokens: number | undefined;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      tokens = chunk.usage?.completion_tokens ?? tokens;
    }
    expect(countWords(text)).toBe(7);
    expect(tokens).toBe(7);
  });

  test('several choices', async () => {
    const reply = await client.chat.completions.create({
      model,
      messages,
      max_tokens: 3,
      n: 3,
      modalities: ['text'],
    });
    expect(reply.choices.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect(reply.usage?.completion_tokens).toBe(9);
    const stream = await client.chat.completions.create({
      model,
      messages,
      max_tokens: 3,
      n: 3,
      stream: true,
      modalities: ['text'],
    });
    const texts = ['', '', ''];
    const ends = new Set<number>();
    for await (const { choices } of stream) {
      for (const { index, delta, finish_reason } of choices) {
        texts[index] += delta.content ?? '';
        if (finish_reason !== null) ends.add(index);
      }
    }
    expect(texts.map(countWords)).toEqual([3, 3, 3]);
    expect(ends.size).toBe(3);
  });

  test('completions, whole and streamed, of several prompts', async () => {
    const whole = await client.completions.create({ model, prompt: ['a', 'b'], max_tokens: 4 });
    expect(whole.choices.map(({ text }) => countWords(text))).toEqual([4, 4]);
    expect(whole.usage).toMatchObject({ prompt_tokens: 2, completion_tokens: 8 });
    const stream = await client.completions.create({ model, prompt: 'a', max_tokens: 4, stream: true });
    let text = '';
    for await (const chunk of stream) text += chunk.choices[0]?.text ?? '';
    expect(countWords(text)).toBe(4);
  });

  const tools = [
    { type: 'function' as const, function: { name: 'idle', parameters: {} } },
    {
      type: 'function' as const,
      function: {
        name: 'weather',
        parameters: { type: 'object', properties: { days: { type: 'integer', minimum: 1, maximum: 9 } } },
      },
    },
  ];
  const choice = { type: 'function' as const, function: { name: 'weather' } };

  test('a call of a function that is asked for by name', async () => {
    const reply = await client.chat.completions.create({ model, messages, tools, tool_choice: choice });
    const [only, ...others] = reply.choices;
    expect(others).toEqual([]);
    expect(only).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } });
    const [call] = only?.message.tool_calls ?? [];
    if (call?.type !== 'function') throw new Error('a function call was expected');
    expect(call.function.name).toBe('weather');
    const { days } = JSON.parse(call.function.arguments);
    expect([1, 2, 3, 4, 5, 6, 7, 8, 9]).toContain(days);
    expect(reply.usage?.completion_tokens).toBeGreaterThan(0);
  });

  test('a call that is required, streamed: the client puts it together', async () => {
    const runner = client.chat.completions.stream({
      model,
      messages,
      tools,
      tool_choice: 'required',
      seed: 5,
    });
    const { choices } = await runner.finalChatCompletion();
    expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls' });
    const [call] = choices[0]?.message.tool_calls ?? [];
    if (call?.type !== 'function') throw new Error('a function call was expected');
    expect(tools.map((tool) => tool.function.name)).toContain(call.function.name);
    expect(() => JSON.parse(call.function.arguments)).not.toThrow();
    expect(call.id).toMatch(/^call_/);
  });

  test.each([
    ['required' as const, []],
    [{ type: 'function' as const, function: { name: 'nobody' } }, tools],
  ])('a call that cannot be made is refused: %j', async (tool_choice, given) => {
    await expect(
      client.chat.completions.create({ model, messages, tools: given, tool_choice }),
    ).rejects.toMatchObject({ status: 400, param: 'tool_choice' });
  });

  test('responses, whole', async () => {
    const reply = await client.responses.create({
      model,
      instructions: 'be brief',
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'one two' }] },
        { role: 'assistant', content: 'three' },
        { role: 'user', content: 'four' },
      ],
      max_output_tokens: 5,
    });
    expect(countWords(reply.output_text)).toBe(5);
    expect(reply).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      // Six words, and what the template adds: five tokens for each of four messages, seven for the reply's beginning.
      usage: { input_tokens: 6 + 4 * 5 + 7, output_tokens: 5, total_tokens: 38 },
    });
  });

  test('responses, streamed', async () => {
    const stream = await client.responses.create({ model, input: 'one two three', stream: true });
    const types: string[] = [];
    let text = '';
    let last: OpenAI.Responses.Response | null = null;
    for await (const event of stream) {
      expect(event.sequence_number).toBe(types.length);
      types.push(event.type);
      if (event.type === 'response.output_text.delta') text += event.delta;
      if (event.type === 'response.completed') last = event.response;
    }
    expect(types.filter((type) => type !== 'response.output_text.delta')).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(last).toMatchObject({ status: 'completed', usage: { output_tokens: countWords(text) } });
    expect(last?.output[0]).toMatchObject({ content: [{ type: 'output_text', text }] });
  });

  test('tools are taken', async () => {
    const reply = await client.chat.completions.create({
      model,
      messages,
      max_tokens: 2,
      modalities: ['text'],
      tools: [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }],
    });
    expect(reply.choices[0]?.finish_reason).toBe('length');
  });

  test('models', async () => {
    const ids: string[] = [];
    for await (const { id } of client.models.list()) ids.push(id);
    expect(ids).toEqual([model]);
    expect((await client.models.retrieve(model)).id).toBe(model);
  });

  test('errors come as its own', async () => {
    const refused = client.chat.completions.create({ model: 'gpt-4', messages });
    await expect(refused).rejects.toThrow(OpenAI.NotFoundError);
    await expect(client.audio.speech.create({ model, voice: 'alloy', input: 'hi' })).rejects.toThrow(
      /chat\/completions/,
    );
  });
});

test('openai: a wrong key is refused, the right one is not', async () => {
  const server = await serverOf('Qwen/Qwen2.5-7B-Instruct', { apiKeys: ['right', 'also right'] });
  await expect(clientOf(server, 'wrong').models.list()).rejects.toThrow(OpenAI.AuthenticationError);
  expect((await clientOf(server, 'also right').models.list()).data).toHaveLength(1);
  expect((await fetch(`${server.url}/health`)).status).toBe(200);
});

describe('openai: speech', async () => {
  const model = 'Qwen/Qwen3-TTS-12Hz-1.7B-CustomVoice';
  const client = clientOf(await serverOf(model));
  const input = 'This is a text of some length, so that there is something to say.';

  test.each(['wav', 'mp3', 'flac', 'opus', 'aac', 'pcm'] as const)('as %s', async (response_format) => {
    const reply = await client.audio.speech.create({ model, voice: 'vivian', input, response_format });
    const bytes = Buffer.from(await reply.arrayBuffer());
    const tokens = Number(reply.headers.get('x-vllm-omni-output-tokens'));
    expect(tokens).toBeGreaterThan(10);
    if (response_format === 'pcm') expect(bytes.length).toBe(tokens * 1920 * 2);
    else expect((await probeClip(bytes)).durationS).toBeCloseTo((tokens * 1920) / 24000, 0);
  });

  test('streamed as bytes', async () => {
    const reply = await client.audio.speech.create({
      model,
      voice: 'vivian',
      input,
      response_format: 'pcm',
      stream_format: 'audio',
    });
    let bytes = 0;
    let pieces = 0;
    for await (const piece of reply.body ?? []) {
      bytes += piece.length;
      pieces += 1;
    }
    expect(reply.headers.get('x-sample-rate')).toBe('24000');
    expect(bytes % (1920 * 2)).toBe(0);
    expect(pieces).toBeGreaterThan(1);
  });
});

describe('openai: images', async () => {
  const draw = clientOf(await serverOf('Qwen/Qwen-Image'));
  const edit = clientOf(await serverOf('Qwen/Qwen-Image-Edit'));
  const hunyuan = clientOf(await serverOf('tencent/HunyuanImage-3.0-Instruct'));
  const picture = () => toFile(Buffer.from(onePixelPng, 'base64'), 'one.png', { type: 'image/png' });

  test('generate', async () => {
    const { data, output_format } = await draw.images.generate({
      prompt: 'a cat',
      n: 2,
      size: '512x512',
      output_format: 'webp',
    });
    expect(output_format).toBe('webp');
    expect(data).toHaveLength(2);
    for (const { b64_json } of data ?? [])
      expect(await probeImage(decoded(b64_json), mostPixels)).toEqual({
        format: 'webp',
        widthPx: 512,
        heightPx: 512,
      });
  });

  test('edit', async () => {
    const { data } = await edit.images.edit({
      prompt: 'more',
      image: [await picture(), await picture()],
      size: '256x256',
    });
    expect(await probeImage(decoded(data?.[0]?.b64_json), mostPixels)).toMatchObject({ widthPx: 256 });
  });

  test('edit, streamed', async () => {
    const stream = await hunyuan.images.edit({
      prompt: 'more',
      image: await picture(),
      size: '256x256',
      stream: true,
    });
    let text = 0;
    let images = 0;
    for await (const event of stream) {
      const { type, delta, data }: { type: string; delta?: string; data?: unknown[] } = JSON.parse(
        JSON.stringify(event),
      );
      if (type === 'ar_delta') text += countWords(delta ?? '');
      if (type === 'image') images += data?.length ?? 0;
    }
    expect(text).toBeGreaterThan(0);
    expect(images).toBe(1);
  });
});

test('openai: a video is made, fetched and deleted', async () => {
  const client = clientOf(await serverOf('BestWishYsh/Helios-Distilled'));
  let video = await client.videos.create({ prompt: 'a fox', seconds: '4', size: '720x1280' });
  for (let tries = 0; video.status !== 'completed' && tries < 500; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 5));
    video = await client.videos.retrieve(video.id);
  }
  expect(video).toMatchObject({ status: 'completed', progress: 100, size: '720x1280', seconds: '4' });
  const file = Buffer.from(await (await client.videos.downloadContent(video.id)).arrayBuffer());
  expect(await probeClip(file)).toMatchObject({ durationS: 4, video: { widthPx: 720, heightPx: 1280 } });
  const second = await client.videos.create({ prompt: 'a bear' });
  const ids: string[] = [];
  for await (const { id } of client.videos.list({ limit: 1 })) ids.push(id);
  expect(ids).toEqual([second.id, video.id]);
  expect(await client.videos.delete(video.id)).toMatchObject({ id: video.id, deleted: true });
  await expect(client.videos.retrieve(video.id)).rejects.toThrow(OpenAI.NotFoundError);
});

test('openai: vectors, as numbers and as base64', async () => {
  const client = clientOf(await serverOf('Qwen/Qwen3-Embedding-0.6B'));
  const model = 'Qwen/Qwen3-Embedding-0.6B';
  const floats = await client.embeddings.create({ model, input: ['a', 'b c'], encoding_format: 'float' });
  // Without a format this client asks for base64 and turns it into numbers itself.
  const packed = await client.embeddings.create({ model, input: ['a', 'b c'] });
  expect(floats.data.map(({ embedding }) => embedding.length)).toEqual([1024, 1024]);
  expect(packed.data[1]?.embedding).toEqual(floats.data[1]?.embedding);
  expect(floats.usage.prompt_tokens).toBe(3);
});

test('openai: vectors of pictures and texts together', async () => {
  const server = await serverOf('TIGER-Lab/VLM2Vec-Full');
  const client = clientOf(server);
  const url = `data:image/png;base64,${onePixelPng}`;
  const embed = async (body: object): Promise<number[]> => {
    const reply = await client.post<{ data: { embedding: number[] }[]; usage: { prompt_tokens: number } }>(
      '/embeddings',
      { body },
    );
    expect(reply.usage.prompt_tokens).toBeGreaterThan(0);
    return reply.data[0]?.embedding ?? [];
  };
  const chat = (...content: object[]): object => ({ messages: [{ role: 'user', content }] });
  const picture = { type: 'image_url', image_url: { url } };
  const both = await embed(chat(picture, { type: 'text', text: 'Represent the given image.' }));
  // CLIP: beside a picture the text is empty.
  const alone = await embed(chat({ type: 'text', text: '' }, picture));
  const text = await embed(chat({ type: 'text', text: 'Represent the given image.' }));
  expect([both, alone, text].map(({ length }) => length)).toEqual([1024, 1024, 1024]);
  expect(new Set([both, alone, text].map((vector) => vector.join())).size).toBe(3);
  // Infinity: the URL as input.
  const byUrl = await embed({ input: url, modality: 'image' });
  expect(await embed({ input: [url], modality: 'image' })).toEqual(byUrl);
  await expect(embed({ input: 'no url', modality: 'image' })).rejects.toMatchObject({ status: 400 });
});

test('openai: transcriptions', async () => {
  const client = clientOf(await serverOf('openai/whisper-small'));
  const file = () => toFile(secondOfSilence(), 'a.wav', { type: 'audio/wav' });
  const model = 'whisper-small';
  const { text } = await client.audio.transcriptions.create({ model, file: await file() });
  expect(countWords(text)).toBeGreaterThan(0);
  const verbose = await client.audio.transcriptions.create({
    model,
    file: await file(),
    response_format: 'verbose_json',
    timestamp_granularities: ['word'],
  });
  expect(verbose.duration).toBe(1);
  expect(verbose.segments?.at(-1)?.end).toBe(1);
  const subtitles = await client.audio.transcriptions.create({
    model,
    file: await file(),
    response_format: 'srt',
  });
  expect(String(subtitles)).toMatch(/^1\n00:00:00,000 --> 00:00:01,000\n/);
  const translated = await client.audio.translations.create({ model, file: await file() });
  expect(countWords(translated.text)).toBeGreaterThan(0);
  const stream = await client.audio.transcriptions.create({ model, file: await file(), stream: true });
  let streamed = '';
  let whole = '';
  for await (const event of stream) {
    if (event.type === 'transcript.text.delta') streamed += event.delta;
    if (event.type === 'transcript.text.done') whole = event.text;
  }
  expect(streamed.trim()).toBe(whole);
});

function secondOfSilence(): Buffer {
  const wav = Buffer.alloc(44 + 32000);
  Buffer.from(
    '52494646247d000057415645666d74201000000001000100803e0000007d00000200100064617461007d0000',
    'hex',
  ).copy(wav);
  return wav;
}

test('AI SDK: streams a chat', async () => {
  const server = await serverOf('Qwen/Qwen2.5-7B-Instruct');
  const provider = createOpenAICompatible({ name: 'omni', baseURL: `${server.url}/v1`, includeUsage: true });
  const { stream } = await provider.chatModel('Qwen/Qwen2.5-7B-Instruct').doStream({
    prompt: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
    maxOutputTokens: 12,
  });
  let text = '';
  let outputTokens: number | undefined;
  let finish: string | undefined;
  for await (const part of stream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'text-delta') text += part.delta;
    if (part.type !== 'finish') continue;
    outputTokens = part.usage.outputTokens.total;
    finish = part.finishReason.unified;
  }
  expect(countWords(text)).toBe(12);
  expect({ outputTokens, finish }).toEqual({ outputTokens: 12, finish: 'length' });
});
