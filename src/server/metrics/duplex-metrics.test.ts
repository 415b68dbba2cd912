import { describe, expect, test } from 'vitest';
import { type VirtualClient, VirtualDuplex } from '../duplex/virtual-duplex.suite.ts';
import { ServerMetrics } from './server-metrics.ts';

const model = 'model_name="omni"';
const text = `${model},stage="0",replica="0"`;
const sound = `${model},stage="2",replica="0"`;

const idleStats = {
  requests: 0,
  stages: [],
  transfers: [],
  payloadsInFlight: 0,
  connector: { name: 'in-process', status: 'up' as const, payloads: 0, heldBytes: 0 },
};

/** Conversations on a clock that jumps, and what is said of them. */
class WatchedDuplex {
  readonly lines: string[] = [];
  readonly metrics: ServerMetrics;
  readonly world: VirtualDuplex;

  constructor(script: unknown, given: { readonly enabled?: boolean; readonly maxSessions?: number } = {}) {
    this.metrics = new ServerMetrics({
      modelName: 'omni',
      enabled: given.enabled ?? true,
      stats: () => idleStats,
      nowMs: () => 0,
      duplex: {
        load: () => this.world.server.load(),
        nowMs: () => this.world.scheduler.nowMs(),
        textStageId: 0,
        audioStageId: 2,
      },
    });
    const { duplex } = this.metrics;
    if (duplex === null) throw new Error('a deployment in full duplex has metrics of it');
    this.world = new VirtualDuplex(
      script,
      given.maxSessions === undefined ? {} : { maxSessions: given.maxSessions },
      { decides: true },
      { observer: duplex, logLine: (line) => this.lines.push(line) },
    );
  }

  /** Value of a sample; `undefined` = there is none. */
  value(name: string, labels = model): number | undefined {
    const start = `vllm_omni:${name}{${labels}} `;
    const line = this.metrics
      .render()
      .replaceAll('vllm:', 'vllm_omni:vllm_')
      .split('\n')
      .find((each) => each.startsWith(start));
    return line === undefined ? undefined : Number(line.slice(start.length));
  }

  open(over: Readonly<Record<string, unknown>> = {}): VirtualClient {
    return this.world.connect().open(over);
  }
}

/** Two responses: one of 1.5 s that is heard to its end, and one of 4 s. */
const twoResponses = {
  sessions: [
    {
      responses: [
        { at_ms: 2000, text: 'one two three four', audio_s: 1.5, ttft_ms: 500, rtf: 1 },
        { at_ms: 5000, text: 'five six seven eight', audio_s: 4, ttft_ms: 500, rtf: 1 },
      ],
    },
  ],
};

describe('a conversation in the metrics', () => {
  test('of its present state', () => {
    const watched = new WatchedDuplex(twoResponses);
    expect(watched.value('num_duplex_sessions_attached')).toBe(0);
    expect(watched.value('duplex_max_sessions')).toBe(4);
    const client = watched.open();
    watched.open();
    client.stream(2400);
    expect(watched.value('num_requests_running')).toBe(2);
    expect(watched.value('num_requests_waiting')).toBe(0);
    expect(watched.value('num_duplex_sessions_attached')).toBe(2);
    expect(watched.value('num_duplex_sessions_detached')).toBe(0);
    expect(watched.value('num_duplex_responses_running')).toBe(1);
    client.close(1006, 'gone');
    expect(watched.value('num_duplex_sessions_attached')).toBe(1);
    expect(watched.value('num_duplex_sessions_detached')).toBe(1);
    // It keeps its seat until its lease is over.
    expect(watched.value('num_requests_running')).toBe(2);
    watched.world.pass(30_001);
    expect(watched.value('num_duplex_sessions_detached')).toBe(0);
    expect(watched.value('num_requests_running')).toBe(1);
    expect(watched.value('duplex_sessions_ended_total', `${model},finished_reason="disconnect"`)).toBe(1);
    expect(watched.value('requests_success_total', `${model},finished_reason="abort"`)).toBe(1);
    // One that was lost says nothing of how long conversations take.
    expect(watched.value('e2e_request_latency_s_count')).toBeUndefined();
  });

  test('of what it did', () => {
    const watched = new WatchedDuplex(twoResponses);
    const client = watched.open();
    client.stream(6000);
    client.commit({ response_create: false });
    client.say({ type: 'barge_in' });
    client.say({ type: 'session.close' });

    expect(watched.value('duplex_sessions_opened_total')).toBe(1);
    expect(watched.value('duplex_sessions_ended_total', `${model},finished_reason="client_close"`)).toBe(1);
    expect(watched.value('requests_success_total', `${model},finished_reason="stop"`)).toBe(1);
    expect(watched.value('e2e_request_latency_s_sum')).toBeCloseTo(6, 6);
    expect(watched.value('duplex_input_audio_s_total')).toBeCloseTo(6, 6);
    expect(watched.value('duplex_turns_committed_total')).toBe(1);

    // Units close at 1030, 2030 … 5030 ms. The first response is said from 2200 to 3700 ms, when the sound up to the
    // end of its unit has come; the second from 5200 ms until it is interrupted.
    expect(watched.value('duplex_units_total')).toBe(5);
    const decided = (decision: string): number | undefined =>
      watched.value('duplex_decisions_total', `${model},trigger="unit",decision="${decision}"`);
    expect([decided('listen'), decided('speak'), decided('speak_on')]).toEqual([2, 2, 1]);
    expect(watched.value('duplex_responses_total', `${model},finished_reason="stop"`)).toBe(1);
    expect(watched.value('duplex_responses_total', `${model},finished_reason="barge_in"`)).toBe(1);
    expect(watched.value('duplex_epochs_total', `${model},reason="barge_in"`)).toBe(1);
  });

  test('of what it said, in the families that chats have too', () => {
    const watched = new WatchedDuplex(twoResponses);
    const client = watched.open();
    client.stream(6000);
    client.say({ type: 'barge_in' });
    // Two words, two words; and one word before the interruption.
    expect(watched.value('generation_tokens_total')).toBe(5);
    expect(watched.value('vllm_time_to_first_token_seconds_count', text)).toBe(2);
    expect(watched.value('vllm_time_to_first_token_seconds_sum', text)).toBeCloseTo(1, 6);
    expect(watched.value('vllm_inter_token_latency_seconds_count', text)).toBe(3);
    expect(watched.value('audio_ttfp_s_count', sound)).toBe(2);
    expect(watched.value('audio_ttfp_s_sum', sound)).toBeCloseTo(1, 6);
    expect(watched.value('audio_frames_total', sound)).toBe(1.5 * 24_000 + 24_000);
    expect(watched.value('audio_duration_s_sum', sound)).toBeCloseTo(2.5, 6);
    // 1.5 s in 1.5 s, and 1 s in 0.5 s.
    expect(watched.value('audio_rtf_sum', sound)).toBeCloseTo(1.5, 6);
    expect(watched.value('audio_underrun_s_sum', sound)).toBe(0);
    expect(watched.value('audio_continuity_ok_total', `${sound},threshold_ms="100"`)).toBe(2);
  });

  test('of responses without sound, and of those that end otherwise', () => {
    const watched = new WatchedDuplex({
      sessions: [
        {
          responses: [
            { at_ms: 1000, text: 'one two', ttft_ms: 100, tpot_ms: 10 },
            { at_ms: 2000, text: 'three', status: 'failed', ttft_ms: 100, tpot_ms: 10 },
            { at_ms: 3000, listen: true },
            { at_ms: 4000, text: 'a b c d e f g h', ttft_ms: 100, tpot_ms: 500 },
          ],
        },
      ],
    });
    const client = watched.open({ modalities: ['text'] });
    client.stream(5000);
    client.say({ type: 'response.cancel' });
    const ended = (reason: string): number | undefined =>
      watched.value('duplex_responses_total', `${model},finished_reason="${reason}"`);
    // One that turns out to be listening is a response to the client, too.
    expect([ended('stop'), ended('error'), ended('cancel')]).toEqual([2, 1, 1]);
    expect(watched.value('duplex_epochs_total', `${model},reason="client_cancelled"`)).toBe(1);
    expect(watched.value('audio_skipped_requests_total', `${sound},reason="no_audio_data"`)).toBeUndefined();
    expect(watched.value('audio_duration_s_count', sound)).toBeUndefined();
  });

  test('of sessions and chats that are not let in', () => {
    const watched = new WatchedDuplex({}, { maxSessions: 2 });
    const refused = (kind: string, reason: string): number | undefined =>
      watched.value('duplex_refused_total', `${model},kind="${kind}",reason="${reason}"`);
    watched.open({ ref_audio: undefined });
    expect(refused('session', 'ref_audio_required')).toBe(1);
    watched.open();
    const leave = watched.world.server.admitChat();
    expect(watched.value('num_duplex_chats')).toBe(1);
    watched.open();
    expect(refused('session', 'resource_exhausted')).toBe(1);
    expect(() => watched.world.server.admitChat()).toThrow(/duplex_session_capacity_exhausted: limit=2/);
    expect(refused('chat', 'resource_exhausted')).toBe(1);
    leave();
    leave();
    expect(watched.value('num_duplex_chats')).toBe(0);
    watched.open();
    expect(watched.value('num_duplex_sessions_attached')).toBe(2);
    expect(watched.value('duplex_sessions_opened_total')).toBe(2);
    const stranger = watched.world.connect();
    stranger.say({ type: 'session.resume', session_id: 'duplex-x', resume_token: 'y' });
    expect(refused('session', 'unknown_session')).toBe(1);
    expect(watched.value('duplex_sessions_resumed_total')).toBeUndefined();
  });

  test('of a session that is resumed', () => {
    const watched = new WatchedDuplex({});
    const first = watched.open();
    const [created] = first.of('session.created');
    const session = Object(created?.session);
    first.close(1006, 'gone');
    const second = watched.world.connect();
    second.say({
      type: 'session.resume',
      session_id: session.id,
      resume_token: created?.resume_token,
    });
    expect(watched.value('duplex_sessions_resumed_total')).toBe(1);
    expect(watched.value('duplex_sessions_opened_total')).toBe(1);
    expect(watched.value('num_duplex_sessions_attached')).toBe(1);
  });

  test('of pictures, and of events that are too many', () => {
    const watched = new WatchedDuplex({});
    const client = watched.open();
    const picture = Buffer.from([0xff, 0xd8, 0xff, 0xe0]).toString('base64');
    client.stream(400, { fields: { video_frames: [picture, picture] } });
    expect(watched.value('duplex_input_frames_total')).toBe(4);
    // 1,024 wait; nothing is applied until the clock's next turn.
    const heartbeat = Buffer.from('{"type":"session.heartbeat"}');
    for (let count = 0; count < 1030; count += 1) client.connection.receive(heartbeat);
    expect(watched.value('duplex_events_dropped_total')).toBe(6);
  });

  test('not at all where nobody asked, nor of a deployment that answers in turns', () => {
    const silent = new WatchedDuplex(twoResponses, { enabled: false });
    const client = silent.open();
    client.stream(6000);
    client.say({ type: 'session.close' });
    const page = silent.metrics.render();
    expect(page).toContain('# TYPE vllm_omni:duplex_units_total counter');
    expect(page.split('\n').filter((line) => line !== '' && !line.startsWith('#'))).toEqual([]);
    const turns = new ServerMetrics({
      modelName: 'omni',
      enabled: true,
      stats: () => idleStats,
      nowMs: () => 0,
      duplex: null,
    });
    expect(turns.duplex).toBeNull();
    expect(turns.render()).not.toMatch(/:(num_)?duplex/);
  });
});

describe('the lines of a conversation', () => {
  test('are one for each response, with its reason, and one for the session', () => {
    const { world, lines } = new WatchedDuplex(twoResponses);
    const client = world.connect().open();
    client.stream(6000);
    client.say({ type: 'session.close' });
    const session = String(Object(client.of('session.created')[0]?.session).id);
    expect(lines).toEqual([
      `[OmniTiming] req=${client.response(0)} session=${session} turn=0 epoch=0 total=1.500s ttft=0.500s ttfp=0.500s ` +
        'tokens=4 audio=1.500s rtf=1.000 reason=stop',
      `[OmniTiming] req=${client.response(1)} session=${session} turn=0 epoch=0 total=0.800s ttft=0.500s ttfp=0.500s ` +
        'tokens=1 audio=1.000s rtf=0.500 reason=close',
      `[OmniTiming] req=${session} total=6.000s input=6.000s units=5 turns=0 responses=2 epochs=0 reason=client_close`,
    ]);
  });

  test('say so where the session was lost, and what there was not', () => {
    const { world, lines } = new WatchedDuplex({
      sessions: [{ responses: [{ at_ms: 1000, text: 'late', audio_s: 1, ttft_ms: 60_000 }] }],
    });
    const client = world.connect().open();
    client.stream(1200);
    client.close(1006, 'gone');
    world.pass(30_001);
    expect(lines[0]).toMatch(/ total=30\.\d+s ttft=- ttfp=- tokens=0 audio=0\.000s rtf=- reason=abort$/);
    expect(lines[1]).toMatch(/ units=1 turns=0 responses=1 epochs=0 reason=disconnect$/);
  });
});
