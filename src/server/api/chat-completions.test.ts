import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ChatChunk, chatResponseSchema } from '../../protocol/chat-completions.ts';
import {
  chunksOf,
  countWords,
  eventsOf,
  onePixelPng,
  post,
  readWav,
  shortWav,
  type TestServer,
  testServer,
} from './wire.suite.ts';

let server: TestServer;
const messages = [{ role: 'user', content: 'one two three' }];
// Three words, and what the template puts around them.
const promptTokens = 3 + 5 + 7;

beforeAll(async () => {
  server = await testServer();
});
afterAll(() => server.close());

function chat(body: Record<string, unknown>, headers: Record<string, string> = {}): Promise<Response> {
  return post(`${server.url}/v1/chat/completions`, { messages, max_tokens: 7, ...body }, headers);
}

function ofModality(chunks: readonly ChatChunk[], modality: string): ChatChunk[] {
  return chunks.filter((chunk) => chunk.modality === modality);
}

function textOf(chunks: readonly ChatChunk[]): string {
  return ofModality(chunks, 'text')
    .map(({ choices }) => choices[0]?.delta.content ?? '')
    .join('');
}

describe('a streamed chat of text and speech', () => {
  test('has a role chunk, text, speech, one finish reason, usage and the end mark', async () => {
    const response = await chat(
      { stream: true, stream_options: { include_usage: true, continuous_usage_stats: true } },
      { 'x-request-id': 'full-reply' },
    );
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(response.headers.get('x-request-id')).toBe('full-reply');
    const chunks = await chunksOf(response);
    for (const chunk of chunks) expect(chunk.id).toBe('chatcmpl-full-reply');

    const text = ofModality(chunks, 'text');
    expect(text[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '' });
    expect(text.map(({ usage }) => usage?.completion_tokens)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(countWords(textOf(chunks))).toBe(7);
    for (const { usage } of text) expect(usage?.prompt_tokens).toBe(promptTokens);

    const audio = ofModality(chunks, 'audio');
    const sounds = audio.map(({ choices }) =>
      readWav(Buffer.from(String(choices[0]?.delta.content), 'base64')),
    );
    // 60 frames: 18, 25 and 17, and 555 samples lost at each of two borders.
    expect(sounds.map(({ samples }) => samples)).toEqual([18 * 1920, 25 * 1920 - 555, 17 * 1920 - 555]);
    for (const { channels, rate, bits } of sounds)
      expect({ channels, rate, bits }).toEqual({ channels: 1, rate: 24000, bits: 16 });
    for (const [index, { choices, usage }] of audio.entries()) {
      expect(choices[0]?.audio_metadata).toEqual({
        format: 'wav',
        sample_rate_hz: 24000,
        frame_count: sounds[index]?.samples,
        channels: 1,
      });
      expect(usage).toEqual({
        prompt_tokens: promptTokens,
        completion_tokens: 0,
        total_tokens: promptTokens,
      });
    }

    const reasons = chunks
      .map(({ choices }) => choices[0]?.finish_reason)
      .filter((reason) => reason !== null && reason !== undefined);
    expect(reasons).toHaveLength(1);
    const last = chunks.at(-1);
    expect(last?.choices).toEqual([]);
    expect(last?.usage).toEqual({
      prompt_tokens: promptTokens,
      completion_tokens: 7,
      total_tokens: promptTokens + 7,
    });
    for (const chunk of chunks) expect(chunk).not.toHaveProperty('metrics');
  });

  test('agrees with the truth log in every event, byte and count', async () => {
    const response = await chat(
      { stream: true, stream_options: { include_usage: true } },
      { 'x-request-id': 'true' },
    );
    const raw = await response.text();
    const events = raw.split('\n\n').filter((event) => event !== '');
    const lines = server.truth().filter(({ id }) => id === 'true');
    expect(lines.slice(0, 2).map(({ event }) => event)).toEqual(['accepted', 'headers']);
    const sent = lines.slice(2);
    expect(sent.map(({ bytes }) => bytes)).toEqual(events.map((event) => event.length + 2));
    const kinds = events.map((event) => {
      if (event === 'data: [DONE]') return 'done';
      const chunk: ChatChunk = JSON.parse(event.slice('data: '.length));
      if (chunk.choices.length === 0) return 'usage';
      if (chunk.modality === 'audio') return 'audio';
      return chunk.choices[0]?.delta.role === undefined ? 'text' : 'role';
    });
    expect(sent.map(({ event }) => event)).toEqual(kinds);
    expect(sent.reduce((sum, { tokens = 0 }) => sum + tokens, 0)).toBe(7);
    expect(sent.reduce((sum, { samples = 0 }) => sum + samples, 0)).toBe(60 * 1920 - 2 * 555);
    const times = lines.map(({ t }) => t);
    expect([...times].sort((a, b) => a - b)).toEqual(times);
    const hostMs = Number(process.hrtime.bigint()) / 1e6;
    expect(hostMs - (times[0] ?? 0)).toBeGreaterThan(0);
    expect(hostMs - (times[0] ?? 0)).toBeLessThan(60_000);
  });

  test('carries usage only where it was asked for, but on speech', async () => {
    const chunks = await chunksOf(await chat({ stream: true }));
    for (const { usage } of ofModality(chunks, 'text')) expect(usage).toBeUndefined();
    expect(chunks.at(-1)?.choices).toHaveLength(1);
  });

  test('is text alone, or speech alone, as the modalities say', async () => {
    const text = await chunksOf(await chat({ stream: true, modalities: ['text'] }));
    expect(new Set(text.map(({ modality }) => modality))).toEqual(new Set(['text']));
    expect(text.at(-1)?.choices[0]?.finish_reason).toBe('length');
    const audio = await chunksOf(await chat({ stream: true, modalities: ['audio'] }));
    expect(new Set(audio.map(({ modality }) => modality))).toEqual(new Set(['audio']));
    expect(audio.at(-1)?.choices[0]?.finish_reason).toBe('stop');
  });

  test.each(['pcm', 'pcm16'])('sends bare samples as %s', async (format) => {
    const chunks = await chunksOf(await chat({ stream: true, modalities: ['audio'], audio: { format } }));
    const bytes = chunks.map(
      ({ choices }) => Buffer.from(String(choices[0]?.delta.content), 'base64').length,
    );
    expect(bytes).toEqual([18 * 1920 * 2, (25 * 1920 - 555) * 2, (17 * 1920 - 555) * 2]);
    expect(chunks[0]?.choices[0]?.audio_metadata?.format).toBe('pcm');
  });

  test('starts speech sooner with a smaller first chunk', async () => {
    const body = { stream: true, modalities: ['audio'], extra_body: { initial_codec_chunk_frames: 5 } };
    const chunks = await chunksOf(await chat(body));
    const samples = chunks.map(({ choices }) => choices[0]?.audio_metadata?.frame_count);
    expect(samples).toEqual([5 * 1920, 25 * 1920 - 555, 25 * 1920 - 555, 5 * 1920 - 555]);
  });

  test('joins without a click: the sound goes on where it stopped', async () => {
    const chunks = await chunksOf(
      await chat({ stream: true, modalities: ['audio'], audio: { format: 'pcm' } }),
    );
    const pcm = Buffer.concat(
      chunks.map(({ choices }) => Buffer.from(String(choices[0]?.delta.content), 'base64')),
    );
    const one = pcm.subarray(0, 15 * 2);
    for (let at = 0; at < pcm.length; at += one.length) {
      expect(pcm.subarray(at, at + one.length).equals(one)).toBe(true);
    }
  });
});

describe('stage metrics', () => {
  test.each([
    ['at the root', { return_stage_metrics: true }],
    ['as a text', { return_stage_metrics: 'yes' }],
    ['in extra_body', { extra_body: { return_stage_metrics: 1 } }],
  ])('are sent when asked for %s', async (_where, flag) => {
    const chunks = await chunksOf(
      await chat({ ...flag, stream: true, stream_options: { include_usage: true } }),
    );
    const [role, ...others] = chunks;
    expect(role).not.toHaveProperty('metrics');
    for (const chunk of others) expect(chunk.metrics).toBeTypeOf('object');
    const stages = chunks.at(-1)?.metrics?.stage_metrics ?? {};
    expect(Object.keys(stages)).toEqual(['0', '1', '2']);
    expect(stages['0']).toMatchObject({
      stage_name: 'thinker',
      final_output_type: 'text',
      output_unit_type: 'text',
      num_tokens_in: promptTokens,
      num_tokens_out: 7,
      finish_reason: 'length',
    });
    expect(stages['1']).toMatchObject({
      stage_name: 'talker',
      final_output_type: null,
      output_unit_type: 'stream',
      num_tokens_out: 60,
      finish_reason: 'stop',
    });
    expect(stages['2']).toMatchObject({
      stage_name: 'code2wav',
      final_output_type: 'audio',
      output_unit_type: 'audio',
      audio_frames: 60 * 1920 - 2 * 555,
      output_unit_count: 60 * 1920 - 2 * 555,
      audio_sample_rate: 24000,
    });
    expect(stages['0']?.inter_output_latencies_ms).toHaveLength(6);
    expect(stages['0']?.vllm_itls_ms).toHaveLength(6);
    expect(stages['1']?.inter_output_latencies_ms).toHaveLength(59);
    expect(stages['1']?.vllm_itls_ms).toEqual([]);
  });

  test('come with the chunks that end the text and the reply, and never without those of the text', async () => {
    const chunks = await chunksOf(await chat({ return_stage_metrics: true, stream: true }));
    const withStages = chunks.filter(({ metrics }) => metrics?.stage_metrics !== undefined);
    const textEnd = chunks.find(({ metrics }) => metrics?.final_output_type === 'text');
    expect(withStages).toEqual([textEnd, chunks.at(-1)]);
    expect(textEnd?.metrics).toMatchObject({ num_tokens_in: promptTokens, num_tokens_out: 7, stage_id: 0 });
    expect(Object.keys(textEnd?.metrics?.stage_metrics ?? {})).toEqual(['0']);
    expect(Object.keys(chunks.at(-1)?.metrics?.stage_metrics ?? {})).toEqual(['0', '1', '2']);
  });

  test('come with the end of a reply that is speech alone', async () => {
    const chunks = await chunksOf(
      await chat({ return_stage_metrics: true, stream: true, modalities: ['audio'] }),
    );
    expect(Object.keys(chunks.at(-1)?.metrics?.stage_metrics ?? {})).toEqual(['0', '1', '2']);
  });

  test('wait for the text where the speech ends first', async () => {
    const chunks = await chunksOf(await chat({ return_stage_metrics: true, stream: true, max_tokens: 3000 }));
    const audioEnd = chunks.find(({ metrics }) => metrics?.final_output_type === 'audio');
    expect(audioEnd?.metrics).toEqual({ stage_id: 2, final_output_type: 'audio' });
    expect(Object.keys(chunks.at(-1)?.metrics?.stage_metrics ?? {})).toEqual(['0', '1', '2']);
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('length');
  });

  test.each([{}, { return_stage_metrics: false }, { return_stage_metrics: 'no' }])(
    'are absent for %o',
    async (flag) => {
      const events = await eventsOf(await chat({ ...flag, stream: true }));
      for (const event of events) expect(event).not.toContain('metrics');
      expect(await (await chat(flag)).text()).not.toContain('metrics');
    },
  );
});

describe('a chat that is not streamed', () => {
  test('has one choice per modality', async () => {
    const response = await chat({ return_stage_metrics: true }, { 'x-request-id': 'whole' });
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('x-request-id')).toBe('whole');
    const body = chatResponseSchema.parse(await response.json());
    expect(body.id).toBe('chatcmpl-whole');
    expect(body.choices.map(({ index }) => index)).toEqual([0, 0]);
    expect(countWords(String(body.choices[0]?.message.content))).toBe(7);
    expect(body.choices[0]?.finish_reason).toBe('length');
    const audio = body.choices[1]?.message.audio;
    expect(audio?.id).toMatch(/^audio-[0-9a-f]{16}$/);
    expect((audio?.expires_at ?? 0) - body.created).toBe(86400);
    expect(readWav(Buffer.from(audio?.data ?? '', 'base64')).samples).toBe(60 * 1920 - 2 * 555);
    expect(body.usage).toEqual({
      prompt_tokens: promptTokens,
      completion_tokens: 7,
      total_tokens: promptTokens + 7,
    });
    expect(Object.keys(body.metrics?.stage_metrics ?? {})).toEqual(['0', '1', '2']);
    const lines = server.truth().filter(({ id }) => id === 'whole');
    expect(lines.map(({ event }) => event)).toEqual(['accepted', 'text', 'audio', 'headers', 'done']);
    expect(lines[1]?.tokens).toBe(7);
    expect(lines[2]?.samples).toBe(60 * 1920 - 2 * 555);
  });
});

describe('sampling', () => {
  const finish = async (
    body: Record<string, unknown>,
  ): Promise<{ text: string; reason: unknown; stop: unknown; tokens: number | undefined }> => {
    const response = await chat({ modalities: ['text'], ...body });
    const { choices, usage } = chatResponseSchema.parse(await response.json());
    return {
      text: String(choices[0]?.message.content),
      reason: choices[0]?.finish_reason,
      stop: choices[0]?.stop_reason,
      tokens: usage?.completion_tokens,
    };
  };

  test('max_completion_tokens wins over max_tokens', async () => {
    expect(await finish({ max_tokens: 9, max_completion_tokens: 4 })).toMatchObject({
      tokens: 4,
      reason: 'length',
    });
  });

  test('a reply without a limit ends by itself', async () => {
    expect(await finish({ max_tokens: null })).toMatchObject({ tokens: 256, reason: 'stop' });
  });

  test('a stop text ends the reply before it', async () => {
    const whole = (await finish({ max_tokens: 300 })).text;
    // Another request starts elsewhere in the word list, so any word comes by within its length.
    const stopped = await finish({ max_tokens: 300, stop: ['no such words', ' water'] });
    expect(whole).toContain(' water');
    expect(stopped).toMatchObject({ reason: 'stop', stop: ' water' });
    expect(stopped.text).not.toContain('water');
  });

  test('sampling_params_list sets each stage', async () => {
    const response = await chat({ sampling_params_list: [{ max_tokens: 3 }, { max_tokens: 20 }] });
    const { choices, usage } = chatResponseSchema.parse(await response.json());
    expect(usage?.completion_tokens).toBe(3);
    const audio = choices[1]?.message.audio?.data ?? '';
    expect(readWav(Buffer.from(audio, 'base64')).samples).toBe(20 * 1920 - 555);
  });
});

describe('prompts', () => {
  const tokensOf = async (content: unknown): Promise<number | undefined> => {
    const response = await chat({ modalities: ['text'], messages: [{ role: 'user', content }] });
    return chatResponseSchema.parse(await response.json()).usage?.prompt_tokens;
  };

  test('count their texts, their messages and the opening of the reply', async () => {
    expect(await tokensOf('a b c d')).toBe(4 + 12);
    expect(
      await tokensOf([
        { type: 'text', text: 'a b' },
        { type: 'text', text: 'c' },
      ]),
    ).toBe(3 + 12);
    const two = await chat({
      modalities: ['text'],
      messages: [{ role: 'system', content: 'a' }, ...messages],
    });
    expect(chatResponseSchema.parse(await two.json()).usage?.prompt_tokens).toBe(4 + 5 + 12);
  });

  test('take media parts, of which each counts the same', async () => {
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${onePixelPng}` } };
    const audio = { type: 'input_audio', input_audio: { data: shortWav, format: 'wav' } };
    expect(await tokensOf([image, { type: 'text', text: 'a' }, audio])).toBe(1 + 2 * 256 + 12);
  });
});
