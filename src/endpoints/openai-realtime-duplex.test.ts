import { describe, expect, it } from 'vitest';
import type { LiveInput } from '../workloads/sample.ts';
import {
  audioDelta,
  created,
  done,
  type Event,
  listen,
  politeServer,
  preparedLive,
  textDelta,
  VirtualServer,
} from './duplex/virtual-session.suite.ts';
import type { Observation, Target } from './endpoint.ts';
import { observeLive, openaiRealtimeDuplex } from './openai-realtime-duplex.ts';

const { prepare } = openaiRealtimeDuplex;

function hold(
  server: VirtualServer,
  live: Partial<LiveInput> = {},
  target: Partial<Target> = {},
): Promise<Observation> {
  const prepared = preparedLive(prepare, live, target);
  return server.observe(({ transport, stop, clock }) => observeLive(prepared, { transport, stop }, clock));
}

/** A server that says these things after so many appends, and then is polite. */
function speaking(after: number, say: (server: VirtualServer) => void): VirtualServer {
  const server = politeServer();
  let appends = 0;
  return server.on('input_audio_buffer.append', () => {
    appends += 1;
    if (appends === after) say(server);
  });
}

const messageOf = (seen: Observation) => (seen.outcome.ok ? null : seen.outcome.message);
const kindOf = (seen: Observation) => (seen.outcome.ok ? null : seen.outcome.kind);
const eventsJson = (seen: Observation): Event[] =>
  JSON.parse(Buffer.from(seen.duplexArtifacts?.eventsJson ?? []).toString());

describe('a session that only listens', () => {
  it('succeeds, with silent artifacts as long as the recording', async () => {
    const server = politeServer();
    const seen = await hold(server);
    expect(seen.outcome).toEqual({ ok: true });
    expect(seen.duplex).toMatchObject({
      serverSessionId: 'duplex-7',
      inputAudioChunks: 10,
      inputVideoFrames: 2,
      pacingMeanLagMs: 0,
      pacingMaxLagMs: 0,
      responseCount: 0,
      audioBytes: 0,
      transcript: '',
      transcriptChunks: [],
      ineligibleReasons: [],
      warnings: [],
      requestRows: [],
      outputTokens: null,
    });
    expect(seen.duplex?.sessionId).toMatch(/^omniinteract:1q1a:bench-0:\d+$/);
    const wav = Buffer.from(seen.duplexArtifacts?.wav ?? []);
    // Two whole seconds of mono 16-bit sound at 24 kHz behind a header of 44 bytes.
    expect(wav.length).toBe(44 + 2 * 48_000);
    expect(wav.subarray(44).every((byte) => byte === 0)).toBe(true);
    expect(wav.toString('latin1', 0, 4) + wav.toString('latin1', 8, 16)).toBe('RIFFWAVEfmt ');
    expect([wav.readUInt32LE(24), wav.readUInt32LE(40)]).toEqual([24_000, 96_000]);
  });

  it('fails where a response is required', async () => {
    const seen = await hold(politeServer(), { requireResponse: true });
    expect(messageOf(seen)).toBe('OmniInteract E2E requires a response with audio and transcript');
    expect(seen.duplex?.ineligibleReasons).toEqual(['case_failed']);
    // The session came to its end, so its sound is as long as the recording.
    expect(seen.duplexArtifacts?.wav?.length).toBe(44 + 2 * 48_000);
    expect(eventsJson(seen)[0]?.type).toBe('session.created');
  });
});

describe('the input', () => {
  it('leaves in chunks of 200 ms at their times, less the sample that leaves a rest to commit', async () => {
    const server = politeServer();
    await hold(server);
    const appends = server.sentOf('input_audio_buffer.append');
    const first = appends[0]?.atMs ?? 0;
    expect(appends.map(({ atMs }) => atMs - first)).toEqual([
      0, 200, 400, 600, 800, 1000, 1200, 1400, 1600, 1800,
    ]);
    expect(appends.map(({ event }) => event.audio_end_ms)).toEqual([
      200, 400, 600, 800, 1000, 1200, 1400, 1600, 1800, 1999,
    ]);
    const last = appends.at(-1)?.event;
    expect(last?.duration_ms).toBe(199);
    expect(Buffer.from(String(last?.audio), 'base64')).toHaveLength(6398);
    const withFrames = appends.filter(({ event }) => 'video_frames' in event);
    expect(withFrames.map(({ event }) => event.audio_end_ms)).toEqual([600, 1600]);
    expect(withFrames.map(({ event }) => event.video_frames)).toEqual([
      [Buffer.from([0xff, 0xd8, 1]).toString('base64')],
      [Buffer.from([0xff, 0xd8, 2]).toString('base64')],
    ]);
    expect(Object.keys(appends[2]?.event ?? {})).toEqual([
      'type',
      'audio',
      'input_audio_format',
      'sample_rate_hz',
      'duration_ms',
      'audio_end_ms',
      'video_frames',
      'event_id',
    ]);
    const commits = server.sentOf('input_audio_buffer.commit');
    expect(commits).toHaveLength(1);
    expect(commits[0]?.atMs).toBe(first + 1999);
    expect(commits[0]?.event).toMatchObject({ final: true });
  });

  it('skips frames that could not be decoded', async () => {
    const server = politeServer();
    const seen = await hold(server, { frames: [null, Uint8Array.of(9)] });
    expect(seen.duplex?.inputVideoFrames).toBe(1);
    const carrier = server.sentOf('input_audio_buffer.append').filter(({ event }) => 'video_frames' in event);
    expect(carrier.map(({ event }) => event.audio_end_ms)).toEqual([1600]);
  });

  it('follows a server’s own unit', async () => {
    const server = new VirtualServer();
    server.on('session.update', () =>
      server.emit({ type: 'session.created', session: { capabilities: { chunk_period_ms: 3000 } } }),
    );
    politeEnd(server);
    await hold(server);
    expect(server.sentOf('input_audio_buffer.append').at(-1)?.event.audio_end_ms).toBe(2000);
  });

  it('opens with one session.update whose fields stand in order', async () => {
    const server = politeServer();
    await hold(server, {}, { extraBody: { force_listen_count: 2, return_stage_metrics: true } });
    const [update] = server.sentOf('session.update');
    expect(Object.keys(update?.event ?? {})).toEqual(['type', 'session', 'event_id']);
    expect(update?.event.event_id).toMatch(/^evt_[0-9a-f]{32}$/);
    expect(JSON.stringify(update?.event.session)).toBe(
      JSON.stringify({
        model: 'served',
        modalities: ['audio', 'text'],
        input_audio_format: 'pcm16',
        output_audio_format: 'pcm16',
        sample_rate_hz: 16000,
        audio: { input: { sample_rate_hz: 16000 }, output: { sample_rate_hz: 24000 } },
        turn_detection: null,
        ref_audio: 'data:audio/wav;base64,UklGRg==',
        overlap_policy: 'listen_only',
        playback_commit_policy: 'ack_only',
        idle_timeout_s: 900,
        extra_body: { auto_response: true, force_listen_count: 2, return_stage_metrics: true },
      }),
    );
    expect(server.request?.url).toBe('ws://127.0.0.1:8000/v1/realtime?duplex=1&model=served&autostart=0');
  });

  it('acknowledges every event once, in order, without an id', async () => {
    const server = politeServer();
    await hold(server);
    const acks = server.sentOf('session.event_ack').map(({ event }) => event);
    // created, updated, committed, listen; the session's end is not acknowledged.
    expect(acks).toEqual([1, 2, 3, 4].map((seq) => ({ type: 'session.event_ack', server_event_seq: seq })));
  });

  it('takes an event with an old number for a repetition', async () => {
    const server = speaking(1, (it) => {
      it.emit(created('r'));
      it.clock.at(it.clock.nowMs() + 1, () =>
        it.raw(JSON.stringify({ ...created('r'), server_event_seq: 1 })),
      );
      it.emit(done('r'), 5);
    });
    const seen = await hold(server);
    expect(seen.outcome).toEqual({ ok: true });
    expect(seen.duplex?.responseCount).toBe(1);
  });

  it('says how late it was where the network holds it up', async () => {
    const server = speaking(3, (it) => {
      it.bufferedBytes = 2 * 1024 * 1024;
      it.clock.at(it.clock.nowMs() + 350, () => {
        it.bufferedBytes = 0;
      });
    });
    const seen = await hold(server);
    // Append 3 left at 400 ms and the network woke at 750, which the 5 ms beat that began at 600 sees at once:
    // append 4 was due at 600, 5 at 800.
    expect(seen.duplex?.pacingMaxLagMs).toBe(150);
    expect(seen.duplex?.pacingMeanLagMs).toBe(15);
  });

  it('gives up where the network takes nothing', async () => {
    const server = speaking(1, (it) => {
      it.bufferedBytes = 2 * 1024 * 1024;
    });
    const seen = await hold(server, { timeoutS: 3 });
    expect(messageOf(seen)).toBe('Realtime upload timed out after 5s');
    expect(kindOf(seen)).toBe('timeout');
  });
});

describe('frames as items', () => {
  const itemServer = (fields: Record<string, unknown>) => {
    const server = politeServer().off('session.update');
    return server.on('session.update', () =>
      server.emit({ type: 'session.created', session: { capabilities: fields } }),
    );
  };

  it('stand before the append, eight alive at once', async () => {
    const server = itemServer({ optional_input_modalities: 'audio', supports_image_input: true });
    const frames = Array.from({ length: 10 }, (_, i) => Uint8Array.of(i));
    const seen = await hold(server, { pcm: new Uint8Array(320_000), frames, durationS: 10 });
    expect(seen.duplex?.inputVideoFrames).toBe(10);
    const items = server.sent
      .map(({ event }) => event)
      .filter(({ type }) => type.startsWith('conversation.'));
    expect(items.map(({ type, item, item_id }) => item_id ?? `${type} ${Object(item).id}`)).toEqual([
      ...Array.from({ length: 8 }, (_, i) => `conversation.item.create omniinteract_frame_${i}`),
      'omniinteract_frame_0',
      'conversation.item.create omniinteract_frame_8',
      'omniinteract_frame_1',
      'conversation.item.create omniinteract_frame_9',
    ]);
    expect(items[0]).toMatchObject({
      item: {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_image', image_url: 'data:image/jpeg;base64,AA==' }],
      },
    });
    const order = server.sent.map(({ event }) => event);
    const at = order.findIndex(({ type }) => type === 'conversation.item.create');
    expect(order[at + 1]).toMatchObject({ type: 'input_audio_buffer.append', audio_end_ms: 600 });
    expect(server.sentOf('input_audio_buffer.append').some(({ event }) => 'video_frames' in event)).toBe(
      false,
    );
  });

  it('are refused where the session takes neither', async () => {
    const seen = await hold(itemServer({ required_input_modalities: ['audio'] }));
    expect(messageOf(seen)).toBe(
      'The duplex session accepts neither video_frames on appends nor input_image items',
    );
  });

  it('ride on appends where the session names video', async () => {
    const server = itemServer({ required_input_modalities: ['audio'], optional_input_modalities: ['video'] });
    await hold(server);
    expect(server.sentOf('conversation.item.create')).toEqual([]);
  });
});

/** The end of a polite session, for servers with a beginning of their own. */
function politeEnd(server: VirtualServer): VirtualServer {
  return server
    .on('input_audio_buffer.commit', () => {
      server.emit({ type: 'input_audio_buffer.committed', event: {} }, 3);
      server.emit(listen(), 40);
    })
    .on('session.close', () => server.emit({ type: 'session.closed' }, 2));
}

describe('a spoken response', () => {
  const reply = (it: VirtualServer) => {
    it.emit(created('r1'), 10);
    it.emit(audioDelta('r1', 12_000, { metadata: { audio_duration_ms: 500 } }), 110);
    it.emit(textDelta('r1', 'Hello '), 130);
    it.emit(textDelta('r1', 'you. '), 140);
    it.emit(audioDelta('r1', 6000, { metadata: { audio_duration_ms: 750 } }), 150);
    it.emit(done('r1'), 160);
  };

  it('lies in the file where it was played, and in the transcript', async () => {
    const seen = await hold(speaking(1, reply), { requireResponse: true });
    expect(seen.outcome).toEqual({ ok: true });
    expect(seen.text).toBe('Hello you.');
    expect(seen.audio).toMatchObject({ bytes: 36_000, frames: 18_000, durationS: 0.75 });
    expect(seen.duplex).toMatchObject({
      responseCount: 1,
      audioBytes: 36_000,
      audioClippedBytes: 0,
      // The first sound came 110 ms after the stream began; the second was queued behind it.
      transcriptChunks: [{ responseId: 'r1', text: 'Hello you.', timestampS: [0.11, 0.86] }],
    });
    const wav = Buffer.from(seen.duplexArtifacts?.wav ?? []).subarray(44);
    const sounding = [...wav].flatMap((byte, at) => (byte === 1 ? [at] : []));
    expect([sounding[0], sounding.at(-1), sounding.length]).toEqual([110 * 48, 860 * 48 - 1, 36_000]);
  });

  it('has its timings from what was received', async () => {
    const seen = await hold(speaking(1, reply));
    expect(seen.duplex?.requestRows).toMatchObject([
      {
        requestIndex: 0,
        responseId: 'r1',
        timings: {
          source: 'client_monotonic_receive',
          ttftMs: 120,
          ttfpMs: 100,
          audioGenerationMs: 140,
          audioDurationMs: 750,
          rtf: 0.186667,
        },
      },
    ]);
    expect(seen.duplex?.metrics).toMatchObject({
      audioTurnCount: 1,
      ttftMs: { count: 1, mean: 120, p50: 120, p99: 120 },
      tpotMs: null,
      stream: { ttftMs: 130, ttfpMs: 110, audioGenerationMs: 150, audioDurationMs: 750, rtf: 0.2 },
    });
  });

  it('is acknowledged at once, every 200 ms, and when it was played', async () => {
    const server = speaking(1, reply);
    await hold(server);
    const acks = server.sentOf('playback.ack').map(({ event }) => event);
    expect(acks.map(({ played_ms }) => played_ms)).toEqual([90, 290, 490, 690, 750]);
    expect(Object.keys(acks[0] ?? {})).toEqual([
      'type',
      'played_ms',
      'committed_ms',
      'response_id',
      'item_id',
      'event_id',
    ]);
    expect(acks[0]).toMatchObject({ committed_ms: 90, response_id: 'r1', item_id: 'item_r1' });
  });

  it('reads the older spelling of events', async () => {
    const old = (it: VirtualServer) => {
      it.emit(created('r1'), 10);
      it.emit(audioDelta('r1', 2400, { type: 'response.audio.delta' }), 20);
      it.emit(textDelta('r1', 'Hi', 'response.audio_transcript.delta'), 20);
      it.emit(done('r1'), 30);
    };
    const seen = await hold(speaking(1, old), { requireResponse: true });
    expect(seen).toMatchObject({ outcome: { ok: true }, text: 'Hi', audio: { frames: 2400 } });
  });

  it('has its engine’s figures, wherever they ride', async () => {
    const carrier = (it: VirtualServer) => {
      it.emit(created('r1'), 10);
      it.emit(audioDelta('r1', 2400), 20);
      it.emit(textDelta('r1', 'Hi'), 20);
      it.emit(
        done('r1', 'completed', {
          metadata: {
            response_request_metrics: {
              ttft_ms: 81.5,
              ttfp_ms: 95,
              measurement_origin: { ttft: 'unit start' },
            },
            stage_metrics: {
              '0': { num_tokens_out: 3, vllm_ttft_ms: 70, vllm_tpot_ms: 15, vllm_itls_ms: [14, 16] },
              '1': { novel: true },
            },
          },
        }),
        30,
      );
    };
    const seen = await hold(speaking(1, carrier));
    expect(seen.outputTokens).toBe(3);
    expect(seen.outputTokensSource).toBe('stage');
    expect(seen.duplex?.requestRows[0]).toMatchObject({
      timings: {
        source: 'server_request_start_and_client_receive',
        origins: { ttft: 'unit start', tpot: 'Stage-0 engine mean time per output token' },
        ttftMs: 81.5,
        ttfpMs: 95,
        clientTtftMs: 10,
        clientTtfpMs: 10,
      },
      stageZero: { outputTokenCount: 3, ttftMs: 70, tpotMs: 15, itlsMs: [14, 16] },
      stages: { '1': { novel: true } },
    });
    expect(seen.responses[0]?.stages['0']).toMatchObject({ num_tokens_out: 3 });
  });

  it('is clipped at the end of the input, and not eligible then', async () => {
    const late = (it: VirtualServer) => {
      it.emit(created('r1'));
      it.emit(textDelta('r1', 'long'));
      it.emit(audioDelta('r1', 24_000));
      it.emit(done('r1'));
    };
    const seen = await hold(speaking(8, late));
    // It began at 1.4 s of 2 s: 0.4 s of it do not fit.
    expect(seen.duplex).toMatchObject({
      audioBytes: 48_000,
      audioClippedBytes: 19_200,
      ineligibleReasons: ['audio_clipped'],
      transcriptChunks: [{ timestampS: [1.4, 2] }],
    });
  });

  it('that begins after the end has no place in the transcript', async () => {
    const server = politeServer();
    server.on('input_audio_buffer.commit', () => {
      server.emit(created('r1'), 50);
      server.emit(textDelta('r1', 'late'), 51);
      server.emit(audioDelta('r1', 2400), 51);
      server.emit(done('r1'), 52);
    });
    const seen = await hold(server, { requireResponse: true });
    expect(messageOf(seen)).toBe('OmniInteract E2E requires a response with audio and transcript');
    expect(seen.duplex?.transcriptChunks).toEqual([]);
  });

  it('that was cancelled is kept and makes the case ineligible', async () => {
    const cut = (it: VirtualServer) => {
      it.emit(created('r1'));
      it.emit(audioDelta('r1', 2400));
      it.emit({
        type: 'response.done',
        response_id: 'r1',
        response: { status_details: { type: 'cancelled' } },
      });
    };
    const seen = await hold(speaking(1, cut));
    expect(seen.outcome).toEqual({ ok: true });
    expect(seen.duplex?.ineligibleReasons).toEqual(['cancelled_response']);
  });

  it('that was cleared plays up to that moment, and its later sound is dropped', async () => {
    const clear = (it: VirtualServer) => {
      it.emit(created('r1'));
      it.emit(audioDelta('r1', 24_000), 100);
      it.emit({ type: 'output_audio_buffer.cleared', response_id: 'r1' }, 350);
      it.emit(audioDelta('r1', 2400), 360);
      it.emit(done('r1', 'cancelled'), 370);
    };
    const seen = await hold(speaking(1, clear));
    expect(seen.duplex?.ineligibleReasons).toEqual(['cancelled_response', 'cleared_response']);
    const wav = Buffer.from(seen.duplexArtifacts?.wav ?? []).subarray(44);
    expect(wav.filter((byte) => byte === 1)).toHaveLength(250 * 48);
    const deltas = eventsJson(seen).filter(({ type }) => type === 'response.output_audio.delta');
    expect(deltas.map(({ audio_bytes }) => audio_bytes)).toEqual([48_000, 0]);
    expect(deltas.every((event) => !('delta' in event))).toBe(true);
  });

  it('stands in the event file as it came, after a copy of session.created', async () => {
    const seen = await hold(speaking(1, reply));
    const events = eventsJson(seen);
    expect(Object.keys(events[0] ?? {})).toEqual(['type', 'session', '_client_received_at_s']);
    expect(events.map(({ type }) => type)).toEqual([
      'session.created',
      'session.updated',
      'response.created',
      'response.output_audio.delta',
      'response.output_audio_transcript.delta',
      'response.output_audio_transcript.delta',
      'response.output_audio.delta',
      'response.done',
      'input_audio_buffer.committed',
      'response.listen',
      'session.closed',
    ]);
    // The session began at 1 s of virtual time, opened after 1 ms and was created 5 ms later.
    expect(events[0]?._client_received_at_s).toBe(1.006);
    const text = Buffer.from(seen.duplexArtifacts?.eventsJson ?? []).toString();
    expect(text).toBe(`${JSON.stringify(events, null, 2)}\n`);
  });

  it('of a lax server is read with a warning for each thing left out', async () => {
    const lax = (it: VirtualServer) => {
      it.emit(created('r1'));
      for (let i = 0; i < 3; i += 1)
        it.emit(audioDelta('r1', 2400, { format: undefined, sample_rate_hz: undefined }), i);
      it.emit(done('r1'), 5);
    };
    const seen = await hold(speaking(1, lax));
    expect(seen.duplex?.warnings).toEqual([
      'response.output_audio.delta omitted format; assumed pcm16',
      'response.output_audio.delta omitted sample_rate_hz; assumed 24000',
    ]);
    expect(seen.audio?.frames).toBe(7200);
  });
});

describe('a session fails', () => {
  const failing: readonly [string, Event[], string][] = [
    [
      'sound without a response',
      [{ ...audioDelta('', 10), response_id: null }],
      'response audio has no response_id',
    ],
    ['no payload', [created('r'), audioDelta('r', 1, { delta: null })], 'response audio payload is missing'],
    [
      'another format',
      [created('r'), audioDelta('r', 1, { format: 'g711_ulaw' })],
      'OmniInteract output must be pcm16',
    ],
    [
      'another rate',
      [created('r'), audioDelta('r', 1, { sample_rate_hz: 16_000 })],
      'OmniInteract output must use 24000 Hz audio',
    ],
    [
      'bad base64',
      [created('r'), audioDelta('r', 1, { delta: 'AB-_' })],
      'response audio is not valid base64',
    ],
    [
      'a payload of nothing but padding',
      [created('r'), audioDelta('r', 1, { delta: '='.repeat(2_000_000) })],
      'response audio is not valid base64',
    ],
    [
      'base64 without its padding',
      [created('r'), audioDelta('r', 1, { delta: 'AAA' })],
      'response audio is not valid base64',
    ],
    [
      'empty sound',
      [created('r'), audioDelta('r', 1, { delta: '' })],
      'response audio is empty or not PCM16 aligned',
    ],
    [
      'half a sample',
      [created('r'), audioDelta('r', 1, { delta: 'AAAA' })],
      'response audio is empty or not PCM16 aligned',
    ],
    ['created without id', [{ type: 'response.created' }], 'response.created has no response_id'],
    ['done without id', [{ type: 'response.done', response: {} }], 'response.done has no response_id'],
    ['created twice', [created('r'), created('r')], 'duplicate response.created for r'],
    ['done before created', [done('r')], 'response.done without response.created for r'],
    ['done twice', [created('r'), done('r'), done('r')], 'duplicate response.done for r'],
    ['a failed response', [created('r'), done('r', 'failed')], 'response.done reports failure for r'],
    [
      'a response that says so in its details',
      [created('r'), done('r', 'completed', { status_details: { type: 'failed' } })],
      'response.done reports failure for r',
    ],
    [
      'sound of a response that never was',
      [audioDelta('ghost', 10)],
      'response audio has no matching response.created',
    ],
    [
      'text of a response that never was',
      [textDelta('ghost', 'boo')],
      'response transcript has no matching response.created',
    ],
    [
      'an error',
      [{ type: 'error', error: { type: 'server_error', code: 'engine_error', message: 'it broke' } }],
      'engine_error: it broke',
    ],
    ['an error in the flat form', [{ type: 'error', error: 'gone', code: 'x' }], 'x: gone'],
    [
      'an expired session',
      [{ type: 'session.expired', session_id: 's', reason: 'idle_ttl_expired' }],
      'session.expired: idle_ttl_expired',
    ],
    ['a closed session', [{ type: 'session.closed', reason: 'timeout' }], 'session.closed: timeout'],
  ];

  it.each(failing)('by %s', async (_, events, message) => {
    const server = speaking(2, (it) => {
      for (const [at, event] of events.entries()) it.emit(event, at);
    });
    const seen = await hold(server);
    expect(messageOf(seen)).toBe(message);
    expect(seen.duplex?.ineligibleReasons).toEqual(['case_failed']);
    // All that came, with what ended it, and without the sound.
    const types = eventsJson(seen).map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(events.map(({ type }) => type)));
    expect(Buffer.from(seen.duplexArtifacts?.eventsJson ?? []).toString()).not.toMatch(/"delta": "[A=]/);
    expect(server.closedByClient).toBe(1);
    // The session's end is asked for also then, unless it has ended.
    const isOver = events.some(({ type }) => type.startsWith('session.'));
    expect(server.sentOf('session.close')).toHaveLength(isOver ? 0 : 1);
  });

  it('and keeps what was heard by then', async () => {
    const server = speaking(2, (it) => {
      it.emit(created('r1'), 0);
      it.emit(textDelta('r1', 'Hello'), 1);
      it.emit(audioDelta('r1', 6000), 10);
      it.emit({ type: 'error', error: { code: 'engine_error', message: 'it broke' } }, 20);
    });
    const seen = await hold(server);
    expect(messageOf(seen)).toBe('engine_error: it broke');
    expect(seen.duplex).toMatchObject({ transcript: 'Hello', audioBytes: 12_000, audioClippedBytes: 0 });
    const wav = Buffer.from(seen.duplexArtifacts?.wav ?? []);
    // One whole second and not the recording's two: the sound ends before it. 44 bytes of header, 24 kHz, 16 bits.
    expect([wav.length, wav.readUInt32LE(40)]).toEqual([44 + 48_000, 48_000]);
    expect([...wav.subarray(44)].filter((byte) => byte === 1)).toHaveLength(12_000);
    // Behind it, only the end that the client asked for.
    expect(eventsJson(seen).slice(-2)).toMatchObject([
      { type: 'error', error: { code: 'engine_error' } },
      { type: 'session.closed' },
    ]);
  });

  it('at its handshake, by an error', async () => {
    const server = politeServer().off('session.update');
    server.on('session.update', () =>
      server.emit({
        type: 'error',
        error: {
          type: 'rate_limit_error',
          code: 'resource_exhausted',
          message: 'duplex_session_capacity_exhausted: limit=4',
        },
      }),
    );
    const seen = await hold(server);
    expect(messageOf(seen)).toBe('resource_exhausted: duplex_session_capacity_exhausted: limit=4');
    expect(kindOf(seen)).toBe('stream_error');
    expect(seen.duplex).toMatchObject({ streamStartMs: null, inputAudioChunks: 0 });
    expect(server.sentOf('input_audio_buffer.append')).toEqual([]);
    expect(seen.duplexArtifacts?.wav).toBeNull();
    expect(eventsJson(seen)[0]).toMatchObject({ type: 'error', error: { code: 'resource_exhausted' } });
  });

  it('at its handshake, by silence', async () => {
    const server = politeServer().off('session.update').off('session.close');
    const seen = await hold(server);
    expect(messageOf(seen)).toBe('Timed out waiting for session.created');
    expect(kindOf(seen)).toBe('timeout');
    // 1 ms to open and 20 s of waiting.
    expect(seen.duplex?.latencyS).toBeCloseTo(20.001, 6);
  });

  it('where the commit is never confirmed', async () => {
    const server = politeServer().off('input_audio_buffer.commit');
    const seen = await hold(server, { timeoutS: 30 });
    expect(messageOf(seen)).toBe('Timed out waiting for committed input and stable responses');
  });

  it('where a response never ends, and says which', async () => {
    const server = speaking(1, (it) => it.emit(created('r9')));
    const seen = await hold(server, { timeoutS: 30 });
    expect(messageOf(seen)).toBe(
      "Timed out waiting for committed input and stable responses; unfinished response_ids=['r9']",
    );
  });

  it('where the model never decides: a beat of a filling buffer is no decision', async () => {
    const server = politeServer().off('input_audio_buffer.commit');
    server.on('input_audio_buffer.commit', () => {
      server.emit({ type: 'input_audio_buffer.committed', event: {} }, 3);
      server.emit(listen({ buffering: true }), 10);
      server.emit({ type: 'response.listen', response: { metadata: { reason: 'model_listen' } } }, 20);
      server.emit({ type: 'response.listen', response: {}, metadata: { model_listen: true } }, 30);
    });
    const seen = await hold(server, { timeoutS: 10 });
    expect(messageOf(seen)).toBe('Timed out waiting for committed input and stable responses');
  });

  it('by a response that begins while it closes', async () => {
    const server = politeServer().off('session.close');
    server.on('session.close', () => {
      server.emit(created('late'));
      server.emit({ type: 'session.closed', reason: 'client_close' }, 2);
    });
    expect(messageOf(await hold(server))).toBe("unfinished response_ids: ['late']");
  });

  it('by an end of another kind than the one it asked for', async () => {
    const server = politeServer().off('session.close');
    server.on('session.close', () => server.emit({ type: 'session.closed', reason: 'shutdown' }));
    expect(messageOf(await hold(server))).toBe('Unexpected session.closed: shutdown');
  });

  it('where its end is never confirmed', async () => {
    const seen = await hold(politeServer().off('session.close'));
    expect(messageOf(seen)).toBe('Timed out waiting for session.closed');
  });

  it('where the connection closes before its end', async () => {
    const server = speaking(2, (it) => it.end({ kind: 'closed', code: 1001, reason: 'going away' }));
    const seen = await hold(server);
    expect(messageOf(seen)).toBe(
      'Realtime session closed before the requested event arrived (close code 1001 going away)',
    );
    expect(kindOf(seen)).toBe('reset');
  });

  it('where the connection breaks', async () => {
    const server = speaking(2, (it) => it.end({ kind: 'reset', message: 'ECONNRESET' }));
    const seen = await hold(server);
    expect(messageOf(seen)).toBe('Realtime session failed: ECONNRESET');
  });

  it('where it is stopped, and still asks for its end', async () => {
    const server = speaking(2, (it) => it.stop.stop());
    const seen = await hold(server);
    expect(messageOf(seen)).toBe('Realtime event consumer was cancelled');
    expect(kindOf(seen)).toBe('aborted');
    expect(server.sentOf('session.close')).toHaveLength(1);
    expect(seen.duplex?.inputAudioChunks).toBe(2);
  });

  it('where it is stopped before it began', async () => {
    const server = politeServer();
    server.stop.stop();
    const seen = await hold(server);
    expect(kindOf(seen)).toBe('aborted');
    expect(seen.attempts).toEqual([]);
  });
});

describe('what does not end a session', () => {
  it.each(['playback_ack_too_late', 'playback_item_not_found'])('%s is a warning', async (code) => {
    const server = speaking(2, (it) => {
      it.emit({ type: 'error', error: { code, message: 'no' } });
      it.emit({ type: 'error', error: { code, message: 'no' } });
    });
    const seen = await hold(server);
    expect(seen.outcome).toEqual({ ok: true });
    expect(seen.duplex?.warnings).toEqual([`tolerated in-flight server rejection: ${code}`]);
  });

  it('garbage is counted and left out', async () => {
    const server = speaking(2, (it) => {
      for (const text of ['', 'null', '7', '[]', '{"type":', '"x"']) it.raw(text);
      it.raw('{}');
      it.raw('{"type":5,"response_id":{},"response":[],"metadata":7,"server_event_seq":"x"}');
      it.raw(`{"type":"response.listen","response":${'['.repeat(500)}${']'.repeat(500)}}`);
    });
    const seen = await hold(server);
    expect(seen.outcome).toEqual({ ok: true });
    expect(seen.duplex?.warnings).toEqual([
      'ignored messages that are no JSON objects: "" (the first of 6)',
      'events whose server_event_seq is no whole number are not acknowledged: "x"',
    ]);
  });

  it('a nesting too deep to write down is a failure, not a crash', async () => {
    const depth = 200_000;
    const server = speaking(2, (it) => it.raw(`{"type":"x","y":${'['.repeat(depth)}${']'.repeat(depth)}}`));
    const seen = await hold(server);
    expect(kindOf(seen)).toBe('malformed');
  });

  it('a commit made while a response was open waits for that response, and then for its own decision', async () => {
    const server = politeServer().off('input_audio_buffer.commit');
    server.on('input_audio_buffer.append', ({ audio_end_ms }) => {
      if (audio_end_ms === 1800) server.emit(created('r1'));
    });
    server.on('input_audio_buffer.commit', () => {
      server.emit({ type: 'input_audio_buffer.committed', event: { overlap_deferred: true } }, 3);
      server.emit(listen(), 100);
      server.emit(done('r1'), 5000);
      server.emit(listen(), 9000);
    });
    const seen = await hold(server);
    expect(seen.outcome).toEqual({ ok: true });
    const commit = server.sentOf('input_audio_buffer.commit')[0]?.atMs ?? 0;
    const close = server.sentOf('session.close')[0]?.atMs ?? 0;
    // Two seconds of silence after the decision at 9 s, seen at the next look of 50 ms.
    expect(close - commit).toBeGreaterThanOrEqual(11_000);
    expect(close - commit).toBeLessThanOrEqual(11_050);
  });

  it('a cancelled response decides nothing', async () => {
    const server = politeServer().off('input_audio_buffer.commit');
    server.on('input_audio_buffer.commit', () => {
      server.emit({ type: 'input_audio_buffer.committed', event: {} });
      server.emit(created('r1'), 10);
      server.emit(done('r1', 'cancelled'), 20);
      server.emit(created('r2'), 6000);
      server.emit(done('r2'), 6100);
    });
    const seen = await hold(server);
    expect(seen.outcome).toEqual({ ok: true });
    const commit = server.sentOf('input_audio_buffer.commit')[0]?.atMs ?? 0;
    expect((server.sentOf('session.close')[0]?.atMs ?? 0) - commit).toBeGreaterThanOrEqual(8100);
  });

  it('an error while it closes', async () => {
    const server = politeServer().off('session.close');
    server.on('session.close', () => {
      server.emit({ type: 'error', error: { code: 'session_closed', message: 'closed' } });
      server.emit({ type: 'session.closed' }, 2);
    });
    expect((await hold(server)).outcome).toEqual({ ok: true });
  });
});

describe('turns found by the server', () => {
  const vad = { extraBody: { turn_detection: 'server_vad' } };

  it('get 1.5 s of silence at the end, the whole recording, and no commit', async () => {
    const server = politeServer();
    const seen = await hold(server, {}, vad);
    expect(seen.outcome).toEqual({ ok: true });
    const appends = server.sentOf('input_audio_buffer.append');
    expect(appends).toHaveLength(18);
    expect(appends.at(-1)?.event).toMatchObject({ audio_end_ms: 3500, duration_ms: 100 });
    const tail = Buffer.from(String(appends[10]?.event.audio), 'base64');
    expect(tail.every((byte) => byte === 0)).toBe(true);
    expect(server.sentOf('input_audio_buffer.commit')).toEqual([]);
    const session = server.sentOf('session.update')[0]?.event.session;
    expect(session).toMatchObject({
      turn_detection: { type: 'server_vad' },
      extra_body: { auto_response: false },
    });
    expect(session).not.toHaveProperty('overlap_policy');
    expect(Object(session).extra_body).not.toHaveProperty('force_listen_count');
  });

  it('end with the last answer and two seconds of silence', async () => {
    const server = politeServer();
    server.on('input_audio_buffer.append', ({ audio_end_ms }) => {
      if (audio_end_ms !== 3000) return;
      server.emit({ type: 'input_audio_buffer.speech_started' });
      server.emit({ type: 'input_audio_buffer.speech_stopped' }, 3000);
      server.emit(created('r1'), 3010);
      server.emit(done('r1'), 4000);
    });
    const seen = await hold(server, {}, vad);
    expect(seen.outcome).toEqual({ ok: true });
    const started = server.sentOf('input_audio_buffer.append')[0]?.atMs ?? 0;
    const close = server.sentOf('session.close')[0]?.atMs ?? 0;
    // The append that ends at 3.0 s left at 2.8; the answer ended 4 s later.
    expect(close - started).toBeGreaterThanOrEqual(8800);
    expect(close - started).toBeLessThanOrEqual(8850);
  });

  it('that never end are a failure', async () => {
    const server = speaking(1, (it) => it.emit({ type: 'input_audio_buffer.speech_started' }));
    const seen = await hold(server, { timeoutS: 10 }, vad);
    expect(messageOf(seen)).toBe('Timed out waiting for server-detected turns to finish');
  });
});

describe('a request', () => {
  it.each([
    ['a scheme that is no web', {}, { url: 'ftp://x/v1/realtime' }, /Unsupported Realtime URL: 'ftp:/],
    ['an endless limit', { timeoutS: Number.NaN }, {}, /timeout_s must be finite and positive/],
    ['half a sample of sound', { pcm: new Uint8Array(3) }, {}, /whole 16-bit samples/],
    ['a detection that nobody knows', {}, { extraBody: { turn_detection: 'x' } }, /turn_detection/],
  ] as const)('with %s is refused', (_, live, target, message) => {
    expect(() => preparedLive(prepare, live, target)).toThrow(message);
  });
});
