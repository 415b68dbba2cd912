import { describe, expect, it } from 'vitest';
import {
  audioDelta,
  created,
  done,
  politeServer,
  textDelta,
  type VirtualServer,
} from './duplex/virtual-session.suite.ts';
import { eventsJson, hold, messageOf, speaking } from './openai-realtime-duplex.suite.ts';

/** What becomes of what a live session is told. */

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
