import { describe, expect, it } from 'vitest';
import {
  audioDelta,
  created,
  done,
  type Event,
  listen,
  politeServer,
  textDelta,
} from './duplex/virtual-session.suite.ts';
import { eventsJson, hold, kindOf, messageOf, speaking } from './openai-realtime-duplex.suite.ts';

/** What ends a live session, and what does not. */

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
