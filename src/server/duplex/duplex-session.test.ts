import { describe, expect, test } from 'vitest';
import { realtimeErrorCodes } from '../../protocol/realtime-events.ts';
import { inside, VirtualDuplex } from './virtual-duplex.suite.ts';

const spoken = (text: string, audioS: number, over: object = {}) => ({ text, audio_s: audioS, ...over });

/** What one spoken response is made of, in order, but for its deltas. */
const responseOpening = [
  'response.created',
  'conversation.item.added',
  'conversation.item.created',
  'response.output_item.added',
  'response.content_part.added',
  'response.speak',
];
const responseClosing = [
  'response.output_audio.done',
  'response.output_audio_transcript.done',
  'response.content_part.done',
  'response.output_item.done',
  'conversation.item.done',
  'response.done',
  'rate_limits.updated',
];
const pair = ['response.output_audio.delta', 'response.output_audio_transcript.delta'];
const fanOut = [
  'conversation.item.added',
  'conversation.item.created',
  'input_audio_buffer.committed',
  'conversation.item.input_audio_transcription.completed',
  'conversation.item.done',
];

describe('the handshake', () => {
  test('answers the first session.update with what the session is', () => {
    const client = new VirtualDuplex().connect().open();
    expect(client.types()).toEqual(['session.created', 'session.updated']);
    const [created, updated] = client.sent;
    expect(created).toMatchObject({
      attachment_generation: 1,
      server_event_seq: 1,
      session: {
        object: 'realtime.session',
        type: 'realtime',
        state: 'open',
        turn_state: 'idle',
        epoch: 0,
        turn_id: 0,
        active_response_id: null,
        modalities: ['audio', 'text'],
        output_modalities: ['audio', 'text'],
        input_audio_format: 'pcm16',
        audio: {
          input: { format: { type: 'audio/pcm', rate: 16000 }, sample_rate_hz: 16000 },
          output: { format: { type: 'audio/pcm', rate: 24000 } },
        },
        idle_timeout_s: 900,
        overlap_policy: 'listen_only',
        overlap_short_ack_ms: 700,
        overlap_barge_in_ms: 1200,
        overlap_silence_rms: 0.003,
        playback_commit_policy: 'ack_only',
        turn_detection: null,
        playback: { generated_ms: 0, sent_ms: 0, played_ms: 0, committed_ms: 0 },
        capabilities: {
          implementation_level: 'model_native_duplex',
          supports_barge_in: true,
          supports_session_resume: true,
          chunk_period_ms: 1000,
          input_modes: ['append_audio_chunk'],
          signal_sources: ['model_native', 'client_event', 'server_policy'],
          target_barge_in_latency_ms: null,
        },
      },
    });
    expect(inside(created, 'session', 'id')).toMatch(/^duplex-[0-9a-f-]{36}$/);
    expect(created?.event_id).toMatch(/^event_[0-9a-f]{32}$/);
    expect(updated?.server_event_seq).toBe(2);
    expect(updated?.session).toEqual(created?.session);
  });

  test('a client’s own session id is not taken', () => {
    const client = new VirtualDuplex().connect().open({ session_id: 'mine' });
    expect(inside(client.sent[0], 'session', 'id')).not.toBe('mine');
  });

  test('an auto-started session answers in text until it is configured, and may then be given a voice', () => {
    const client = new VirtualDuplex().connect({ autostart: true });
    expect(client.of('session.created')[0]).toMatchObject({ session: { modalities: ['text'] } });
    client.open();
    expect(client.of('session.updated')[1]).toMatchObject({ session: { modalities: ['audio', 'text'] } });
  });

  test('errors before there is a session are flat, and their places in the order count', () => {
    const client = new VirtualDuplex().connect();
    client.say({ type: 'session.heartbeat' });
    client.open({ ref_audio: undefined });
    client.open();
    expect(client.sent[0]).toMatchObject({ type: 'error', code: 'unknown_session', server_event_seq: 1 });
    expect(typeof client.sent[0]?.error).toBe('string');
    expect(client.sent[1]).toMatchObject({ type: 'error', code: 'ref_audio_required', server_event_seq: 2 });
    expect(client.sent[2]).toMatchObject({ type: 'session.created', server_event_seq: 3 });
  });

  test('a text session needs no voice', () => {
    const client = new VirtualDuplex().connect().open({ ref_audio: undefined, modalities: ['text'] });
    expect(client.types()).toContain('session.created');
  });

  test('a socket without a session is not kept for ever', () => {
    const world = new VirtualDuplex({}, { configTimeoutS: 10 });
    const client = world.connect();
    world.pass(9999);
    expect(client.closedWith).toBeNull();
    world.pass(1);
    expect(client.errors()).toEqual(['config_timeout']);
    expect(client.closedWith?.reason).toBe('config_timeout');
  });

  test('at most four sessions', () => {
    const world = new VirtualDuplex();
    const clients = Array.from({ length: 4 }, () => world.connect().open());
    const fifth = world.connect().open();
    expect(fifth.sent[0]).toMatchObject({
      type: 'error',
      code: 'resource_exhausted',
      error: 'duplex_session_capacity_exhausted: limit=4',
    });
    clients[0]?.say({ type: 'session.close' });
    fifth.open();
    expect(fifth.types()).toContain('session.created');
  });
});

describe('units', () => {
  test('close at 1030 ms and then every second, each with a decision', () => {
    const world = new VirtualDuplex({ sessions: [{ listen_only: true }] });
    const client = world.connect().open();
    const startMs = world.scheduler.nowMs();
    client.stream(5000);
    world.pass(500);
    const listens = client.of('response.listen');
    // The appends that end at 1200, 2200, 3200 and 4200 ms close a unit; the decision takes 59.9 ms.
    expect(listens.map(({ atMs }) => Math.round((atMs - startMs) * 10) / 10)).toEqual([
      1259.9, 2259.9, 3259.9, 4259.9,
    ]);
    expect(listens[0]).toMatchObject({
      epoch: 0,
      response: {
        object: 'realtime.response',
        status: 'listening',
        metadata: { type: 'response.listen', reason: 'model_listen', model_listen: true },
      },
    });
    expect(listens[0]).not.toHaveProperty('response_id');
    expect(inside(listens[0], 'response', 'metadata')).not.toHaveProperty('buffering');
  });

  test('so many first ones are listened to as the client wants', () => {
    const script = { sessions: [{ responses: [spoken('Hello there.', 1, { at_ms: 0 })] }] };
    const client = new VirtualDuplex(script)
      .connect()
      .open({ extra_body: { auto_response: true, force_listen_count: 2 } });
    client.stream(3200);
    expect(
      client.types().filter((type) => type === 'response.listen' || type === 'response.created'),
    ).toEqual(['response.listen', 'response.listen', 'response.created']);
  });

  test('without a script: a second of listening, then as much speech as silence', () => {
    const world = new VirtualDuplex();
    const client = world.connect().open();
    client.stream(60_000);
    client.commit();
    world.pass(20_000);
    const spokenMs = client
      .of('response.done')
      .map((event) => Number(inside(event, 'response', 'metadata', 'playback', 'generated_ms')))
      .reduce((sum, ms) => sum + ms, 0);
    expect(spokenMs / 60_000).toBeGreaterThan(0.35);
    expect(spokenMs / 60_000).toBeLessThan(0.65);
    // Nothing else was asked for: a commit after speech is only listened to.
    expect(client.types().at(-1)).toBe('response.listen');
  });

  test('what the model is to say first, it says', () => {
    const world = new VirtualDuplex();
    const client = world.connect().open({
      extra_body: {
        auto_response: true,
        duplex_initial_user_text: 'Read this aloud please.',
        force_listen_count: 0,
      },
    });
    client.stream(1200, { amplitude: 0 });
    world.pass(10_000);
    expect(client.of('response.output_audio_transcript.done')[0]?.transcript).toBe('Read this aloud please.');
  });
});

describe('a response', () => {
  const script = {
    sessions: [
      { responses: [spoken('One two three four five six.', 2.5, { at_ms: 1500, ttft_ms: 400, rtf: 0.96 })] },
    ],
  };

  test('goes through its life in order, with exactly one transcript per sound', () => {
    const world = new VirtualDuplex(script);
    const client = world.connect().open();
    client.stream(2200);
    world.pass(5000);
    const from = client.types().indexOf('response.created');
    expect(client.types().slice(from)).toEqual([
      ...responseOpening,
      ...pair,
      ...pair,
      ...pair,
      ...responseClosing,
    ]);
  });

  test('begins with the unit that closes after its time, and keeps its own times', () => {
    const world = new VirtualDuplex(script);
    const client = world.connect().open();
    const startMs = world.scheduler.nowMs();
    client.stream(2200);
    world.pass(5000);
    const at = (type: string): number[] => client.of(type).map(({ atMs }) => Math.round(atMs - startMs));
    // 1500 ms lies in the unit that closes at 2030 ms, with the append that ends at 2200 ms.
    expect(at('response.created')).toEqual([2200]);
    // First sound after 400 ms; last after 0.96 · 2.5 s.
    expect(at('response.output_audio.delta')).toEqual([2600, 3600, 4600]);
    expect(at('response.done')).toEqual([4600]);
  });

  test('says what is in it', () => {
    const world = new VirtualDuplex(script);
    const client = world.connect().open();
    client.stream(2200);
    world.pass(5000);
    const [created] = client.of('response.created');
    const responseId = client.response();
    const itemId = `item_${responseId}`;
    expect(created).toMatchObject({
      response: {
        id: responseId,
        object: 'realtime.response',
        status: 'in_progress',
        status_details: null,
        output: [],
        modalities: ['audio', 'text'],
        metadata: { duplex_event: { type: 'response.created', response_id: responseId, epoch: 0 } },
      },
    });
    const deltas = client.of('response.output_audio.delta');
    expect(deltas.map(({ delta }) => Buffer.from(String(delta), 'base64').length)).toEqual([
      48000, 48000, 24000,
    ]);
    expect(deltas.map((event) => inside(event, 'metadata', 'audio_duration_ms'))).toEqual([1000, 2000, 2500]);
    expect(deltas[1]).toMatchObject({
      response_id: responseId,
      item_id: itemId,
      output_index: 0,
      content_index: 0,
      format: 'pcm16',
      sample_rate_hz: 24000,
      metadata: {
        epoch: 0,
        model_speak: true,
        end_of_turn: false,
        playback: { generated_ms: 2000, sent_ms: 2000, played_ms: 0, committed_ms: 0 },
      },
    });
    expect(inside(deltas[2], 'metadata', 'end_of_turn')).toBe(true);
    const said = client.of('response.output_audio_transcript.delta').map(({ delta }) => delta);
    expect(said.join('')).toBe('One two three four five six.');
    const marks = deltas.map((event) => inside(event, 'metadata', 'audio_text_marks', '0'));
    expect(marks.at(-1)).toEqual({ text_chars: 28, audio_end_ms: 2500 });
    const item = { id: itemId, status: 'completed', role: 'assistant' };
    expect(client.of('response.output_item.done')[0]).toMatchObject({ item });
    expect(client.of('response.done')[0]).toMatchObject({
      response_id: responseId,
      response: { status: 'completed', status_details: null, output: [item], metadata: { committed: false } },
    });
  });

  test('tells the server’s own times, and its stages only when asked', () => {
    const seen = (asked: boolean) => {
      const world = new VirtualDuplex(script);
      const client = world
        .connect()
        .open({ extra_body: { auto_response: true, return_stage_metrics: asked } });
      client.stream(2200);
      world.pass(5000);
      return client;
    };
    const client = seen(true);
    const times = { ttft_ms: 400, ttfp_ms: 400 };
    const [first, , last] = client.of('response.output_audio.delta');
    expect(first).toMatchObject({ metadata: { response_request_metrics: times } });
    expect(client.of('response.done')[0]).toMatchObject({
      response: { metadata: { response_request_metrics: times } },
    });
    // Six words are six tokens, shared out over three deltas; snapshots are cumulative.
    expect(inside(first, 'metadata', 'stage_metrics', '0', 'num_tokens_out')).toBe(2);
    const stage = inside(last, 'metadata', 'stage_metrics', '0');
    expect(stage).toMatchObject({ num_tokens_out: 6, vllm_ttft_ms: 59.9 });
    const gaps = inside(stage, 'vllm_itls_ms');
    expect(gaps).toHaveLength(5);
    const mean = Array.isArray(gaps) ? gaps.reduce((sum: number, gap: number) => sum + gap, 0) / 5 : null;
    expect(Number(inside(stage, 'vllm_tpot_ms'))).toBeCloseTo(Number(mean), 2);
    expect(inside(last, 'metadata', 'stage_metrics', '2')).toMatchObject({
      audio_frames: 60000,
      audio_duration_s: 2.5,
    });
    for (const event of seen(false).sent) expect(JSON.stringify(event)).not.toContain('stage_metrics');
  });

  test('in text alone where that is wanted', () => {
    const world = new VirtualDuplex(script);
    const client = world.connect().open({ modalities: ['text'] });
    client.stream(2200);
    world.pass(5000);
    expect(client.of('response.output_audio.delta')).toEqual([]);
    const said = client.of('response.output_text.delta').map(({ delta }) => delta);
    expect(said.join('')).toBe('One two three four five six.');
    expect(client.of('response.output_text.done')[0]?.text).toBe('One two three four five six.');
  });

  test('under the older names where the script wants them', () => {
    const world = new VirtualDuplex({ ...script, event_names: 'beta' });
    const client = world.connect().open();
    client.stream(2200);
    world.pass(5000);
    expect(client.of('response.audio.delta')).toHaveLength(3);
    expect(client.of('response.audio_transcript.delta')).toHaveLength(3);
    expect(client.of('response.output_audio.delta')).toEqual([]);
  });

  test('Chinese text is shared out by characters', () => {
    const world = new VirtualDuplex({
      sessions: [{ responses: [spoken('今天天气很好', 2, { at_ms: 0 })] }],
    });
    const client = world.connect().open();
    client.stream(1200);
    world.pass(5000);
    expect(client.of('response.output_audio_transcript.delta').map(({ delta }) => delta)).toEqual([
      '今天天',
      '气很好',
    ]);
  });
});

describe('a commit', () => {
  test('fans out in order, and a decision follows', () => {
    const world = new VirtualDuplex({ sessions: [{ listen_only: true, transcripts: ['what is this'] }] });
    const client = world.connect().open();
    client.stream(400);
    client.commit();
    world.pass(100);
    expect(client.types().slice(2)).toEqual([...fanOut, 'response.listen']);
    const [, , added, , committed, transcribed] = client.sent;
    expect(added).toMatchObject({ previous_item_id: null, item: { role: 'user', status: 'completed' } });
    expect(committed).toMatchObject({
      item_id: inside(added, 'item', 'id'),
      event: { type: 'input.committed', turn_id: 1, epoch: 0, history_len: 1 },
    });
    expect(inside(committed, 'event')).not.toHaveProperty('overlap_deferred');
    expect(transcribed).toMatchObject({ content_index: 0, transcript: 'what is this' });
  });

  test('items chain', () => {
    const client = new VirtualDuplex({ sessions: [{ listen_only: true }] }).connect().open();
    for (let turn = 0; turn < 2; turn += 1) {
      client.stream(400);
      client.commit();
    }
    const [first, second] = client.of('input_audio_buffer.committed');
    expect(second?.previous_item_id).toBe(first?.item_id);
    expect(inside(second, 'event', 'turn_id')).toBe(2);
  });

  test('while a response is said, its decision waits for that', () => {
    const script = { sessions: [{ responses: [spoken('Early.', 3, { at_ms: 0 }), spoken('Late.', 1)] }] };
    const world = new VirtualDuplex(script);
    const client = world.connect().open();
    client.stream(1400);
    client.commit();
    const [committed] = client.of('input_audio_buffer.committed');
    expect(committed).toMatchObject({ event: { overlap_deferred: true } });
    world.pass(20_000);
    const created = client.of('response.created');
    const done = client.of('response.done');
    expect(created).toHaveLength(2);
    expect(Number(created[1]?.server_event_seq)).toBeGreaterThan(Number(done[0]?.server_event_seq));
    expect(client.of('response.output_audio_transcript.done').map(({ transcript }) => transcript)).toEqual([
      'Early.',
      'Late.',
    ]);
  });

  test('the last, incomplete unit begins what was due in it', () => {
    const world = new VirtualDuplex({
      sessions: [{ responses: [spoken('At the end.', 1, { at_ms: 1500 })] }],
    });
    const client = world.connect().open();
    client.stream(1600);
    client.commit();
    expect(client.of('response.created')).toHaveLength(1);
  });

  test('what was due and had no chance before begins after it', () => {
    const responses = [
      spoken('A.', 2, { at_ms: 0 }),
      spoken('B.', 1, { at_ms: 1100 }),
      spoken('C.', 1, { at_ms: 1200 }),
    ];
    const world = new VirtualDuplex({ sessions: [{ responses }] });
    const client = world.connect().open();
    client.stream(1400);
    client.commit();
    world.pass(30_000);
    expect(client.of('response.output_audio_transcript.done').map(({ transcript }) => transcript)).toEqual([
      'A.',
      'B.',
      'C.',
    ]);
  });

  test('of silence is answered by listening, without an item', () => {
    const client = new VirtualDuplex().connect().open();
    client.stream(400);
    client.commit({ is_speech: false });
    expect(client.types().slice(2)).toEqual(['response.listen']);
  });

  test('of nothing is refused', () => {
    const client = new VirtualDuplex().connect().open();
    client.commit();
    expect(client.errors()).toEqual(['input_audio_buffer_empty']);
    client.stream(400);
    client.say({ type: 'input_audio_buffer.clear' });
    client.commit();
    expect(client.types()).toContain('input_audio_buffer.cleared');
    expect(client.errors()).toEqual(['input_audio_buffer_empty', 'input_audio_buffer_empty']);
  });
});

describe('answers that are asked for', () => {
  const explicit = { extra_body: { auto_response: false } };

  test('come when they are, and not before', () => {
    const world = new VirtualDuplex();
    const client = world.connect().open(explicit);
    client.stream(3000);
    client.commit({ response_create: false });
    world.pass(5000);
    expect(client.of('response.created')).toEqual([]);
    client.say({
      type: 'response.create',
      response: { instructions: 'Short.', temperature: 0.6, metadata: { trace: 'turn-1' } },
    });
    world.pass(10_000);
    expect(client.of('response.done')[0]).toMatchObject({
      response: { status: 'completed', metadata: { trace: 'turn-1' } },
    });
  });

  test('one that is asked for with a commit waits for the one before', () => {
    const world = new VirtualDuplex();
    const client = world.connect().open(explicit);
    for (let turn = 0; turn < 2; turn += 1) {
      client.stream(400);
      client.commit({ response_create: true });
    }
    expect(client.of('input_audio_buffer.committed')[1]).toMatchObject({
      event: { response_create_deferred: true },
    });
    world.pass(30_000);
    expect(client.of('response.done')).toHaveLength(2);
  });

  test('need audio that was committed and not answered', () => {
    const world = new VirtualDuplex();
    const client = world.connect().open(explicit);
    const ask = (): void => client.say({ type: 'response.create' });
    ask();
    client.say({
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
    });
    ask();
    client.stream(400);
    client.commit();
    ask();
    ask();
    world.pass(10_000);
    ask();
    expect(client.errors()).toEqual([
      'response_create_without_input',
      'text_only_turn_unsupported',
      'response_already_active',
      'response_create_without_input',
    ]);
  });

  test('say the text that was put in, once', () => {
    const world = new VirtualDuplex();
    const client = world.connect().open(explicit);
    client.say({
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Read me this.' }] },
    });
    for (let turn = 0; turn < 2; turn += 1) {
      client.stream(400);
      client.commit({ response_create: false });
      client.say({ type: 'response.create' });
      world.pass(10_000);
    }
    const said = client.of('response.output_audio_transcript.done').map(({ transcript }) => transcript);
    expect(said[0]).toBe('Read me this.');
    expect(said[1]).not.toBe('Read me this.');
  });

  test('audio of an item counts as committed', () => {
    const client = new VirtualDuplex().connect().open(explicit);
    client.say({
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content: [{ type: 'input_audio', audio: 'AAAA' }] },
    });
    client.say({ type: 'response.create' });
    expect(client.of('response.created')).toHaveLength(1);
  });

  test('can be a call of a function', () => {
    const world = new VirtualDuplex({
      sessions: [
        {
          responses: [
            { function_call: { name: 'get_weather', arguments: '{"city":"Bern"}' } },
            { function_call: { name: 'broken', arguments: '{' } },
          ],
        },
      ],
    });
    const client = world.connect().open();
    for (let turn = 0; turn < 2; turn += 1) {
      client.stream(400);
      client.commit();
      world.pass(2000);
    }
    expect(client.of('response.function_call_arguments.done')[0]).toMatchObject({
      arguments: '{"city":"Bern"}',
    });
    expect(client.of('duplex.function_call.done')[0]).toMatchObject({
      event: { name: null, arguments: '{' },
    });
    expect(client.of('response.done')).toHaveLength(2);
  });
});

describe('interruptions', () => {
  const script = {
    sessions: [{ responses: [spoken('A long story that goes on and on.', 8, { at_ms: 0 })] }],
  };
  const speaking = (over: Readonly<Record<string, unknown>> = {}) => {
    const world = new VirtualDuplex(script);
    const client = world.connect().open(over);
    client.stream(1200);
    world.pass(1500);
    return { world, client };
  };

  test.each([
    ['barge_in', { type: 'barge_in' }, 'barge_in'],
    ['turn.signal', { type: 'turn.signal', event: 'barge_in', payload: {} }, 'barge_in'],
    ['response.cancel', { type: 'response.cancel' }, 'client_cancelled'],
    ['output_audio_buffer.clear', { type: 'output_audio_buffer.clear' }, 'client_cancelled'],
    ['input.cancel', { type: 'input.cancel' }, 'client_cancelled'],
  ])('by %s end the response and raise the epoch', (_name, event, reason) => {
    const { world, client } = speaking();
    const heard = client.of('response.output_audio.delta').length;
    expect(heard).toBeGreaterThan(0);
    client.say(event);
    world.pass(20_000);
    expect(client.of('response.output_audio.delta')).toHaveLength(heard);
    expect(client.of('response.done')[0]).toMatchObject({
      response: {
        status: 'cancelled',
        status_details: { type: 'cancelled', reason },
        output: [{ status: 'cancelled' }],
      },
    });
    client.say({ type: 'session.update', session: {} });
    expect(inside(client.of('session.updated').at(-1), 'session', 'epoch')).toBe(1);
  });

  test('what they answer', () => {
    const { client } = speaking();
    const responseId = client.response();
    client.say({ type: 'output_audio_buffer.clear' });
    expect(client.sent.at(-1)).toMatchObject({
      type: 'output_audio_buffer.cleared',
      response_id: responseId,
    });
    client.say({ type: 'barge_in' });
    expect(client.sent.at(-1)).toMatchObject({ type: 'turn.event', event: 'barge_in', epoch: 2 });
    client.say({ type: 'input.cancel' });
    expect(client.sent.at(-1)).toMatchObject({ type: 'input_audio_buffer.cleared' });
  });

  test('by speech, as the policy says', () => {
    const run = (over: Readonly<Record<string, unknown>>, durationMs: number, audio: object = {}) => {
      const { client } = speaking(over);
      client.stream(durationMs, audio);
      const decisions = client.of('overlap.decision').map(({ action, reason }) => [action, reason]);
      return { decisions, cancelled: client.of('response.done').length };
    };
    expect(run({}, 2000)).toEqual({ decisions: [['listen', 'policy_listen_only']], cancelled: 0 });
    expect(run({ overlap_policy: 'auto' }, 600)).toEqual({
      decisions: [['listen', 'short_ack']],
      cancelled: 0,
    });
    expect(run({ overlap_policy: 'auto' }, 1200)).toEqual({
      decisions: [
        ['listen', 'short_ack'],
        ['barge_in', 'long_overlap_speech'],
      ],
      cancelled: 1,
    });
    expect(run({ overlap_policy: 'barge_in_on_speech' }, 200)).toEqual({
      decisions: [['barge_in', 'policy_barge_in_on_speech']],
      cancelled: 1,
    });
    expect(run({ overlap_policy: 'auto' }, 2000, { amplitude: 20 }).decisions).toEqual([['drop', 'silence']]);
    expect(run({ overlap_policy: 'auto' }, 2000, { fields: { is_speech: false } }).decisions).toEqual([
      ['drop', 'silence'],
    ]);
  });

  test('of what is not being said are refused', () => {
    const { world, client } = speaking();
    client.say({ type: 'response.cancel', response_id: 'resp_other' });
    world.pass(20_000);
    client.say({ type: 'response.cancel' });
    expect(client.errors()).toEqual(['response_not_active', 'response_not_active']);
  });
});

test('every code of an error is one of the protocol’s, each once', () => {
  const codes = Object.values(realtimeErrorCodes).flat();
  expect(new Set(codes).size).toBe(codes.length);
});
