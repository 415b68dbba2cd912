import fc from 'fast-check';
import { expect } from 'vitest';
import { property } from '../../foundation/property.suite.ts';
import { opening, tone } from './duplex-client.suite.ts';
import { eventHandlers } from './session-events.ts';
import { inside, type Sent, VirtualDuplex } from './virtual-duplex.suite.ts';

const loud = tone(200);
const quiet = tone(200, 0);
const append = (audio: string) => ({ type: 'input_audio_buffer.append', audio, sample_rate_hz: 16000 });

/** Anything that a client may do, in order or not. */
const step = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom<unknown>(append(loud), append(quiet), append('*')) },
  {
    weight: 4,
    arbitrary: fc.constantFrom<unknown>(
      { type: 'input_audio_buffer.commit', final: true },
      { type: 'input_audio_buffer.commit', is_speech: false },
      { type: 'input_audio_buffer.commit', response_create: true },
      { type: 'input_audio_buffer.clear' },
      { type: 'input.cancel' },
      { type: 'response.create' },
      { type: 'response.cancel' },
      { type: 'output_audio_buffer.clear' },
      { type: 'barge_in' },
      { type: 'playback.ack', played_ms: 300 },
      { type: 'session.heartbeat' },
      { type: 'nonsense' },
      '{',
    ),
  },
  { weight: 6, arbitrary: fc.nat(2500) },
);

const sessions = fc.constantFrom<Readonly<Record<string, unknown>>>(
  {},
  { overlap_policy: 'auto' },
  { overlap_policy: 'barge_in_on_speech' },
  { extra_body: { auto_response: false } },
  { turn_detection: { type: 'server_vad' }, extra_body: { auto_response: false } },
  { modalities: ['text'] },
);

function expectLifeOfEach(sent: readonly Sent[]): void {
  for (const created of sent.filter(({ type }) => type === 'response.created')) {
    const own = sent.filter(
      ({ response_id: id, type }) => id === created.response_id && type.startsWith('response.'),
    );
    const done = own.findIndex(({ type }) => type === 'response.done');
    expect(own.filter(({ type }) => type === 'response.created')).toHaveLength(1);
    // Nothing is said after the end, which there is one of at most.
    if (done >= 0) expect(done).toBe(own.length - 1);
  }
}

function expectPairs(sent: readonly Sent[]): void {
  for (const [index, event] of sent.entries()) {
    if (event.type !== 'response.output_audio.delta') continue;
    expect(sent[index + 1]).toMatchObject({
      type: 'response.output_audio_transcript.delta',
      response_id: event.response_id,
    });
  }
}

property([sessions, fc.array(step, { maxLength: 60 })], { numRuns: 150 })(
  'whatever a client does, events stay in order, responses do not overlap, and each ends once',
  (session, steps) => {
    const world = new VirtualDuplex();
    const client = world.connect();
    client.say(opening(session));
    for (const next of steps) {
      if (typeof next === 'number') world.pass(next);
      else client.say(next);
    }
    world.pass(30_000);
    const { sent } = client;
    expect(sent.map(({ server_event_seq: seq }) => seq)).toEqual(sent.map((_, index) => index + 1));
    expectLifeOfEach(sent);
    expectPairs(sent);
    const open = sent.reduce((active, { type }) => {
      const now = active + Number(type === 'response.created') - Number(type === 'response.done');
      expect(now).toBeLessThanOrEqual(1);
      return now;
    }, 0);
    expect(open).toBe(0);
    const epochs = sent.flatMap((event) =>
      event.type === 'response.listen' ? [Number(inside(event, 'epoch'))] : [],
    );
    expect(epochs).toEqual([...epochs].sort((a, b) => a - b));
    expect(client.errors()).not.toContain('internal_error');
    client.say({ type: 'session.close' });
    expect(sent.at(-1)?.type).toBe('session.closed');
  },
);

/** Values where others are expected, and some that nearly fit. */
const junk = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    '',
    'x',
    -1,
    0,
    5e300,
    [],
    {},
    [null],
    'AAAA',
    'item_',
    'resp_',
    'audio',
    'server_vad',
  ),
  fc.object({ maxDepth: 2 }),
  fc.string({ maxLength: 20 }),
  fc.double(),
);
const fieldNames = [
  ...[
    'audio',
    'format',
    'input_audio_format',
    'sample_rate_hz',
    'is_speech',
    'video_frames',
    'final',
    'response_create',
  ],
  ...[
    'item',
    'item_id',
    'content_index',
    'audio_end_ms',
    'response',
    'response_id',
    'played_ms',
    'committed_ms',
  ],
  ...[
    'truncate',
    'event',
    'payload',
    'session',
    'session_id',
    'resume_token',
    'server_event_seq',
    'event_id',
    'text',
  ],
  ...['last_received_server_event_seq', 'attachment_generation'],
];
const sessionFieldNames = [
  ...[
    'model',
    'modalities',
    'output_modalities',
    'instructions',
    'voice',
    'ref_audio',
    'turn_detection',
    'extra_body',
  ],
  ...[
    'audio',
    'input_audio_format',
    'output_audio_format',
    'sample_rate_hz',
    'temperature',
    'max_tokens',
    'speed',
  ],
  ...['idle_timeout_s', 'overlap_policy', 'playback_commit_policy', 'tracing', 'persona'],
];
const itemOf = fc.record({
  id: junk,
  type: fc.constantFrom('message', 'function_call_output', 'x'),
  content: fc.array(junk, { maxLength: 2 }),
});
const fields = fc.dictionary(fc.constantFrom(...fieldNames), fc.oneof(junk, itemOf), { maxKeys: 5 });
const sessionFields = fc.dictionary(fc.constantFrom(...sessionFieldNames), junk, { maxKeys: 4 });
const junkEvent = fc.oneof(
  fc
    .tuple(fc.constantFrom(...Object.keys(eventHandlers)), fields)
    .map(([type, given]) => ({ ...given, type })),
  sessionFields.map((session) => ({ type: 'session.update', session })),
);

property([fc.array(junkEvent, { maxLength: 30 }), fc.boolean()], { numRuns: 400 })(
  'whatever an event holds, it is taken or refused, and the server is not surprised',
  (events, inSession) => {
    const world = new VirtualDuplex();
    const client = world.connect();
    if (inSession) client.say(opening());
    for (const event of events) client.say(event);
    world.pass(5000);
    expect(client.errors()).not.toContain('internal_error');
    expect(client.errors()).not.toContain(undefined);
    expect(world.connect().open().types()).toContain('session.created');
  },
);
