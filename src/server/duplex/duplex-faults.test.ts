import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { InputFileError } from '../../foundation/errors.ts';
import { DuplexError } from './duplex-error.ts';
import { parseDuplexScript, type ResponseFault, readDuplexScript, responseFaults } from './duplex-script.ts';
import { inside, type Sent, type VirtualClient, VirtualDuplex } from './virtual-duplex.suite.ts';

/** A session whose one response is as given, after it has been said. */
function said(response: object, session: object = {}): VirtualClient {
  const world = new VirtualDuplex({
    sessions: [
      { responses: [{ text: 'One two three four.', audio_s: 2, at_ms: 0, ...response }], ...session },
    ],
  });
  const client = world.connect().open();
  client.stream(1200);
  world.pass(10_000);
  return client;
}

describe('what a script can make wrong with a response', () => {
  const audio = (client: VirtualClient): Sent | undefined => client.of('response.output_audio.delta')[0];
  const ids = (client: VirtualClient, type: string): unknown[] =>
    client.of(type).map(({ response_id: id }) => id);

  const checks: Readonly<Record<ResponseFault, (client: VirtualClient) => void>> = {
    no_response_id: (client) => expect(audio(client)).not.toHaveProperty('response_id'),
    wrong_format: (client) => expect(audio(client)?.format).toBe('pcm_f32le'),
    no_format: (client) => expect(audio(client)).not.toHaveProperty('format'),
    wrong_rate: (client) => expect(audio(client)?.sample_rate_hz).toBe(16000),
    no_rate: (client) => expect(audio(client)).not.toHaveProperty('sample_rate_hz'),
    bad_base64: (client) => expect(audio(client)?.delta).toMatch(/^!/),
    empty_audio: (client) => expect(audio(client)?.delta).toBe(''),
    odd_bytes: (client) => expect(Buffer.from(String(audio(client)?.delta), 'base64')).toHaveLength(3),
    no_audio_payload: (client) => expect(audio(client)).not.toHaveProperty('delta'),
    no_created: (client) => {
      expect(ids(client, 'response.created')).toEqual([]);
      expect(ids(client, 'response.done')).toHaveLength(1);
    },
    created_without_id: (client) => {
      expect(ids(client, 'response.created')).toEqual([undefined]);
      expect(client.of('response.created')[0]?.response).not.toHaveProperty('id');
    },
    duplicate_created: (client) => {
      const [first, second, ...more] = ids(client, 'response.created');
      expect(second).toBe(first);
      expect(more).toEqual([]);
    },
    no_done: (client) => expect(client.of('response.done')).toEqual([]),
    done_without_id: (client) => expect(ids(client, 'response.done')).toEqual([undefined]),
    duplicate_done: (client) => expect(new Set(ids(client, 'response.done')).size).toBe(1),
    foreign_done: (client) => {
      expect(ids(client, 'response.done')).toHaveLength(1);
      expect(ids(client, 'response.done')).not.toEqual(ids(client, 'response.created'));
    },
  };

  test.each(responseFaults)('%s', (fault) => {
    checks[fault](said({ fault }));
  });

  test('duplicates are told apart by their places', () => {
    const client = said({ fault: 'duplicate_done' });
    const seqs = client.of('response.done').map(({ server_event_seq: seq }) => seq);
    expect(seqs).toHaveLength(2);
    expect(seqs[0]).not.toBe(seqs[1]);
  });

  test('it fails, or is cancelled, after as much as was said', () => {
    const failed = said({ status: 'failed', reason: 'engine_error', stop_after_s: 1 });
    expect(failed.of('response.output_audio.delta')).toHaveLength(1);
    expect(failed.of('response.done')[0]).toMatchObject({
      response: { status: 'failed', status_details: { type: 'failed', reason: 'engine_error' } },
    });
    const cancelled = said({ stop_after_s: 0.5 });
    expect(inside(cancelled.of('response.output_audio.delta')[0], 'metadata', 'audio_duration_ms')).toBe(500);
    expect(cancelled.of('response.done')[0]).toMatchObject({
      response: { status: 'cancelled', status_details: { type: 'cancelled', reason: 'barge_in' } },
    });
    cancelled.say({ type: 'session.update', session: {} });
    expect(inside(cancelled.of('session.updated').at(-1), 'session', 'epoch')).toBe(1);
  });

  test('the output buffer is cleared in its midst', () => {
    const client = said({ clear_after_s: 1 });
    const types = client.types().filter((type) => /audio\.delta|cleared/.test(type));
    expect(types).toEqual([
      'response.output_audio.delta',
      'output_audio_buffer.cleared',
      'response.output_audio.delta',
    ]);
    expect(client.of('output_audio_buffer.cleared')[0]?.response_id).toBe(client.response());
  });

  test('it turns out to be listening', () => {
    const client = said({ listen: true });
    const from = client.types().indexOf('response.created');
    expect(client.types().slice(from)).toEqual([
      'response.created',
      'response.listen',
      'response.done',
      'rate_limits.updated',
    ]);
    expect(client.of('response.listen')[0]?.response_id).toBe(client.response());
  });

  test('it comes late, without response.speak, or without sound', () => {
    const late = said({ delay_ms: 4000, ttft_ms: 100, speak: false });
    expect(late.of('response.speak')).toEqual([]);
    const [created] = late.of('response.created');
    const [delta] = late.of('response.output_audio.delta');
    expect((delta?.atMs ?? 0) - (created?.atMs ?? 0)).toBeCloseTo(100, 6);
    const silent = said({ text: '', audio_s: 0 });
    expect(silent.of('response.output_audio.delta')).toEqual([]);
    expect(silent.of('response.done')).toHaveLength(1);
  });
});

describe('what a script can make wrong with a session', () => {
  const open = (session: object, limits = {}): { world: VirtualDuplex; client: VirtualClient } => {
    const world = new VirtualDuplex({ sessions: [session] }, limits);
    return { world, client: world.connect().open() };
  };

  test('it is refused', () => {
    expect(open({ refuse: { code: 'resource_exhausted' } }).client.sent[0]).toMatchObject({
      code: 'resource_exhausted',
      error: 'duplex_session_capacity_exhausted: limit=4',
    });
    expect(open({ refuse: { code: 'internal_error', message: 'No.' } }).client.sent[0]).toMatchObject({
      code: 'internal_error',
      error: 'No.',
    });
  });

  test('it is not answered', () => {
    const { world, client } = open({ silent: true });
    world.pass(120_000);
    expect(client.sent).toEqual([]);
  });

  test('nothing is decided, or not even committed', () => {
    const undecided = open({ listen_only: true, decision: false });
    undecided.client.stream(400);
    undecided.client.commit();
    undecided.world.pass(5000);
    expect(undecided.client.types()).toContain('input_audio_buffer.committed');
    expect(undecided.client.types()).not.toContain('response.listen');
    const uncommitted = open({ committed: false });
    uncommitted.client.stream(400);
    uncommitted.client.commit();
    expect(uncommitted.client.types()).not.toContain('input_audio_buffer.committed');
  });

  test.each([
    ['model_listen', { reason: 'model_listen', model_listen: true }],
    ['buffering', { reason: 'buffering', model_listen: true, buffering: true }],
    ['none', { reason: 'model_listen' }],
  ])('decisions to listen are marked %s', (mark, metadata) => {
    const { world, client } = open({ listen_only: true, listen_mark: mark });
    client.stream(1200);
    world.pass(100);
    const seen = inside(client.of('response.listen')[0], 'response', 'metadata');
    expect(seen).toMatchObject(metadata);
    if (mark === 'none') expect(seen).not.toHaveProperty('model_listen');
  });

  test('it expires, is closed, cleared, interrupted or cut off at a time', () => {
    const at = (action: object): VirtualClient => {
      const { world, client } = open({
        responses: [{ at_ms: 0, audio_s: 5, text: 'On and on.' }],
        actions: [{ at_ms: 2000, ...action }],
      });
      client.stream(1800);
      const before = client.sent.length;
      client.stream(200);
      expect(client.sent.length + Number(client.terminated)).toBeGreaterThan(before);
      world.settle();
      return client;
    };
    expect(at({ expire: 'idle_ttl_expired' }).types().slice(-2)).toEqual([
      'session.expired',
      'session.closed',
    ]);
    expect(at({ close: 'transport_error' }).sent.at(-1)).toMatchObject({
      type: 'session.closed',
      reason: 'transport_error',
    });
    expect(at({ clear_output: true }).types()).toContain('output_audio_buffer.cleared');
    expect(at({ barge_in: true }).of('response.done')[0]).toMatchObject({
      response: { status: 'cancelled' },
    });
    expect(at({ drop_socket: true }).terminated).toBe(true);
    expect(at({ event: { type: 'runtime.control', note: 'x' } }).sent.at(-1)).toMatchObject({
      type: 'runtime.control',
      note: 'x',
    });
  });

  test('something happens after a commit, later', () => {
    const { world, client } = open({
      listen_only: true,
      actions: [{ delay_ms: 700, error: { code: 'engine_error' } }],
    });
    client.stream(400);
    client.commit();
    world.pass(699);
    expect(client.errors()).toEqual([]);
    world.pass(1);
    expect(client.errors()).toEqual(['engine_error']);
  });

  test('its close is answered otherwise, or not at all', () => {
    const other = open({ close_reason: 'timeout' }).client;
    other.say({ type: 'session.close' });
    expect(other.sent.at(-1)).toMatchObject({ type: 'session.closed', reason: 'timeout' });
    const { world, client } = open({ close_reason: null }, { disconnectGraceS: 5 });
    client.say({ type: 'session.close' });
    expect(client.types()).not.toContain('session.closed');
    client.connection.close();
    world.pass(5000);
    expect(world.server.sessions).toBe(0);
  });

  test('it keeps its times to itself, or says that it can something else', () => {
    const client = said({}, { request_metrics: false, capabilities: { chunk_period_ms: 80 } });
    expect(JSON.stringify(client.sent)).not.toContain('response_request_metrics');
    expect(inside(client.sent[0], 'session', 'capabilities', 'chunk_period_ms')).toBe(80);
  });
});

describe('what --fault does to a session', () => {
  const faults = { factor: 1, engineDead: false, claimedRateHz: null };

  test('slow-stage, dead-replica and wrong-rate', () => {
    const spoken = (over: Partial<typeof faults> | { claimedRateHz: number }): VirtualClient => {
      const world = new VirtualDuplex({
        sessions: [{ responses: [{ at_ms: 0, text: 'Hi.', ttft_ms: 100 }] }],
      });
      const client = world.connect({ faults: { ...faults, ...over } }).open();
      client.stream(1200);
      world.pass(10_000);
      return client;
    };
    const slow = spoken({ factor: 4 });
    const [created] = slow.of('response.created');
    const [delta] = slow.of('response.output_audio.delta');
    expect((delta?.atMs ?? 0) - (created?.atMs ?? 0)).toBeCloseTo(400, 6);
    expect(spoken({ engineDead: true }).of('response.done')[0]).toMatchObject({
      response: { status: 'failed', status_details: { type: 'failed', reason: 'engine_error' } },
    });
    expect(spoken({ claimedRateHz: 8000 }).of('response.output_audio.delta')[0]?.sample_rate_hz).toBe(8000);
  });

  test('a refusal, and a late answer', () => {
    const world = new VirtualDuplex();
    const refused = world.connect({ refusal: new DuplexError('resource_exhausted', 'full') }).open();
    expect(refused.sent[0]).toMatchObject({ code: 'resource_exhausted', error: 'full' });
    const late = world.connect({ delayMs: 500 }).open();
    world.pass(499);
    expect(late.sent).toEqual([]);
    world.pass(1);
    expect(late.types()).toContain('session.created');
  });
});

describe('a script', () => {
  test('is dealt in the order in which sessions open, and over again', () => {
    const world = new VirtualDuplex({
      sessions: [
        { transcripts: ['first'] },
        { name: 'apart', transcripts: ['apart'] },
        { transcripts: ['second'] },
      ],
    });
    const transcriptOf = (over: Readonly<Record<string, unknown>> = {}): unknown => {
      const client = world.connect().open(over);
      client.stream(200);
      client.commit();
      const seen = client.of('conversation.item.input_audio_transcription.completed')[0]?.transcript;
      client.say({ type: 'session.close' });
      return seen;
    };
    expect(transcriptOf()).toBe('first');
    expect(transcriptOf({ extra_body: { duplex_script: 'apart' } })).toBe('apart');
    expect(transcriptOf()).toBe('second');
    expect(transcriptOf()).toBe('first');
  });

  test('of the documentation can be read, and its keys are all told', () => {
    const page = readFileSync(new URL('../../../docs/duplex-server.md', import.meta.url), 'utf8');
    const yaml = /```yaml\n(.*?)```/s.exec(page)?.[1] ?? '';
    const script = parseDuplexScript(parse(yaml), 'docs/duplex-server.md');
    expect(script.sessions.map(({ responses }) => responses?.length ?? 0)).toEqual([3, 0, 0]);
    for (const key of Object.keys(script.sessions[0] ?? {})) expect(page).toContain(`\`${key}`);
    for (const key of Object.keys(script.sessions[0]?.responses?.[0] ?? {}))
      expect(page).toContain(`\`${key}`);
    for (const fault of responseFaults) expect(page).toContain(`\`${fault}\``);
  });

  test('is YAML or JSON', () => {
    const folder = mkdtempSync(join(tmpdir(), 'omnimeter-duplex-'));
    try {
      const yaml = join(folder, 'script.yaml');
      writeFileSync(
        yaml,
        'calibration: rtd_ocr\nsessions:\n  - responses:\n      - { at_ms: 2000, text: Hello. }\n',
      );
      const json = join(folder, 'script.json');
      writeFileSync(
        json,
        JSON.stringify({
          calibration: 'rtd_ocr',
          sessions: [{ responses: [{ at_ms: 2000, text: 'Hello.' }] }],
        }),
      );
      expect(readDuplexScript(yaml)).toEqual(readDuplexScript(json));
      expect(() => readDuplexScript(join(folder, 'none.yaml'))).toThrow(InputFileError);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test.each([
    [{ sesions: [] }, /sesions/],
    [{ sessions: [{ responses: [{ at: 5 }] }] }, /sessions\.0\.responses\.0: .*"at"/],
    [{ sessions: [{ responses: [{ fault: 'odd' }] }] }, /sessions\.0\.responses\.0\.fault/],
    [{ sessions: [{ actions: [{ error: { code: 'odd' } }] }] }, /sessions\.0\.actions\.0\.error\.code/],
    [{ calibration: 'mine' }, /calibration/],
  ])('%j is refused with its place', (script, message) => {
    expect(() => parseDuplexScript(script, 'x.yaml')).toThrow(message);
    expect(() => parseDuplexScript(script, 'x.yaml')).toThrow(/^x\.yaml: /);
  });
});
