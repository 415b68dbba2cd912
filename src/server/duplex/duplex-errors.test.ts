import { describe, expect, test } from 'vitest';
import { type RealtimeErrorCode, realtimeErrorCodes } from '../../protocol/realtime-events.ts';
import { onePixelPng } from '../api/wire.suite.ts';
import { tone } from './duplex-client.suite.ts';
import { DuplexError } from './duplex-error.ts';
import { inside, type VirtualClient, VirtualDuplex } from './virtual-duplex.suite.ts';

const append = (over: object = {}) => ({
  type: 'input_audio_buffer.append',
  audio: tone(20),
  input_audio_format: 'pcm16',
  sample_rate_hz: 16000,
  ...over,
});
const update = (session: unknown) => ({ type: 'session.update', session });
const item = (over: object) => ({
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', ...over },
});
const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xe0]).toString('base64');

/** What each code needs to arise in an open session. */
const inSession: readonly (readonly [RealtimeErrorCode, string, unknown])[] = [
  ['invalid_json', 'no JSON', '{'],
  ['invalid_json', 'a list', '[]'],
  ['bad_event', 'no type', { kind: 'x' }],
  ['bad_event', 'a type that is no text', { type: 5 }],
  ['unknown_event', 'a type that there is not', { type: 'shout' }],
  ['unknown_event', 'an alias that is not accepted', { type: 'push_chunk' }],
  ['unknown_event', 'another', { type: 'input.audio.append' }],
  ['unknown_event', 'a name of every object', { type: 'constructor' }],
  ['session_exists', 'resuming here', { type: 'session.resume', session_id: 'x', resume_token: 'y' }],
  ['bad_event', 'an ack without a place', { type: 'session.event_ack' }],
  ['bad_event', 'an append without audio', append({ audio: undefined })],
  ['bad_audio', 'audio that is no base64', append({ audio: 'AAA' })],
  ['bad_audio', 'base64 with a foreign letter', append({ audio: 'AA*A' })],
  ['bad_audio', 'no audio', append({ audio: '' })],
  ['bad_audio', 'half a sample', append({ audio: Buffer.alloc(3).toString('base64') })],
  ['bad_audio', 'a rate that is none', append({ sample_rate_hz: 'fast' })],
  ['bad_audio', 'a rate of 0', append({ sample_rate_hz: 0 })],
  [
    'bad_audio',
    'more than a minute',
    append({ audio: Buffer.alloc(8000 * 61 * 2).toString('base64'), sample_rate_hz: 8000 }),
  ],
  ['unsupported_audio_format', 'another format', append({ input_audio_format: 'mp3' })],
  ['invalid_video_frames', 'frames that are no list', append({ video_frames: jpeg })],
  ['invalid_video_frames', 'a data URL', append({ video_frames: [`data:image/jpeg;base64,${jpeg}`] })],
  ['invalid_video_frames', 'a frame that is no base64', append({ video_frames: ['*'] })],
  ['invalid_video_frames', 'a frame that is no picture', append({ video_frames: ['AAAA'] })],
  ['invalid_video_frames', 'too many frames', append({ video_frames: new Array(65).fill(jpeg) })],
  ['input_audio_buffer_empty', 'committing nothing', { type: 'input_audio_buffer.commit', final: true }],
  ['native_text_append_unsupported', 'text into the input', { type: 'input.text.append', text: 'Hi' }],
  ['native_text_append_unsupported', 'the same by an older name', { type: 'push_text', text: 'Hi' }],
  ['missing_item_id', 'an item without a name', { type: 'conversation.item.retrieve' }],
  ['item_not_found', 'an item that there is not', { type: 'conversation.item.delete', item_id: 'item_x' }],
  ['bad_event', 'an item that is none', { type: 'conversation.item.create', item: 5 }],
  ['bad_event', 'an item without content', item({ content: [] })],
  [
    'bad_event',
    'an item of the assistant',
    item({ role: 'assistant', content: [{ type: 'input_text', text: 'x' }] }),
  ],
  ['invalid_input_modality', 'a part that goes out', item({ content: [{ type: 'output_text', text: 'x' }] })],
  [
    'bad_event',
    'a picture by address',
    item({ content: [{ type: 'input_image', image_url: 'http://x/y.png' }] }),
  ],
  [
    'invalid_function_call_output',
    'a call’s result without a call',
    { type: 'conversation.item.create', item: { type: 'function_call_output', output: '{}' } },
  ],
  ['response_create_without_input', 'asking for an answer to nothing', { type: 'response.create' }],
  [
    'unsupported_native_response_options',
    'options of one response',
    { type: 'response.create', response: { temperature: 0.5 } },
  ],
  ['response_not_active', 'cancelling nothing', { type: 'response.cancel' }],
  ['bad_event', 'another signal', { type: 'turn.signal', event: 'applause' }],
  ['bad_event', 'an ack of playback without a time', { type: 'playback.ack' }],
  ['playback_item_not_found', 'an ack of nothing', { type: 'playback.ack', played_ms: 5 }],
  ['bad_event', 'an update without a session', { type: 'session.update' }],
  ['model_update_unsupported', 'another model', update({ model: 'other' })],
  ['instructions_update_unsupported', 'other instructions', update({ instructions: 'Be brief.' })],
  ['persona_update_unsupported', 'another persona', update({ persona: 'pirate' })],
  [
    'ref_audio_update_unsupported',
    'another voice to speak with',
    update({ ref_audio: 'data:audio/wav;base64,AAAA' }),
  ],
  ['voice_update_unsupported', 'a voice by name', update({ voice: 'Chelsie' })],
  ['unsupported_ref_audio_path', 'a voice by path', update({ ref_audio: '/etc/passwd' })],
  [
    'unsupported_audio_format',
    'another format for the answers',
    update({ output_audio_format: 'g711_ulaw' }),
  ],
  ['unsupported_turn_detection', 'turns by meaning', update({ turn_detection: { type: 'semantic_vad' } })],
  [
    'unsupported_turn_detection',
    'turns that can’t be interrupted',
    update({ turn_detection: { type: 'server_vad', interrupt_response: false } }),
  ],
  ['invalid_duplex_runtime_config', 'a policy that there is not', update({ overlap_policy: 'shout' })],
  ['invalid_duplex_runtime_config', 'modalities that there are not', update({ modalities: ['video'] })],
  ['invalid_duplex_runtime_config', 'a time below 0', update({ idle_timeout_s: -5 })],
];

function opened(script: unknown = {}): VirtualClient {
  return new VirtualDuplex(script).connect().open();
}

describe('in a session', () => {
  test.each(inSession)('%s for %s, and the session stays', (code, _what, event) => {
    const client = opened();
    client.say(event);
    expect(client.errors()).toEqual([code]);
    const body = client.of('error')[0]?.error;
    expect(body).toMatchObject({ type: new Map(classes).get(code), code });
    expect(String(inside(body, 'message')).length).toBeGreaterThan(5);
    client.say({ type: 'session.heartbeat' });
    expect(client.types().at(-1)).toBe('session.heartbeat_ack');
  });

  test('an error names the event that it is about', () => {
    const client = opened();
    client.say({ type: 'response.cancel', event_id: 'evt_1' });
    client.say({ type: 'session.update', session: { modalities: [] }, event_id: 'evt_2' });
    expect(client.of('error')[0]).toMatchObject({ error: { event_id: 'evt_1', param: 'response_id' } });
    expect(client.of('error')[1]).toMatchObject({ error: { event_id: 'evt_2', param: 'modalities' } });
  });

  test('a voice by name can’t come after audio', () => {
    const client = opened();
    client.stream(200);
    client.say(update({ voice: 'Chelsie' }));
    expect(client.errors()).toEqual(['voice_update_after_audio_unsupported']);
  });

  test('pictures are refused where the session takes none, and barge-in where it has none', () => {
    const client = opened({
      sessions: [{ capabilities: { optional_input_modalities: ['audio'], supports_barge_in: false } }],
    });
    client.say(append({ video_frames: [jpeg, onePixelPng] }));
    client.say({ type: 'barge_in' });
    expect(client.errors()).toEqual(['invalid_input_modality', 'bad_event']);
    const liberal = opened();
    liberal.say(append({ video_frames: [jpeg, onePixelPng] }));
    expect(liberal.errors()).toEqual([]);
  });

  test('an event that is too large is not read', () => {
    const client = opened();
    client.say(append({ audio: 'A'.repeat(17 * 1024 * 1024) }));
    expect(client.errors()).toEqual(['event_too_large']);
  });

  test('binary frames are no events', () => {
    const client = opened();
    client.connection.receiveBinary();
    expect(client.errors()).toEqual(['bad_event']);
  });

  test('more events than can wait are dropped, which is said at once and with their number', () => {
    const world = new VirtualDuplex();
    const client = world.connect().open();
    const beat = Buffer.from(JSON.stringify({ type: 'session.heartbeat' }));
    for (let count = 0; count < 5000; count += 1) client.connection.receive(beat);
    world.pass(1);
    expect(client.of('session.heartbeat_ack')).toHaveLength(1024);
    expect(client.errors()).toEqual(['input_backpressure', 'input_backpressure']);
    expect(client.of('error')[1]).toMatchObject({
      error: { type: 'rate_limit_error', message: '3976 events were dropped; there is room again.' },
    });
    client.say({ type: 'session.heartbeat' });
    expect(client.of('session.heartbeat_ack')).toHaveLength(1025);
  });

  test('items: added, retrieved, deleted, and not two of one name', () => {
    const client = opened();
    const frame = item({
      id: 'omniinteract_frame_0',
      content: [{ type: 'input_image', image_url: `data:image/jpeg;base64,${jpeg}` }],
    });
    client.say(frame);
    client.say(frame);
    client.say({ type: 'conversation.item.retrieve', item_id: 'omniinteract_frame_0' });
    client.say({ type: 'conversation.item.delete', item_id: 'omniinteract_frame_0' });
    client.say(frame);
    expect(client.types().slice(2)).toEqual([
      'conversation.item.added',
      'conversation.item.created',
      'error',
      'conversation.item.retrieved',
      'conversation.item.deleted',
      'conversation.item.added',
      'conversation.item.created',
    ]);
    // Pictures are not kept.
    expect(JSON.stringify(client.of('conversation.item.retrieved'))).not.toContain(jpeg);
  });

  test('what is too long to be sent back is not', () => {
    const client = opened();
    const long = 'x'.repeat(100_000);
    client.say({ type: long, event_id: long });
    client.say({ type: 'conversation.item.retrieve', item_id: long });
    client.say({ type: 'playback.ack', played_ms: 1, response_id: long });
    client.say({ type: 'playback.ack', played_ms: 1, response_id: long, item_id: long });
    client.say({ type: 'response.create', response: { metadata: { long } } });
    client.say({ type: 'session.update', session: { turn_detection: { type: long } } });
    client.say({ type: 'session.update', session: { input_audio_format: long } });
    client.say(append({ input_audio_format: long }));
    expect(client.errors()).toHaveLength(8);
    for (const event of client.of('error')) expect(JSON.stringify(event).length).toBeLessThan(1500);
  });

  test('a conversation does not grow without bound', () => {
    const client = opened();
    const text = item({ content: [{ type: 'input_text', text: 'x'.repeat(6 * 1024 * 1024) }] });
    for (let count = 0; count < 4; count += 1) client.say(text);
    expect(client.errors()).toEqual(['resource_exhausted', 'resource_exhausted']);
  });
});

describe('before there is a session', () => {
  test.each([
    ['unknown_session', append()],
    ['invalid_json', '{'],
    ['bad_event', update(5)],
    ['ref_audio_required', update({})],
    ['unsupported_audio_format', update({ input_audio_format: 'mp3' })],
    [
      'invalid_duplex_runtime_config',
      update({ modalities: ['text'], extra_body: { duplex_script: 'nowhere' } }),
    ],
  ])('%s is flat, and another try is possible', (code, event) => {
    const client = new VirtualDuplex().connect();
    client.say(event);
    expect(client.sent[0]).toMatchObject({ type: 'error', code, error: expect.any(String) });
    client.open();
    expect(client.types()).toContain('session.created');
  });

  test('a model that the server has not', () => {
    const client = new VirtualDuplex().connect({
      checkModel: (name) => {
        throw new DuplexError('invalid_duplex_runtime_config', `The model ${name} does not exist.`);
      },
    });
    client.open({ model: 'other' });
    expect(client.sent[0]).toMatchObject({
      code: 'invalid_duplex_runtime_config',
      error: 'The model other does not exist.',
    });
  });

  test('after the session is closed, events find none', () => {
    const world = new VirtualDuplex({ sessions: [{}] });
    const client = world.connect().open();
    // The close and what follows it come in one go.
    client.connection.receive(Buffer.from('{"type":"session.close"}'));
    client.connection.receive(Buffer.from('{"type":"session.heartbeat"}'));
    world.settle();
    expect(client.types().at(-1)).toBe('session.closed');
  });
});

const classes = Object.entries(realtimeErrorCodes).flatMap(([name, codes]) =>
  codes.map((code) => [code, name] as const),
);

test.each(classes)('a script can bring about %s, which is a %s', (code, errorClass) => {
  const client = opened({ sessions: [{ actions: [{ at_ms: 200, error: { code } }] }] });
  client.stream(200);
  expect(client.of('error')[0]).toMatchObject({ error: { type: errorClass, code } });
});
