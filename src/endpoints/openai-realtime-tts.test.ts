import { describe, expect, it } from 'vitest';
import type { Sample } from '../workloads/sample.ts';
import { observeSpeech } from './duplex/observe-speech.ts';
import {
  audioDelta,
  created,
  done,
  politeServer,
  textDelta,
  VirtualServer,
} from './duplex/virtual-session.suite.ts';
import { exampleSample, exampleTarget } from './endpoint.suite.ts';
import type { Endpoint, Observation } from './endpoint.ts';
import { openaiRealtimeDuplex } from './openai-realtime-duplex.ts';
import { openaiRealtimeTts } from './openai-realtime-tts.ts';

const url = 'http://127.0.0.1:8000/v1/realtime';

function speak(
  endpoint: Endpoint,
  server: VirtualServer,
  extraBody: Readonly<Record<string, unknown>> = {},
  sample: Partial<Sample> = {},
): Promise<Observation> {
  const prepared = endpoint.prepare({ ...exampleSample, ...sample }, exampleTarget(url, { extraBody }));
  return server.observe(({ transport, stop, clock }) =>
    observeSpeech(prepared, { transport, stop, timeoutMs: 0 }, clock),
  );
}

const messageOf = (seen: Observation) => (seen.outcome.ok ? null : seen.outcome.message);

/** Says half a second, 100 ms after it is asked to. */
function answer(server: VirtualServer, id = 'r1', delayMs = 0): void {
  server.emit(created(id), delayMs + 50);
  server.emit(audioDelta(id, 6000), delayMs + 100);
  server.emit(textDelta(id, 'Say hé'), delayMs + 120);
  server.emit(audioDelta(id, 6000), delayMs + 200);
  server.emit(
    done(id, 'completed', { metadata: { stage_metrics: { '0': { num_tokens_out: 4, vllm_tpot_ms: 9 } } } }),
    delayMs + 210,
  );
}

/** A mono WAV of 16-bit silence by the textbook layout, as a data URL. */
function wavUrl(samples: number, rateHz: number): string {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + samples * 2, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rateHz, 24);
  head.writeUInt32LE(rateHz * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(samples * 2, 40);
  return `data:audio/wav;base64,${Buffer.concat([head, Buffer.alloc(samples * 2)]).toString('base64')}`;
}

describe('an utterance of a full-duplex model', () => {
  const native = (appends = 1, id?: string) => {
    const server = politeServer();
    let heard = 0;
    return server.on('input_audio_buffer.append', () => {
      heard += 1;
      if (heard === appends) answer(server, id);
    });
  };

  it('is spoken over silence, and timed from the first of it', async () => {
    const server = native(3);
    const seen = await speak(openaiRealtimeDuplex, server, { ref_audio: 'data:audio/wav;base64,UklGRg==' });
    expect(seen.outcome).toEqual({ ok: true });
    expect(seen).toMatchObject({
      text: 'Say hé',
      outputTokens: 4,
      audio: { durationS: 0.5, frames: 12_000, bytes: 24_000 },
    });
    // It was asked at 400 ms: the third append.
    expect(seen.duplex?.requestRows[0]?.timings).toMatchObject({
      source: 'client_monotonic_receive',
      origins: { ttfp: 'first silence append send to first audio packet' },
      ttftMs: 520,
      ttfpMs: 500,
      audioGenerationMs: 600,
      rtf: 1.2,
    });
    expect(seen.duplex?.metrics.ttfpMs).toEqual({ count: 1, mean: 500, p50: 500, p99: 500 });
    const appends = server.sentOf('input_audio_buffer.append');
    // The response was done at 610 ms; nothing is said after that.
    expect(appends).toHaveLength(4);
    expect(appends[0]?.event).toMatchObject({ is_speech: false, sample_rate_hz: 16_000, duration_ms: 200 });
    expect(server.sentOf('playback.ack').at(-1)?.event).toMatchObject({ played_ms: 500, response_id: 'r1' });
    expect(server.sentOf('session.update')[0]?.event.session).toMatchObject({
      ref_audio: 'data:audio/wav;base64,UklGRg==',
      overlap_policy: 'listen_only',
      playback_commit_policy: 'ack_only',
      extra_body: {
        auto_response: true,
        return_stage_metrics: true,
        duplex_initial_user_text: 'Say hé',
        force_listen_count: 0,
      },
    });
  });

  it.each([
    ['cancelled', 'response.done reports cancellation for r1: not all was said'],
    ['failed', 'response.done reports failure for r1'],
  ])('that ends as %s is no utterance', async (status, message) => {
    const server = politeServer();
    server.on('input_audio_buffer.append', ({ audio_end_ms }) => {
      if (audio_end_ms !== 200) return;
      server.emit(created('r1'), 50);
      server.emit(audioDelta('r1', 6000), 100);
      server.emit(done('r1', status), 110);
    });
    expect(messageOf(await speak(openaiRealtimeDuplex, server))).toBe(message);
  });

  it('that was cut off by a limit, or whose figures no server can mean, is told', async () => {
    const server = politeServer();
    server.on('input_audio_buffer.append', ({ audio_end_ms }) => {
      if (audio_end_ms !== 200) return;
      const stage_metrics = { '0': { num_tokens_out: 1e308, vllm_tpot_ms: 1e308 } };
      server.emit(created('r1'), 50);
      server.emit(audioDelta('r1', 6000), 100);
      server.emit(done('r1', 'incomplete', { metadata: { stage_metrics } }), 110);
    });
    const seen = await speak(openaiRealtimeDuplex, server);
    expect(seen).toMatchObject({ outcome: { ok: true }, outputTokens: null });
    expect(seen.duplex?.warnings).toEqual([
      'response.done with status incomplete, its response was cut off: "r1"',
      "the server's figures that it cannot mean count as not sent: num_tokens_out of stage 0 1e+308 (the first of 2)",
    ]);
  });

  it('ends its request with the response, not with the session', async () => {
    const server = native(1).off('session.close');
    server.on('session.close', () => server.emit({ type: 'session.closed' }, 5000));
    const seen = await speak(openaiRealtimeDuplex, server);
    const [attempt] = seen.attempts;
    // 6 ms of handshake and 210 ms of response.
    expect((attempt?.endMs ?? 0) - (attempt?.sendMs ?? 0)).toBe(216);
    expect(seen.duplex?.latencyS).toBeCloseTo(0.216, 6);
  });

  it('warns where it was slow, and of responses that nobody asked for', async () => {
    const server = native(70);
    server.on('session.close', () => {});
    const slow = await speak(openaiRealtimeDuplex, server);
    expect(slow.outcome).toEqual({ ok: true });
    expect(slow.duplex?.warnings).toEqual(['the response took more than 12 s of silence before it was done']);
    const two = native(1);
    two.on('input_audio_buffer.append', ({ audio_end_ms }) => {
      if (audio_end_ms === 200) {
        two.emit(created('r2'), 60);
        two.emit(audioDelta('r2', 2400), 150);
      }
    });
    const seen = await speak(openaiRealtimeDuplex, two);
    expect(seen.outcome).toEqual({ ok: true });
    expect(seen.duplex).toMatchObject({
      audioBytes: 24_000,
      warnings: ['1 further responses with audio were not measured'],
    });
  });

  it('fails where the model listens on, or is silent', async () => {
    const mute = await speak(openaiRealtimeDuplex, politeServer());
    expect(messageOf(mute)).toBe('Timed out waiting for response.done');
    expect(mute.duplex?.latencyS).toBeCloseTo(210.006, 3);
    const server = politeServer();
    server.on('input_audio_buffer.append', ({ audio_end_ms }) => {
      if (audio_end_ms !== 200) return;
      server.emit(created('r1'), 10);
      server.emit(done('r1'), 20);
    });
    expect(messageOf(await speak(openaiRealtimeDuplex, server))).toBe(
      'the response is done and brought no audio',
    );
  });

  it('does not take a decision to listen for its answer', async () => {
    const server = native(4);
    server.on('input_audio_buffer.append', ({ audio_end_ms }) => {
      if (audio_end_ms !== 200) return;
      server.emit(created('r0'), 10);
      server.emit({ type: 'response.listen', response_id: 'r0', response: {} }, 11);
      server.emit(done('r0'), 12);
    });
    const seen = await speak(openaiRealtimeDuplex, server);
    expect(seen.outcome).toEqual({ ok: true });
    expect(seen.duplex?.requestRows).toMatchObject([{ requestIndex: 1, responseId: 'r1' }]);
  });

  it('comes again where the server has no room, with growing pauses', async () => {
    const server = native(1).off('session.update');
    const opened: number[] = [];
    server.on('session.update', () => {
      opened.push(server.clock.nowMs());
      if (opened.length < 6)
        server.emit({ type: 'error', error: { code: 'resource_exhausted', message: 'limit=4' } });
      else server.emit({ type: 'session.created', session: { id: 's', capabilities: {} } });
    });
    const seen = await speak(openaiRealtimeDuplex, server);
    expect(seen.outcome).toEqual({ ok: true });
    expect(seen.attempts).toHaveLength(6);
    expect(seen.attempts.slice(0, 5).every(({ error }) => error === 'resource_exhausted: limit=4')).toBe(
      true,
    );
    // Each try opens a millisecond after its pause.
    expect(opened.slice(1).map((at, i) => at - (opened[i] ?? 0))).toEqual([251, 501, 1001, 2001, 2001]);
  });

  it('gives up after two minutes without room, at once where the run stops', async () => {
    const full = () => {
      const server = new VirtualServer();
      return server.on('session.update', () =>
        server.emit({ type: 'error', error: { code: 'resource_exhausted', message: 'limit=4' } }),
      );
    };
    const seen = await speak(openaiRealtimeDuplex, full());
    expect(messageOf(seen)).toBe('resource_exhausted: limit=4');
    expect(seen.attempts.length).toBeGreaterThan(50);
    const stopped = full();
    stopped.clock.at(2000, () => stopped.stop.stop());
    expect((await speak(openaiRealtimeDuplex, stopped)).outcome).toMatchObject({
      ok: false,
      kind: 'aborted',
    });
  });
});

describe('an utterance in turns', () => {
  /** A realtime server without sessions: it creates one unasked and knows few events. */
  const plain = () => {
    const server = new VirtualServer();
    server
      .on('session.update', () => server.emit({ type: 'session.created', session: { id: 's' } }))
      .on('response.create', () => answer(server));
    return server;
  };

  it('is an item and a request, timed from the item', async () => {
    const server = plain();
    const seen = await speak(openaiRealtimeTts, server);
    expect(seen.outcome).toEqual({ ok: true });
    expect(server.sent.map(({ event }) => event.type)).toEqual([
      'session.update',
      'session.event_ack',
      'conversation.item.create',
      'response.create',
      ...Array.from({ length: 5 }, () => 'session.event_ack'),
    ]);
    expect(server.sentOf('conversation.item.create')[0]?.event.item).toEqual({
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: 'Say hé' }],
    });
    expect(seen.duplex?.requestRows[0]?.timings).toMatchObject({
      origins: { ttft: 'conversation.item.create send to first non-empty text delta' },
      ttftMs: 120,
      ttfpMs: 100,
      rtf: 0.4,
    });
    expect(server.request?.url).toBe('ws://127.0.0.1:8000/v1/realtime?model=served&autostart=0');
  });

  it('with reference speech is timed from its end', async () => {
    const server = politeServer().on('response.create', () => answer(server));
    const seen = await speak(openaiRealtimeTts, server, { ref_audio: wavUrl(7200, 16_000) });
    expect(seen.outcome).toEqual({ ok: true });
    const appends = server.sentOf('input_audio_buffer.append');
    const item = server.sentOf('conversation.item.create')[0]?.atMs ?? 0;
    // 450 ms of speech: two chunks of 200 ms and a rest, each sent when it has been said.
    expect(appends.map(({ atMs }) => atMs - item)).toEqual([200, 400, 450]);
    expect(appends.map(({ event }) => event.duration_ms)).toEqual([200, 200, 50]);
    expect(appends[0]?.event).toMatchObject({ sample_rate_hz: 24_000 });
    expect(server.sentOf('input_audio_buffer.commit')[0]).toMatchObject({
      atMs: item + 450,
      event: { final: true, response_create: false },
    });
    expect(server.sentOf('response.create')).toHaveLength(1);
    expect(seen.duplex?.requestRows[0]?.timings).toMatchObject({
      origins: { ttfp: 'end of reference speech to first audio packet' },
      ttfpMs: 100,
    });
  });

  it('can be left to the server’s ear', async () => {
    const server = politeServer();
    server.on('input_audio_buffer.append', ({ audio_end_ms }) => {
      if (audio_end_ms === 1200) answer(server);
    });
    const seen = await speak(openaiRealtimeTts, server, {
      ref_audio: wavUrl(4800, 24_000),
      realtime_trigger: 'vad',
    });
    expect(seen.outcome).toEqual({ ok: true });
    expect(server.sentOf('session.update')[0]?.event.session).toMatchObject({
      turn_detection: {
        type: 'server_vad',
        threshold: 0.5,
        prefix_padding_ms: 300,
        silence_duration_ms: 800,
      },
    });
    expect(server.sentOf('response.create')).toEqual([]);
    expect(server.sentOf('input_audio_buffer.commit')).toEqual([]);
    expect(server.sentOf('input_audio_buffer.append').at(-1)?.event.audio_end_ms).toBe(1700);
    // It answered 1.0 s after the speech had ended.
    expect(seen.duplex?.requestRows[0]?.timings?.ttfpMs).toBe(1100);
  });

  it('fails with more than one spoken response', async () => {
    const server = plain();
    server.on('response.create', () => {
      server.emit(created('r2'), 60);
      server.emit(audioDelta('r2', 240), 70);
    });
    expect(messageOf(await speak(openaiRealtimeTts, server))).toBe('expected one response with audio, got 2');
  });

  it('fails with an error of the server, and with time', async () => {
    const server = plain().off('response.create');
    server.on('response.create', () =>
      server.emit({ type: 'error', error: { code: 'text_only_turn_unsupported', message: 'no audio' } }),
    );
    expect(messageOf(await speak(openaiRealtimeTts, server))).toBe('text_only_turn_unsupported: no audio');
    expect(messageOf(await speak(openaiRealtimeTts, plain().off('response.create')))).toBe(
      'Timed out waiting for response.done',
    );
  });

  it.each([
    ['an unknown trigger', { realtime_trigger: 'x' }, {}, /realtime_trigger is "x"/],
    ['a trigger without speech', { realtime_trigger: 'vad' }, {}, /needs speech/],
    ['speech that is no WAV', { ref_audio: 'data:audio/wav;base64,AAAA' }, {}, /mono WAV/],
    ['an empty text', {}, { prompt: ' ' }, /empty one/],
    ['media', {}, { media: [{ type: 'image_url' }] }, /sends text only/],
    ['several prompts', {}, { prompt: ['a', 'b'] }, /one prompt a request/],
  ] as const)('refuses %s before anything is sent', (_, extraBody, sample, message) => {
    expect(() =>
      openaiRealtimeTts.prepare({ ...exampleSample, ...sample } as Sample, exampleTarget(url, { extraBody })),
    ).toThrow(message);
  });
});
