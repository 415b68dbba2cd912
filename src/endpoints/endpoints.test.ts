import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { eventKinds } from '../records/event-log.ts';
import type { Peer } from '../transport/contract/scripted-server.suite.ts';
import {
  EndpointBench,
  endpointContract,
  exampleSample,
  exampleTarget,
  playEvents,
} from './endpoint.suite.ts';
import type { Observation } from './endpoint.ts';
import { openaiChat } from './openai-chat.ts';
import { dailyOmni, openaiChatOmni } from './openai-chat-omni.ts';
import { openaiCompletions, vllmCompletions } from './openai-completions.ts';
import { openaiResponses } from './openai-responses.ts';
import { endpoints } from './registry.ts';

const usage = { id: 'c', choices: [], usage: { prompt_tokens: 11, completion_tokens: 2, total_tokens: 13 } };
const chatMessages = [{ role: 'user', content: [{ type: 'text', text: 'Say hé' }] }];
const chatChunk = (text: string) => ({
  id: 'c',
  choices: [{ index: 0, delta: { content: text }, finish_reason: null }],
});
const chatWhole = (text: string) => ({
  id: 'c',
  choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
});

for (const endpoint of [openaiCompletions, vllmCompletions]) {
  endpointContract({
    endpoint,
    body: {
      model: 'served',
      prompt: 'Say hé',
      max_tokens: 7,
      stream: true,
      stream_options: { include_usage: true },
    },
    chunk: (text) => ({ id: 'c', choices: [{ index: 0, text, finish_reason: null }] }),
    whole: (text) => ({ id: 'c', choices: [{ index: 0, text, finish_reason: 'length' }] }),
    usage,
  });
}
endpointContract({
  endpoint: openaiChat,
  body: {
    model: 'served',
    messages: chatMessages,
    max_completion_tokens: 7,
    stream: true,
    stream_options: { include_usage: true },
  },
  chunk: chatChunk,
  whole: chatWhole,
  usage,
});
for (const endpoint of [openaiChatOmni, dailyOmni]) {
  endpointContract({
    endpoint,
    body: {
      model: 'served',
      messages: chatMessages,
      temperature: 0,
      max_tokens: 7,
      stream: true,
      stream_options: { include_usage: true, continuous_usage_stats: true },
    },
    chunk: (text) => ({ ...chatChunk(text), modality: 'text' }),
    whole: chatWhole,
    usage,
  });
}

endpointContract({
  endpoint: openaiResponses,
  body: { model: 'served', input: 'Say hé', max_output_tokens: 7, stream: true },
  chunk: (text) => ({ type: 'response.output_text.delta', item_id: 'm', delta: text }),
  whole: (text) => ({
    id: 'r',
    status: 'completed',
    output: [
      { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'hm' }] },
      { type: 'message', content: [{ type: 'output_text', text }] },
    ],
  }),
  usage: {
    type: 'response.completed',
    response: { id: 'r', status: 'completed', usage: { input_tokens: 11, output_tokens: 2 } },
    usage: { input_tokens: 11, output_tokens: 2 },
  },
});

const bench = { current: new EndpointBench() };
afterEach(async () => {
  await bench.current.close();
  bench.current = new EndpointBench();
});

async function omni(
  play: (peer: Peer, number: number) => Promise<void> | void,
  extraBody: Record<string, unknown> = {},
  endpoint = openaiChatOmni,
): Promise<Observation> {
  let requests = 0;
  const server = await bench.current.server(async (peer) => {
    while ((await peer.request()) !== null) await play(peer, ++requests);
  });
  return bench.current.observe(
    endpoint,
    'socket',
    endpoint.prepare(exampleSample, exampleTarget(`${server.url}/v1/chat/completions`, { extraBody })),
  );
}
const play = (events: readonly unknown[]) => (peer: Peer) => playEvents(peer, events);
const text = (content: string, completion?: number, more: Record<string, unknown> = {}) => ({
  modality: 'text',
  choices: [{ index: 0, delta: { content }, finish_reason: null, ...more }],
  ...(completion === undefined
    ? {}
    : { usage: { prompt_tokens: 5, completion_tokens: completion, total_tokens: 5 + completion } }),
});
const audio = (content: unknown, more: Record<string, unknown> = {}) => ({
  modality: 'audio',
  choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null, ...more }],
});

/** A WAV file by the textbook layout, not by the code under test. */
function wav(samples: number, rate = 24_000, channels = 1): string {
  const data = samples * 2 * channels;
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + data, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(channels, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 2 * channels, 28);
  head.writeUInt16LE(2 * channels, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(data, 40);
  return Buffer.concat([head, Buffer.alloc(data, 7)]).toString('base64');
}

describe('tokens of a chunk', () => {
  it('are the advance of the cumulative usage: 1, 4, 6', async () => {
    const seen = await omni(play([text('', 0), text('a', 1), text('bcd', 4), text('ef', 6), '[DONE]']));
    expect([...seen.events.tokens]).toEqual([-1, 1, 3, 2]);
    expect([...seen.events.kinds]).toEqual([
      eventKinds.empty,
      eventKinds.text,
      eventKinds.text,
      eventKinds.text,
    ]);
    expect(seen.outputTokens).toBe(6);
  });

  it('are the length of token_ids where usage says nothing, and 1 where nothing does', async () => {
    const seen = await omni(play([text('ab', undefined, { token_ids: [1, 2] }), text('c'), '[DONE]']));
    expect([...seen.events.tokens]).toEqual([2, 1]);
    expect(seen.outputTokens).toBeNull();
  });

  it('are unknown for content whose usage did not advance', async () => {
    const seen = await omni(play([text('a', 1), text('b', 1)]));
    expect([...seen.events.tokens]).toEqual([1, -1]);
  });

  it('never fall: a later zero does not overwrite the total', async () => {
    const seen = await omni(
      play([
        text('a', 9),
        { choices: [], usage: { prompt_tokens: 5, completion_tokens: 0 }, metrics: { num_tokens_out: 0 } },
      ]),
    );
    expect(seen.outputTokens).toBe(9);
  });

  it('come from the text stage where metrics are nested, not from a sum over stages', async () => {
    const seen = await omni(
      play([
        text('a'),
        {
          choices: [],
          metrics: {
            stage_metrics: {
              '0': { num_tokens_out: 40, final_output_type: 'text' },
              '1': { num_tokens_out: 900 },
            },
          },
        },
      ]),
    );
    expect(seen).toMatchObject({ outputTokens: 40, outputTokensSource: 'stage' });
  });

  it('are not raised by a later message that brings only the talker, whose units are codec frames', async () => {
    const stage = (id: string, snapshot: unknown) => ({
      modality: 'audio',
      choices: [],
      metrics: { stage_metrics: { [id]: snapshot }, final_output_type: 'audio' },
    });
    const seen = await omni(
      play([
        text('a', 900),
        stage('0', { num_tokens_out: 900, final_output_type: 'text' }),
        stage('1', { num_tokens_out: 2207, output_unit_type: 'stream' }),
      ]),
    );
    expect(seen).toMatchObject({ outputTokens: 900, outputTokensSource: 'usage' });
  });

  it('are the largest of the other stages where none is text', async () => {
    const seen = await omni(
      play([
        text('a'),
        {
          choices: [],
          metrics: { stage_metrics: { '0': { num_tokens_out: 40 }, '1': { num_tokens_out: 900 } } },
        },
      ]),
    );
    expect(seen.outputTokens).toBe(900);
  });
});

describe('reasoning, tools, refusals', () => {
  it.each([
    ['reasoning_content', { reasoning_content: 'hm' }, eventKinds.reasoning],
    ['reasoning', { reasoning: 'hm' }, eventKinds.reasoning],
    ['tool_calls', { tool_calls: [{ index: 0, function: { arguments: '{' } }] }, eventKinds.tool],
    ['refusal', { refusal: 'no' }, eventKinds.refusal],
  ])('%s is a token event and no text, and not an empty reply', async (_, delta, kind) => {
    for (const endpoint of [openaiChat, openaiChatOmni]) {
      const seen = await omni(play([{ choices: [{ index: 0, delta }] }]), {}, endpoint);
      expect(seen).toMatchObject({ outcome: { ok: true }, text: '' });
      expect([...seen.events.kinds]).toEqual([kind]);
      expect([...seen.events.tokens]).toEqual([1]);
    }
  });
});

describe('audio of a chat reply', () => {
  it('adds up complete WAV chunks, with the frames of each', async () => {
    const seen = await omni(play([text('a', 1), audio(wav(1920)), audio(''), audio(wav(480)), '[DONE]']));
    expect(seen.audio).toMatchObject({
      format: 'wav',
      sampleRateHz: 24_000,
      channels: 1,
      sampleBytes: 2,
      frames: 2400,
      durationS: 0.1,
      droppedChunks: 0,
    });
    expect([...seen.events.kinds]).toEqual([
      eventKinds.text,
      eventKinds.audio,
      eventKinds.empty,
      eventKinds.audio,
    ]);
    expect([...seen.events.frames]).toEqual([-1, 1920, -1, 480]);
  });

  it('takes delta.audio.data as well, with or without a modality', async () => {
    const chunk = { choices: [{ index: 0, delta: { audio: { data: wav(240) } } }] };
    const seen = await omni(play([chunk, { ...chunk, modality: 'audio' }]));
    expect(seen.audio?.frames).toBe(480);
  });

  it('leaves out a chunk of another rate, counts it and says what it was', async () => {
    const seen = await omni(play([audio(wav(2400)), audio(wav(1600, 16_000)), audio(wav(2400))]));
    expect(seen.audio).toMatchObject({ frames: 4800, durationS: 0.2, droppedChunks: 1 });
    expect(seen.audio?.note).toContain('24000 Hz');
    expect(seen.audio?.note).toContain('16000 Hz');
  });

  it.each([
    ['bad base64', '!!!!not base64!!!!'],
    ['no WAV', Buffer.from('hello world, this is no audio at all, really').toString('base64')],
  ])('leaves out %s and counts it', async (_, payload) => {
    const seen = await omni(play([audio(wav(2400)), audio(payload)]));
    expect(seen).toMatchObject({ outcome: { ok: true }, audio: { frames: 2400, droppedChunks: 1 } });
    expect(seen.audio?.note).not.toBeNull();
  });

  it.each([
    ['bad base64', '!!!!not base64!!!!'],
    ['cut base64', wav(2400).slice(0, -3)],
    ['no WAV', Buffer.from('hello world, this is no audio at all, really').toString('base64')],
  ])('of %s alone is a failure, beside text a note', async (_, payload) => {
    const alone = await omni(play([audio(payload), audio(payload)]));
    expect(alone.outcome).toMatchObject({ ok: false, kind: 'malformed', status: 200 });
    expect(alone.audio).toMatchObject({ droppedChunks: 2 });
    const beside = await omni(play([text('a', 1), audio(payload)]));
    expect(beside).toMatchObject({ outcome: { ok: true }, audio: { droppedChunks: 1 } });
    expect(beside.audio?.note).not.toBeNull();
  });

  it('counts a chunk that was cut as far as it came, with a note', async () => {
    // 44 bytes of header and 100 samples of 200.
    const cut = Buffer.from(wav(200), 'base64').subarray(0, 244).toString('base64');
    const seen = await omni(play([audio(wav(100)), audio(cut)]));
    expect(seen).toMatchObject({ outcome: { ok: true }, audio: { frames: 200, droppedChunks: 0 } });
    expect(seen.audio?.note).toBe("200 of the 400 bytes of samples that a chunk's WAV header announces came");
  });

  it('of no sample alone is empty', async () => {
    const { outcome } = await omni(play([audio(wav(0)), audio('')]));
    expect(outcome).toMatchObject({ ok: false, kind: 'empty' });
  });

  it('keeps encoded audio for later, chunk after chunk', async () => {
    const mp3 = readFileSync(new URL('../media/__fixtures__/tone-24k-mono.mp3', import.meta.url));
    const half = Math.floor(mp3.length / 2);
    const chunks = [mp3.subarray(0, half), mp3.subarray(half)].map((part) => audio(part.toString('base64')));
    const seen = await omni(play(chunks), { response_format: 'mp3' });
    expect(seen.audio).toMatchObject({ format: 'mp3', frames: null, durationS: null, bytes: mp3.length });
    expect(seen.encodedAudio?.format).toBe('mp3');
    expect(Buffer.from(seen.encodedAudio?.bytes ?? []).equals(mp3)).toBe(true);
  });

  it('counts raw PCM by the announced rate', async () => {
    const seen = await omni(
      play([audio(Buffer.alloc(4800).toString('base64'), { audio_metadata: { sample_rate_hz: 48_000 } })]),
      { audio: { format: 'pcm' } },
    );
    expect(seen.audio).toMatchObject({ format: 'pcm', sampleRateHz: 48_000, frames: 2400, durationS: 0.05 });
  });

  it('takes raw PCM whose announced rate is none at the usual one, with a note', async () => {
    const seen = await omni(
      play([audio(Buffer.alloc(4800).toString('base64'), { audio_metadata: { sample_rate_hz: 0 } })]),
      { audio: { format: 'pcm' } },
    );
    expect(seen.audio).toMatchObject({
      sampleRateHz: 24_000,
      durationS: 0.1,
      note: "the server's sample rate 0 is no number above 0; read as 24000",
    });
  });

  it('refuses response_format pcm, which says nothing of its rate', () => {
    expect(() =>
      openaiChatOmni.prepare(
        exampleSample,
        exampleTarget('http://x/', { extraBody: { response_format: 'pcm' } }),
      ),
    ).toThrow(
      'pcm response format is not supported yet. Please use other formats like wav, mp3, etc. instead.',
    );
  });
});

describe('images and stages of a chat reply', () => {
  it('counts parts, not chunks, and takes times and memory from them', async () => {
    const part = (ms: number) => ({
      type: 'image_url',
      image_url: { url: 'data:image/png;base64,AAAA' },
      stage_durations: { stage_1_gen_ms: ms, queue_wait_ms: 1 },
      peak_memory_mb: ms,
    });
    const seen = await omni(
      play([{ modality: 'image', choices: [{ index: 0, delta: { content: [part(30), part(40)] } }] }]),
    );
    expect(seen.image).toMatchObject({ count: 2, generationMs: 30 });
    expect(seen.responses[0]).toMatchObject({
      peakMemoryMb: 40,
      stageDurations: { stage_1_gen_ms: 30, queue_wait_ms: 1 },
    });
    expect([...seen.events.bytes]).toEqual([6]);
  });

  it('merges snapshots of one stage and keeps fields it does not know', async () => {
    const metrics = (stage_metrics: unknown) => ({
      modality: 'text',
      metrics: { stage_metrics },
      choices: [{ index: 0, delta: { content: 'x' } }],
    });
    const seen = await omni(
      play([
        metrics({ '0': { num_tokens_out: 3, novel: [1] } }),
        metrics({ '0': { num_tokens_out: 4 }, '2': { audio_frames: 9 } }),
      ]),
    );
    expect(seen.responses[0]?.stages).toEqual({
      '0': { num_tokens_out: 4, novel: [1] },
      '2': { audio_frames: 9 },
    });
  });
});

describe('retries of omni chat', () => {
  const good = [text('ok', 1), '[DONE]'];

  it('tries again while no byte of a reply was seen, and keeps each try', async () => {
    const seen = await omni((peer, number) => (number <= 2 ? peer.reset() : playEvents(peer, good)));
    expect(seen.outcome).toEqual({ ok: true });
    expect(seen.attempts).toHaveLength(3);
    expect(seen.attempts.map(({ error }) => error === null)).toEqual([false, false, true]);
  });

  it('gives up after three more tries', async () => {
    const seen = await omni((peer) => peer.reset());
    expect(seen.outcome).toMatchObject({ ok: false, kind: 'reset' });
    expect(seen.attempts).toHaveLength(4);
  });

  it('does not repeat a request whose reply had begun', async () => {
    const seen = await omni(async (peer) => {
      await playEvents(peer, [text('a', 1)], { end: false });
      peer.reset();
    });
    expect(seen.attempts).toHaveLength(1);
  });

  it('leaves plain chat with one try', async () => {
    const seen = await omni((peer) => peer.reset(), {}, openaiChat);
    expect(seen.attempts).toHaveLength(1);
  });
});

describe('responses', () => {
  const delta = (type: string, text: string) => ({ type: `response.${type}.delta`, delta: text });
  const end = (type: string, response: Record<string, unknown> = {}) => ({
    type: `response.${type}`,
    response: { id: 'r', status: type, usage: { input_tokens: 3, output_tokens: 9 }, ...response },
  });
  const respond = (...events: unknown[]) => omni(play(events), {}, openaiResponses);

  it('reasoning is a token event and no text; the total counts it', async () => {
    const seen = await respond(
      { type: 'response.created', response: { id: 'r', error: null } },
      delta('reasoning_text', 'hm'),
      delta('output_text', 'yes'),
      { type: 'response.output_text.done', text: 'yes' },
      end('completed'),
    );
    expect(seen).toMatchObject({ outcome: { ok: true }, text: 'yes', promptTokens: 3, outputTokens: 9 });
    expect([...seen.events.kinds]).toEqual([
      eventKinds.other,
      eventKinds.reasoning,
      eventKinds.text,
      eventKinds.other,
      eventKinds.usage,
    ]);
    expect(seen.responses[0]).toMatchObject({ id: 'r', finishReason: 'stop' });
  });

  it('a reply that reached its length is complete', async () => {
    const seen = await respond(
      delta('output_text', 'ye'),
      end('incomplete', { incomplete_details: { reason: 'max_output_tokens' } }),
    );
    expect(seen.outcome).toEqual({ ok: true });
    expect(seen.responses[0]?.finishReason).toBe('max_output_tokens');
  });

  it.each([
    ['without its last event', [], 'malformed', 'response.completed'],
    ['that failed', [end('failed', { error: { message: 'engine died' } })], 'stream_error', 'engine died'],
    ['with an error event', [{ type: 'error', code: 'x', message: 'too long' }], 'stream_error', 'too long'],
  ])('a stream %s is a failure', async (_, events, kind, message) => {
    const seen = await respond(delta('output_text', 'a'), ...events);
    expect(seen.outcome).toMatchObject({ ok: false, kind });
    if (!seen.outcome.ok) expect(seen.outcome.message).toContain(message);
  });

  it('media and messages go in this API’s terms', () => {
    const part = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } };
    const target = exampleTarget('http://x/');
    const bodyOf = (changes: object) =>
      JSON.parse(
        Buffer.from(openaiResponses.prepare({ ...exampleSample, ...changes }, target).body).toString(),
      );
    expect(bodyOf({ media: [part] }).input).toEqual([
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Say hé' },
          { type: 'input_image', image_url: 'data:image/png;base64,AA' },
        ],
      },
    ]);
    expect(bodyOf({ chatMessages: [{ role: 'system', content: 'x' }] }).input).toEqual([
      { role: 'system', content: 'x' },
    ]);
    expect(() => bodyOf({ media: [{ type: 'video_url', video_url: { url: 'x' } }] })).toThrow(/video_url/);
  });
});

describe('the registry', () => {
  it('sends messages to the APIs that take them, and a continued text to completions alone', () => {
    const named = (prompts: string): string[] =>
      Object.values(endpoints).flatMap((endpoint) => (endpoint.prompts === prompts ? [endpoint.name] : []));
    expect(named('continued')).toEqual(['openai', 'vllm']);
    expect(named('messages')).toEqual([
      'openai-chat',
      'openai-chat-omni',
      'daily-omni',
      'openai-responses',
      'openai-embeddings-chat',
      'openai-embeddings-clip',
      'openai-embeddings-vlm2vec',
    ]);
  });

  it('names every adapter as it names itself', () => {
    for (const [name, endpoint] of Object.entries(endpoints)) {
      expect(endpoint.name).toBe(name);
      expect(endpoint.traits.name).toBe(name);
      expect(endpoint.urlSuffixes.some((suffix) => endpoint.defaultPath.endsWith(suffix))).toBe(true);
    }
  });
});
