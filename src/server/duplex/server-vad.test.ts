import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { property } from '../../foundation/property.suite.ts';
import { decodeInputAudio, rmsOf, strictBytes } from './input-audio.ts';
import { inside, type VirtualClient, VirtualDuplex } from './virtual-duplex.suite.ts';
import { VoiceDetector } from './voice-detector.ts';

const vad = (over: object = {}) => ({
  turn_detection: {
    type: 'server_vad',
    threshold: 0.5,
    prefix_padding_ms: 300,
    silence_duration_ms: 800,
    ...over,
  },
  extra_body: { auto_response: false },
});

function speakTurn(client: VirtualClient): void {
  client.stream(600, { amplitude: 0 });
  client.stream(1000, { amplitude: 4000 });
  client.stream(1000, { amplitude: 0 });
}

describe('turns that the server finds', () => {
  test('start with speech, end with silence, and are committed and answered', () => {
    const world = new VirtualDuplex();
    const client = world.connect().open(vad());
    expect(inside(client.sent[0], 'session', 'turn_detection')).toEqual({
      type: 'server_vad',
      threshold: 0.5,
      prefix_padding_ms: 300,
      silence_duration_ms: 800,
      create_response: true,
      interrupt_response: true,
    });
    expect(inside(client.sent[0], 'session', 'overlap_policy')).toBe('barge_in_on_speech');
    speakTurn(client);
    const kinds = client.types().slice(2);
    expect(kinds.slice(0, 8)).toEqual([
      'input_audio_buffer.speech_started',
      'input_audio_buffer.speech_stopped',
      'conversation.item.added',
      'conversation.item.created',
      'input_audio_buffer.committed',
      'conversation.item.input_audio_transcription.completed',
      'conversation.item.done',
      'response.created',
    ]);
    const [started] = client.of('input_audio_buffer.speech_started');
    const [stopped] = client.of('input_audio_buffer.speech_stopped');
    // Speech from 600 to 1600 ms: less the padding, plus the silence.
    expect(started?.audio_start_ms).toBe(300);
    expect(stopped?.audio_end_ms).toBe(2400);
    expect(started?.item_id).toBe(stopped?.item_id);
    expect(client.of('input_audio_buffer.committed')[0]?.item_id).toBe(started?.item_id);
    world.pass(20_000);
    expect(client.of('response.done')[0]).toMatchObject({ response: { status: 'completed' } });
  });

  test('interrupt what is being said', () => {
    const world = new VirtualDuplex({ sessions: [{ responses: [{ text: 'A long one.', audio_s: 10 }] }] });
    const client = world.connect().open(vad());
    speakTurn(client);
    world.pass(3000);
    client.stream(200, { amplitude: 4000 });
    const tail = client.types().slice(client.types().lastIndexOf('input_audio_buffer.speech_started'));
    expect(tail.slice(0, 2)).toEqual(['input_audio_buffer.speech_started', 'overlap.decision']);
    expect(client.of('overlap.decision')[0]).toMatchObject({
      action: 'barge_in',
      reason: 'server_vad_speech_started',
    });
    expect(client.of('response.done')[0]).toMatchObject({
      response: { status: 'cancelled', status_details: { reason: 'turn_detected' } },
    });
  });

  test('are not answered where the client will ask', () => {
    const world = new VirtualDuplex();
    const client = world.connect().open(vad({ create_response: false }));
    speakTurn(client);
    world.pass(5000);
    expect(client.of('input_audio_buffer.committed')).toHaveLength(1);
    expect(client.of('response.created')).toEqual([]);
    client.say({ type: 'response.create' });
    expect(client.of('response.created')).toHaveLength(1);
  });

  test('may be wanted later, or otherwise', () => {
    const client = new VirtualDuplex().connect().open({ extra_body: { auto_response: false } });
    client.stream(1000, { amplitude: 4000 });
    expect(client.of('input_audio_buffer.speech_started')).toEqual([]);
    client.say({
      type: 'session.update',
      session: { turn_detection: { type: 'server_vad', prefix_padding_ms: 0 } },
    });
    client.stream(400, { amplitude: 0 });
    client.stream(400, { amplitude: 4000 });
    expect(client.of('input_audio_buffer.speech_started')[0]?.audio_start_ms).toBe(1400);
    client.say({ type: 'session.update', session: { turn_detection: null } });
    client.stream(2000, { amplitude: 0 });
    expect(client.of('input_audio_buffer.speech_stopped')).toEqual([]);
  });

  test('that the client commits itself are not committed again', () => {
    const client = new VirtualDuplex().connect().open(vad({ create_response: false }));
    client.stream(1000, { amplitude: 4000 });
    client.commit();
    client.stream(2000, { amplitude: 0 });
    expect(client.of('input_audio_buffer.committed')).toHaveLength(1);
    expect(client.of('input_audio_buffer.committed')[0]?.item_id).toBe(
      client.of('input_audio_buffer.speech_started')[0]?.item_id,
    );
  });

  test('silence and short noises are no turns', () => {
    const client = new VirtualDuplex().connect().open(vad());
    client.stream(3000, { amplitude: 0 });
    client.stream(40, { amplitude: 8000 });
    client.stream(3000, { amplitude: 0 });
    expect(client.types()).toEqual(['session.created', 'session.updated']);
  });

  test('do not depend on how the sound is cut into appends', () => {
    const sound = (samples: Float32Array) => ({ samples, sampleRateHz: 16000 });
    const all = new Float32Array(16000 * 4);
    for (let index = 16000; index < 32000; index += 1) all[index] = Math.sin(index) * 0.2;
    const whole = new VoiceDetector({ threshold: 0.5, prefixPaddingMs: 0, silenceDurationMs: 500 }).hear(
      sound(all),
    );
    expect(whole).toEqual([
      { kind: 'started', atMs: 1000 },
      { kind: 'stopped', atMs: 2500 },
    ]);
    const cut = new VoiceDetector({ threshold: 0.5, prefixPaddingMs: 0, silenceDurationMs: 500 });
    const pieces: unknown[] = [];
    for (let at = 0; at < all.length; at += 777) pieces.push(...cut.hear(sound(all.subarray(at, at + 777))));
    expect(pieces).toEqual(whole);
  });
});

describe('a model that does not decide when to speak', () => {
  const world = () => new VirtualDuplex({}, {}, { decides: false });
  const plain = { ref_audio: undefined, extra_body: {} };

  test('needs nobody’s voice, listens to units without a word, and answers when asked', () => {
    const own = world();
    const client = own.connect().open(plain);
    expect(inside(client.sent[0], 'session', 'capabilities')).toMatchObject({
      supports_turn_commit_only: true,
      input_modes: ['append_audio_chunk', 'turn_commit_only'],
      signal_sources: ['client_event', 'server_policy'],
    });
    client.stream(2200);
    client.commit();
    own.pass(5000);
    expect(client.types().filter((type) => type.startsWith('response.'))).toEqual([]);
    client.say({ type: 'response.create', response: { instructions: 'Short.' } });
    own.pass(10_000);
    expect(client.of('response.done')).toHaveLength(1);
    expect(client.errors()).toEqual([]);
  });

  test('is not interrupted by speech that the server finds: the next answer waits', () => {
    const own = new VirtualDuplex(
      { sessions: [{ responses: [{ audio_s: 6 }, { text: 'Next.' }] }] },
      {},
      { decides: false },
    );
    const client = own.connect().open({ ...plain, turn_detection: { type: 'server_vad' } });
    expect(inside(client.sent[0], 'session', 'turn_detection', 'interrupt_response')).toBe(false);
    speakTurn(client);
    speakTurn(client);
    own.pass(30_000);
    expect(client.of('input_audio_buffer.committed')).toHaveLength(2);
    expect(client.of('response.done').map((event) => inside(event, 'response', 'status'))).toEqual([
      'completed',
      'completed',
    ]);
  });

  test('can’t be told to decide, or to be interrupted', () => {
    const client = world().connect();
    client.open({ ...plain, extra_body: { auto_response: true } });
    client.open({ ...plain, turn_detection: { type: 'server_vad', interrupt_response: true } });
    expect(client.errors()).toEqual(['invalid_duplex_runtime_config', 'unsupported_turn_detection']);
  });
});

describe('base64', () => {
  property([fc.uint8Array({ maxLength: 40 })])('of any bytes is read', (bytes) => {
    const text = Buffer.from(bytes).toString('base64');
    expect(strictBytes(text)).toEqual(Buffer.from(bytes));
  });

  property([fc.string({ maxLength: 12, unit: fc.constantFrom(...'AbZ09+/=-_ *\n') })])(
    'is what the grammar of RFC 4648 says, and nothing else',
    (text) => {
      const isBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text);
      expect(strictBytes(text) !== null).toBe(isBase64);
    },
  );
});

describe('sound that comes in', () => {
  const bytes = Buffer.from([0x00, 0x7f, 0x80, 0xff, 0x2a, 0xd5, 0x9c, 0x55]).toString('base64');

  test.each([
    // Decoded with ffmpeg 5.1 (`-f mulaw`, `-f alaw`).
    ['g711_ulaw', [-32124, 0, 32124, 0, -5372, 716, 9852, -716]],
    ['g711_alaw', [-5504, -848, 5504, 848, -32256, 8, 3264, -8]],
    ['pcm16', [32512, -128, -10966, 21916]],
    ['pcm_s16le', [32512, -128, -10966, 21916]],
    ['s16le', [32512, -128, -10966, 21916]],
  ])('%s is decoded', (format, expected) => {
    const { samples } = decodeInputAudio(bytes, format, 8000);
    expect([...samples].map((sample) => Math.round(sample * 32768) + 0)).toEqual(expected);
  });

  test('32-bit floats are taken as they are, and loudness is their root mean square', () => {
    const pcm = Buffer.alloc(8);
    pcm.writeFloatLE(0.6, 0);
    pcm.writeFloatLE(-0.8, 4);
    const { samples } = decodeInputAudio(pcm.toString('base64'), 'pcm_f32le', 48000);
    expect(rmsOf(samples)).toBeCloseTo(Math.sqrt(0.5), 6);
  });

  test.each([Number.NaN, Number.POSITIVE_INFINITY])('a float that is %d is no sound', (value) => {
    const pcm = Buffer.alloc(8);
    pcm.writeFloatLE(value, 4);
    expect(() => decodeInputAudio(pcm.toString('base64'), 'pcm_f32le', 48000)).toThrow(/no finite numbers/);
  });
});
