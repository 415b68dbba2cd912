import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { omniFacts, requestOf } from '../metrics/metric-records.suite.ts';
import { summarize } from '../metrics/summarize.ts';
import { EventLogBuilder, eventKinds } from '../records/event-log.ts';
import { exampleRecord } from '../records/examples.suite.ts';
import { EndpointBench, httpChunk, lastChunk } from './endpoint.suite.ts';
import { openaiAudioSpeech } from './openai-audio-speech.ts';
import { bytesOf, type PlayedReply, replyContract, runOne, sse } from './reply.suite.ts';
import { SoundStream } from './sound-stream.ts';

const pcm = (bytes: number): Buffer => Buffer.alloc(bytes, 3);

/** A WAV header by the textbook, for samples of unknown length unless given. */
function wavHeader(rate: number, channels = 1, dataBytes = 0xffffffff): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(Math.min(0xffffffff, 36 + dataBytes), 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(channels, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 2 * channels, 28);
  head.writeUInt16LE(2 * channels, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(dataBytes, 40);
  return head;
}

/** As {@link wavHeader} makes it, but with samples of no width. */
function withoutBits(head: Buffer): Buffer {
  head.writeUInt16LE(0, 34);
  return head;
}

replyContract({
  endpoint: openaiAudioSpeech,
  target: { extraBody: { voice: 'vivian' } },
  good: { type: 'audio/pcm', body: pcm(480) },
  expected: {
    text: '',
    outputTokens: null,
    audio: {
      format: 'pcm',
      sampleRateHz: 24_000,
      channels: 1,
      sampleBytes: 2,
      frames: 240,
      durationS: 0.01,
      bytes: 480,
    },
  },
  hollow: [
    ['a WAV file without samples', { type: 'audio/wav', body: wavHeader(24_000, 1, 0) }, 'empty'],
    ['a stream of no audio', sse([{ type: 'speech.audio.done' }]), 'empty'],
    [
      'a stream that ends in an error',
      sse([
        { type: 'speech.audio.delta', audio: pcm(48).toString('base64'), response_format: 'pcm' },
        { type: 'speech.audio.error', error: { message: 'vocoder died', type: 'server_error' } },
      ]),
      'stream_error',
    ],
    ['JSON', { type: 'application/json', body: '{"object":"speech"}' }, 'content_type'],
    [
      'an error under the type of audio',
      { type: 'audio/pcm', body: ' {"error":{"message":"no"}}\n' },
      'stream_error',
    ],
    [
      'other JSON under the type of audio',
      { type: 'audio/mpeg', body: '{"detail":"no voice"}' },
      'content_type',
    ],
    [
      'half a WAV file',
      { type: 'audio/wav', body: Buffer.concat([wavHeader(24_000, 1, 96_000), pcm(48_000)]) },
      'malformed',
    ],
    [
      'half a WAV file as PCM',
      { type: 'audio/pcm', body: Buffer.concat([wavHeader(24_000, 1, 9600), pcm(480)]) },
      'malformed',
    ],
    ['half a WAV header', { type: 'audio/wav', body: wavHeader(24_000).subarray(0, 30) }, 'malformed'],
    [
      'WAV of no channels',
      { type: 'audio/wav', body: Buffer.concat([wavHeader(24_000, 0), pcm(480)]) },
      'malformed',
    ],
    ['WAV of no rate', { type: 'audio/wav', body: Buffer.concat([wavHeader(0), pcm(480)]) }, 'malformed'],
    [
      'WAV of no bits',
      { type: 'audio/wav', body: Buffer.concat([withoutBits(wavHeader(24_000)), pcm(480)]) },
      'malformed',
    ],
    [
      'events that stop',
      sse([{ type: 'speech.audio.delta', audio: pcm(48).toString('base64'), response_format: 'pcm' }]),
      'reset',
    ],
    [
      'an event whose base64 is cut',
      sse([
        { type: 'speech.audio.delta', audio: pcm(48).toString('base64') },
        { type: 'speech.audio.delta', audio: pcm(48).toString('base64').slice(0, -3) },
        { type: 'speech.audio.done' },
      ]),
      'malformed',
    ],
    [
      'an event without base64',
      sse([{ type: 'speech.audio.delta', audio: '###' }, { type: 'speech.audio.done' }]),
      'malformed',
    ],
    ['an error as JSON', { type: 'application/json', body: '{"error":{"message":"no"}}' }, 'stream_error'],
  ],
  request: ({ head, body }) => {
    expect(head.toLowerCase()).toContain('content-type: application/json');
    expect(body.toString()).toBe(
      JSON.stringify({
        model: 'served',
        input: 'Say hé',
        stream: true,
        stream_format: 'audio',
        response_format: 'pcm',
        voice: 'vivian',
      }),
    );
  },
});

const bench = { current: new EndpointBench() };
afterEach(async () => {
  await bench.current.close();
  bench.current = new EndpointBench();
});
const speak = async (reply: PlayedReply, extraBody: Record<string, unknown> = {}, stream = true) =>
  (
    await runOne(bench.current, openaiAudioSpeech, (peer) => peer.write(bytesOf(reply)), {
      target: { extraBody, stream },
    })
  ).seen;

describe('the rate of bare samples', () => {
  it.each([24_000, 44_100, 48_000])('is the server’s word: %i Hz', async (rate) => {
    const second = pcm(rate * 2);
    const byHeader = await runOne(bench.current, openaiAudioSpeech, (peer) =>
      peer.write(
        Buffer.concat([
          Buffer.from(
            `HTTP/1.1 200 OK\r\nContent-Type: audio/pcm\r\nX-Sample-Rate: ${rate}\r\nX-Channels: 1\r\nX-Sample-Format: s16le\r\nContent-Length: ${second.length}\r\n\r\n`,
          ),
          second,
        ]),
      ),
    );
    expect(byHeader.seen.audio).toMatchObject({ sampleRateHz: rate, frames: rate, durationS: 1 });
    const byType = await speak({ type: `audio/pcm;rate=${rate};channels=2`, body: pcm(rate * 4) });
    expect(byType.audio).toMatchObject({ sampleRateHz: rate, channels: 2, durationS: 1 });
    const byWav = await speak(
      { type: 'audio/wav', body: Buffer.concat([wavHeader(rate), second]) },
      { response_format: 'wav' },
    );
    expect(byWav.audio).toMatchObject({ format: 'wav', sampleRateHz: rate, durationS: 1 });
  });

  it.each([
    [
      'audio/pcm',
      'x-sample-rate',
      'fast',
      /^the server's sample rate "fast" is no number above 0; read as 24000$/,
    ],
    ['audio/pcm', 'x-sample-rate', '0', /sample rate "0" is no number above 0; read as 24000/],
    ['audio/pcm', 'x-sample-rate', '-44100', /sample rate "-44100" is no number/],
    ['audio/pcm; rate=', 'x-other', '1', /sample rate "" is no number/],
    ['audio/pcm', 'x-channels', 'stereo', /number of channels "stereo" is no number above 0; read as 1/],
    [
      'audio/pcm',
      'x-sample-format',
      'float',
      /sample width in bits "float" is no number above 0; read as 16/,
    ],
  ])('%s with %s: %s is counted as usual, and noted', async (type, header, value, note) => {
    const body = pcm(48_000);
    const { seen } = await runOne(bench.current, openaiAudioSpeech, (peer) =>
      peer.write(
        Buffer.concat([
          Buffer.from(
            `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\n${header}: ${value}\r\nContent-Length: ${body.length}\r\n\r\n`,
          ),
          body,
        ]),
      ),
    );
    expect(seen).toMatchObject({ outcome: { ok: true }, audio: { sampleRateHz: 24_000, durationS: 1 } });
    expect(seen.audio?.note).toMatch(note);
    const facts = omniFacts({ endpoint: openaiAudioSpeech.traits, endMs: 1e9 });
    expect(summarize([requestOf({}, { ...seen, index: 0 })], facts).notes).toMatchObject({
      doubtfulAudioReplies: 1,
      doubtfulAudioNote: expect.stringMatching(note),
    });
  });

  it('of an event that is none is noted, and that of a WAV file stands', async () => {
    const delta = { type: 'speech.audio.delta', audio: pcm(48_000).toString('base64'), sample_rate: 'x' };
    expect((await speak(sse([delta, '[DONE]']))).audio).toMatchObject({
      durationS: 1,
      note: 'the server\'s sample rate "x" is no number above 0; read as 24000',
    });
    const wav = Buffer.concat([wavHeader(44_100), pcm(88_200)]);
    expect((await speak({ type: 'audio/pcm;rate=0', body: wav })).audio).toMatchObject({
      sampleRateHz: 44_100,
      note: null,
    });
  });

  it('is the environment’s where the server says nothing', async () => {
    process.env.VLLM_OMNI_BENCH_AUDIO_SAMPLE_RATE = '16000';
    process.env.VLLM_OMNI_BENCH_AUDIO_CHANNELS = '2';
    try {
      const seen = await speak({ type: 'application/octet-stream', body: pcm(64_000) });
      expect(seen.audio).toMatchObject({ sampleRateHz: 16_000, channels: 2, durationS: 1 });
    } finally {
      delete process.env.VLLM_OMNI_BENCH_AUDIO_SAMPLE_RATE;
      delete process.env.VLLM_OMNI_BENCH_AUDIO_CHANNELS;
    }
  });
});

describe('what proves a failure', () => {
  const bodyOf = async (reply: PlayedReply) => {
    const { outcome } = await speak(reply);
    return outcome.ok ? 'a success' : outcome.body;
  };

  it('is the reply as it came', async () => {
    const error = ' {"error": {"message": "no"}}\n';
    expect(await bodyOf({ type: 'audio/pcm', body: error })).toBe(error);
    expect(await bodyOf({ type: 'application/json', body: error })).toBe(error);
    const wav = Buffer.concat([wavHeader(24_000, 1, 96_000), pcm(480)]);
    expect(await bodyOf({ type: 'audio/wav', body: wav })).toBe(
      `data:application/octet-stream;base64,${wav.toString('base64')}`,
    );
    const stream = sse([{ type: 'speech.audio.delta', audio: pcm(48).toString('base64') }]);
    expect(await bodyOf(stream)).toBe(stream.body);
  });
});

describe('lengths that a WAV header does not know', () => {
  it.each([0, 0xffffffff, 0x7fffffff, 0x7fffffff - 36])('%i is no promise', async (length) => {
    const body = Buffer.concat([wavHeader(24_000, 1, length), pcm(480)]);
    const seen = await speak({ type: 'audio/wav', body });
    expect(seen).toMatchObject({ outcome: { ok: true }, audio: { frames: 240 } });
  });

  it('one that is known may be followed by less than it said only at the price of failing', async () => {
    const body = Buffer.concat([wavHeader(24_000, 1, 480), pcm(478)]);
    expect((await speak({ type: 'audio/wav', body })).outcome).toMatchObject({
      message: 'the audio is cut off: 2 bytes of the samples that the WAV header announces did not come',
    });
  });
});

describe('events', () => {
  it('may end in [DONE] alone', async () => {
    const delta = { type: 'speech.audio.delta', audio: pcm(48).toString('base64') };
    expect((await speak(sse([delta, '[DONE]']))).outcome).toEqual({ ok: true });
  });
});

describe('formats', () => {
  it('a WAV file that was asked for as PCM is not counted with its header', async () => {
    const seen = await speak({ type: 'audio/pcm', body: Buffer.concat([wavHeader(44_100), pcm(88_200)]) });
    expect(seen.audio).toMatchObject({ format: 'wav', sampleRateHz: 44_100, frames: 44_100, durationS: 1 });
  });

  it('encoded audio is kept for the decoders and has no length yet', async () => {
    const seen = await speak({ type: 'audio/mpeg', body: pcm(500) }, { response_format: 'mp3' });
    expect(seen).toMatchObject({ outcome: { ok: true }, audio: { format: 'mp3', frames: null, bytes: 500 } });
    expect(seen.encodedAudio).toMatchObject({ format: 'mp3' });
    expect(seen.encodedAudio?.bytes).toHaveLength(500);
    expect([...seen.events.kinds]).toEqual([eventKinds.audio]);
  });

  it('a type that names no format is what was asked for', async () => {
    const seen = await speak(
      { type: 'application/octet-stream', body: pcm(500) },
      { response_format: 'opus' },
    );
    expect(seen.encodedAudio?.format).toBe('opus');
  });

  it('events carry it too, with usage', async () => {
    const delta = (bytes: number) => ({
      type: 'speech.audio.delta',
      audio: pcm(bytes).toString('base64'),
      response_format: 'pcm',
      sample_rate: 48_000,
    });
    const seen = await speak(
      sse([
        delta(4800),
        delta(4800),
        { type: 'speech.audio.done', usage: { input_tokens: 9, output_tokens: 70 } },
      ]),
      { stream_format: 'sse' },
    );
    expect(seen).toMatchObject({
      outcome: { ok: true },
      audio: { sampleRateHz: 48_000, frames: 4800, durationS: 0.1 },
      promptTokens: 9,
      // Codec frames are no text tokens.
      outputTokens: null,
    });
    expect([...seen.events.kinds]).toEqual([eventKinds.audio, eventKinds.usage]);
  });

  it('an unstreamed reply has no first packet', async () => {
    const body = Buffer.concat([wavHeader(24_000, 1, 48_000), pcm(48_000)]);
    const seen = await speak({ type: 'audio/wav', body }, {}, false);
    expect(seen.audio?.durationS).toBe(1);
    expect([...seen.events.kinds]).toEqual([eventKinds.whole]);
  });

  it('asks for WAV without streaming', () => {
    const prepared = openaiAudioSpeech.prepare(
      { prompt: 'x', promptTokens: 1, expectedOutputTokens: 1, media: [], requestId: null },
      {
        baseUrl: '',
        url: 'http://x/',
        model: 'm',
        headers: [],
        extraBody: {},
        ignoreEos: false,
        logprobs: null,
        stream: false,
      },
    );
    expect(JSON.parse(Buffer.from(prepared.body).toString())).toEqual({
      model: 'm',
      input: 'x',
      stream: false,
      response_format: 'wav',
    });
  });
});

describe('sound in pieces', () => {
  const add = (format: string, pieces: readonly Buffer[]) => {
    const events = new EventLogBuilder();
    const sound = new SoundStream(
      format,
      { layout: { sampleRateHz: 24_000, channels: 1, sampleBytes: 2 } },
      events,
    );
    for (const [index, piece] of pieces.entries()) sound.add(piece, index);
    sound.end();
    return { facts: sound.facts(), events: events.build() };
  };

  property([
    fc.constantFrom('pcm', 'wav'),
    fc.nat(3000),
    fc.array(fc.integer({ min: 1, max: 400 }), { maxLength: 30 }),
  ])('does not depend on the cuts', (format, bytes, cuts) => {
    const whole = Buffer.concat(format === 'wav' ? [wavHeader(24_000), pcm(bytes)] : [pcm(bytes)]);
    const pieces: Buffer[] = [];
    let at = 0;
    for (const size of cuts) {
      pieces.push(whole.subarray(at, at + size));
      at += size;
    }
    pieces.push(whole.subarray(at));
    const { facts, events } = add(format, pieces);
    const frames = Math.floor(bytes / 2);
    expect(facts?.frames ?? 0).toBe(frames);
    let sum = 0;
    for (const each of events.frames) sum += Math.max(each, 0);
    expect(sum).toBe(frames);
  });

  it('a header alone is no packet of sound', () => {
    const { events } = add('wav', [wavHeader(24_000), pcm(100)]);
    expect([...events.kinds]).toEqual([eventKinds.empty, eventKinds.audio]);
  });

  it('counts no chunk behind the samples, and says what is neither', () => {
    const list = Buffer.concat([Buffer.from('LIST'), Buffer.alloc(8)]);
    expect(add('wav', [Buffer.concat([wavHeader(24_000, 1, 100), pcm(100), list])]).facts).toMatchObject({
      frames: 50,
      droppedChunks: 0,
    });
    const odd = add('wav', [Buffer.concat([wavHeader(24_000, 1, 100), pcm(100), pcm(60)])]).facts;
    expect(odd).toMatchObject({ frames: 50, droppedChunks: 1 });
    expect(odd?.note).toContain('60 bytes');
  });

  it('joins files that stand one behind the other, if they agree', () => {
    const file = (rate: number) => Buffer.concat([wavHeader(rate, 1, 100), pcm(100)]);
    expect(add('wav', [file(24_000), file(24_000)]).facts).toMatchObject({ frames: 100, droppedChunks: 0 });
    const mixed = add('wav', [file(24_000), file(16_000), file(24_000)]).facts;
    expect(mixed).toMatchObject({ frames: 100, droppedChunks: 1 });
    expect(mixed?.note).toContain('16000 Hz');
  });

  it('what is asked for as WAV and is none is left to the decoders', () => {
    expect(add('wav', [Buffer.from('ID3 and so on, an MP3')]).facts).toMatchObject({
      format: 'wav',
      frames: null,
    });
  });
});

describe('continuity', () => {
  it('is that of the published vector', () => {
    // 24 kHz mono: chunks at 0.5, 1.2 and 2.8 s of 48000, 24000 and 48000 bytes.
    const events = new EventLogBuilder();
    const sound = new SoundStream(
      'pcm',
      { layout: { sampleRateHz: 24_000, channels: 1, sampleBytes: 2 } },
      events,
    );
    for (const [timeMs, bytes] of [
      [500, 48_000],
      [1200, 24_000],
      [2800, 48_000],
    ] as const)
      sound.add(pcm(bytes), timeMs);
    sound.end();
    const record = exampleRecord({
      attempts: [{ ...(exampleRecord({}).attempts[0] ?? never()), sendMs: 0, endMs: 3000 }],
      events: events.build(),
      audio: sound.facts(),
      text: '',
      outputTokens: null,
    });
    const summary = summarize(
      [record],
      omniFacts({
        endMs: 3000,
        endpoint: openaiAudioSpeech.traits,
        percentileMetrics: ['audio_underrun', 'audio_ttfp'],
      }),
    );
    expect(summary.distributions.audio_underrun.mean).toBeCloseTo(0.8, 12);
    expect(summary.distributions.audio_ttfp.mean).toBe(500);
    expect(summary.run.audio_continuity_ok_rate).toBe(0);
    expect(summary.run.total_audio_duration_s).toBe(2.5);
  });

  it('holds at 64 streams at once, to the sample', async () => {
    const streams = 64;
    const server = await bench.current.server(async (peer) => {
      const request = await peer.request();
      const frames = Number(/len=(\d+)/.exec(request?.body.toString() ?? '')?.[1]);
      const chunks: Buffer[] = [];
      for (let left = frames * 2; left > 0; left -= 1001)
        chunks.push(httpChunk(pcm(Math.min(left, 1001)).toString('latin1')));
      await peer.writePieces([
        'HTTP/1.1 200 OK\r\nContent-Type: audio/pcm\r\nX-Sample-Rate: 48000\r\nTransfer-Encoding: chunked\r\n\r\n',
        ...chunks,
        lastChunk,
      ]);
    });
    const seen = await Promise.all(
      Array.from({ length: streams }, (_, index) =>
        bench.current.observe(
          openaiAudioSpeech,
          'socket',
          openaiAudioSpeech.prepare(
            {
              prompt: `len=${5000 + index * 13}`,
              promptTokens: 1,
              expectedOutputTokens: 1,
              media: [],
              requestId: null,
            },
            {
              baseUrl: '',
              url: `${server.url}/v1/audio/speech`,
              model: 'm',
              headers: [],
              extraBody: {},
              ignoreEos: false,
              logprobs: null,
              stream: true,
            },
          ),
        ),
      ),
    );
    for (const [index, { audio, outcome, events }] of seen.entries()) {
      expect(outcome).toEqual({ ok: true });
      expect(audio?.frames).toBe(5000 + index * 13);
      expect(audio?.durationS).toBe((5000 + index * 13) / 48_000);
      expect(events.frames.reduce((sum, each) => sum + Math.max(each, 0), 0)).toBe(5000 + index * 13);
    }
  });
});

function never(): never {
  throw new Error('the example has an attempt');
}
