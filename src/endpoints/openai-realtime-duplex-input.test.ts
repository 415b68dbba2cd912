import { describe, expect, it } from 'vitest';
import { created, done, politeServer, preparedLive, VirtualServer } from './duplex/virtual-session.suite.ts';
import { eventsJson, hold, kindOf, messageOf, politeEnd, speaking } from './openai-realtime-duplex.suite.ts';
import { openaiRealtimeDuplex } from './openai-realtime-duplex.ts';

/** What a live session sends: its opening, its sound and its pictures. */

const { prepare } = openaiRealtimeDuplex;

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
