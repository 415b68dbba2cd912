import { describe, expect, it } from 'vitest';
import type { Observation } from '../endpoint.ts';
import { observeLive, openaiRealtimeDuplex } from '../openai-realtime-duplex.ts';
import {
  audioDelta,
  created,
  done,
  type Event,
  politeServer,
  preparedLive,
  textDelta,
  type VirtualServer,
} from './virtual-session.suite.ts';

/** Holds a session with a polite server that says these things after the second append. */
function hold(
  say: (server: VirtualServer) => void,
  { timeoutS = 30, server = politeServer() } = {},
): Promise<Observation> {
  let appends = 0;
  server.on('input_audio_buffer.append', () => {
    appends += 1;
    if (appends === 2) say(server);
  });
  const prepared = preparedLive(openaiRealtimeDuplex.prepare, { timeoutS });
  return server.observe(({ transport, stop, clock }) => observeLive(prepared, { transport, stop }, clock));
}

const messageOf = (seen: Observation) => (seen.outcome.ok ? null : seen.outcome.message);
const notesOf = (seen: Observation) => seen.duplex?.warnings;

/** One spoken response whose done carries these figures, as JSON text. */
const withFigures = (figures: string) => (server: VirtualServer) => {
  server.emit(created('r1'));
  server.emit(audioDelta('r1', 2400), 10);
  server.emit(textDelta('r1', 'Hi'), 20);
  server.clock.at(server.clock.nowMs() + 30, () =>
    server.raw(
      `{"type":"response.done","response_id":"r1","response":{"id":"r1","status":"completed"},${figures}}`,
    ),
  );
};

describe('a message that is no event', () => {
  it('is left out and told, with its beginning, once for all of a kind', async () => {
    const seen = await hold((server) => {
      server.binary(3);
      server.binary(4);
      server.raw(`{not json\n${'x'.repeat(500)}`);
      server.raw('[1]');
    });
    expect(seen.outcome).toEqual({ ok: true });
    expect(notesOf(seen)).toEqual([
      'ignored binary messages, which are no events: 3 bytes (the first of 2)',
      `ignored messages that are no JSON objects: "{not json\\n${'x'.repeat(110)}…" (the first of 2)`,
    ]);
  });

  it('is named where the session then waits for something in vain', async () => {
    const seen = await hold(
      (server) => {
        server.emit(created('r1'));
        server.clock.at(server.clock.nowMs() + 5, () =>
          server.raw('{"type":"response.done","response_id":"r1","x":nan}'),
        );
      },
      { timeoutS: 5 },
    );
    expect(messageOf(seen)).toBe(
      'Timed out waiting for committed input and stable responses; unfinished response_ids=[\'r1\']; ignored messages that are no JSON objects: "{\\"type\\":\\"response.done\\",\\"response_id\\":\\"r1\\",\\"x\\":nan}"',
    );
  });

  it('is named where nothing but such came at the handshake', async () => {
    const server = politeServer().off('session.update');
    server.on('session.update', () => server.binary(99));
    expect(messageOf(await hold(() => {}, { server }))).toBe(
      'Timed out waiting for session.created; ignored binary messages, which are no events: 99 bytes',
    );
  });

  it('says nothing where the failure has its own cause', async () => {
    const seen = await hold((server) => {
      server.raw('no json');
      server.emit({ type: 'error', error: { code: 'engine_error', message: 'it broke' } });
    });
    expect(messageOf(seen)).toBe('engine_error: it broke');
  });
});

describe('bare words of Python', () => {
  it('are no figures, and no reason to lose the event', async () => {
    const seen = await hold(
      withFigures(
        '"metadata":{"response_request_metrics":{"ttft_ms":NaN,"ttfp_ms":95},"stage_metrics":{"0":{"num_tokens_out":3,"vllm_ttft_ms":NaN}}}',
      ),
    );
    expect(seen.outcome).toEqual({ ok: true });
    expect(seen.outputTokens).toBe(3);
    // Text came 20 ms after the response was created.
    expect(seen.duplex?.requestRows[0]?.timings).toMatchObject({ ttftMs: 20, ttfpMs: 95 });
    expect(notesOf(seen)).toEqual([]);
  });
});

describe('numbers of events', () => {
  const numbered = (event: Event, seq: unknown) => JSON.stringify({ ...event, server_event_seq: seq });

  it('that do not ascend drop the event, which is told', async () => {
    const seen = await hold((server) => {
      server.emit(created('r1'));
      server.clock.at(server.clock.nowMs() + 5, () => {
        server.raw(numbered(audioDelta('r1', 2400), -1));
        server.raw(numbered(textDelta('r1', 'a'), 1));
      });
      server.emit(done('r1'), 10);
    });
    expect(seen.outcome).toEqual({ ok: true });
    // created and updated were 1 and 2, and the response 3.
    expect(notesOf(seen)).toEqual([
      'dropped events as repetitions, their server_event_seq is not above the last: "response.output_audio.delta" with -1 after 3 (the first of 2)',
    ]);
  });

  it('that are none are told, and the event counts without an acknowledgement', async () => {
    const server = politeServer();
    const seen = await hold(
      (it) => {
        it.emit(created('r1'));
        it.emit(audioDelta('r1', 2400), 1);
        it.clock.at(it.clock.nowMs() + 5, () => {
          it.raw(numbered(textDelta('r1', 'a'), 'x'));
          it.raw(numbered(textDelta('r1', 'b'), 1e20));
          it.raw(numbered(textDelta('r1', 'c'), null));
        });
        it.emit(done('r1'), 10);
      },
      { server },
    );
    expect(seen.text).toBe('abc');
    expect(notesOf(seen)).toEqual([
      'events whose server_event_seq is no whole number are not acknowledged: "x" (the first of 2)',
    ]);
    const acked = server.sentOf('session.event_ack').map(({ event }) => event.server_event_seq);
    expect(acked).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  it('that start over are named where a response then seems to come from nowhere', async () => {
    const seen = await hold((server) => {
      server.clock.at(server.clock.nowMs() + 5, () => {
        server.raw(numbered(created('r1'), 1));
        server.raw(numbered(done('r1'), 3));
      });
    });
    expect(messageOf(seen)).toBe(
      'response.done without response.created for r1; dropped events as repetitions, their server_event_seq is not above the last: "response.created" with 1 after 2',
    );
  });

  it('that went back are named where the response they belong to never ends', async () => {
    const seen = await hold(
      (server) => {
        server.emit(created('r1'));
        server.clock.at(server.clock.nowMs() + 5, () => server.raw(numbered(done('r1'), 2)));
      },
      { timeoutS: 5 },
    );
    expect(messageOf(seen)).toContain(
      'unfinished response_ids=[\'r1\']; dropped events as repetitions, their server_event_seq is not above the last: "response.done" with 2 after 3',
    );
  });
});

describe('events out of their order', () => {
  it('sound and text after the end of their response count, and are told', async () => {
    const seen = await hold((server) => {
      server.emit(created('r1'));
      server.emit(audioDelta('r1', 2400), 1);
      server.emit(textDelta('r1', 'a'), 2);
      server.emit(done('r1'), 3);
      server.emit(audioDelta('r1', 2400), 4);
      server.emit(audioDelta('r1', 2400), 5);
      server.emit(textDelta('r1', 'b'), 6);
    });
    expect(seen).toMatchObject({ outcome: { ok: true }, text: 'ab', audio: { frames: 7200 } });
    expect(notesOf(seen)).toEqual([
      'response.output_audio.delta after response.done of its response, counted as part of it: "r1" (the first of 2)',
      'response.output_audio_transcript.delta after response.done of its response, counted as part of it: "r1"',
    ]);
  });

  it('a second session.created changes nothing, and is told', async () => {
    const seen = await hold((server) => {
      server.emit({ type: 'session.created', session: { id: 'other' } });
    });
    expect(seen.outcome).toEqual({ ok: true });
    expect(seen.duplex?.serverSessionId).toBe('duplex-7');
    expect(notesOf(seen)).toEqual(['session.created came again, the first one counts: "other"']);
  });
});

describe('the end of a response', () => {
  const ends = (response: Record<string, unknown>, more: Record<string, unknown> = {}) =>
    hold((server) => {
      server.emit(created('r1'));
      server.emit({ type: 'response.done', response_id: 'r1', response, ...more }, 5);
    });

  it.each([
    ['a word that nobody knows', { status: 'weird' }, '"weird"'],
    ['a number', { status: 5 }, '5'],
    ['null', { status: null }, 'null'],
    ['no status', {}, 'null'],
  ])('with %s is taken as completed, and told', async (_, response, shown) => {
    const seen = await ends(response);
    expect(seen.outcome).toEqual({ ok: true });
    expect(notesOf(seen)).toEqual([
      `response.done without a known status, taken as completed: ${shown} of "r1"`,
    ]);
  });

  it('incomplete is no failure, and told', async () => {
    const seen = await ends({ status: 'incomplete', status_details: { reason: 'max_output_tokens' } });
    expect(seen.outcome).toEqual({ ok: true });
    expect(notesOf(seen)).toEqual(['response.done with status incomplete, its response was cut off: "r1"']);
  });

  it.each([
    ['completed', { status: 'completed' }, {}],
    ['cancelled', { status: 'cancelled' }, {}],
    ['cancelled by its details alone', { status_details: { type: 'cancelled' } }, {}],
    ['completed at the event itself', {}, { status: 'completed' }],
  ])('%s needs no remark', async (_, response, more) => {
    expect(notesOf(await ends(response, more))).toEqual([]);
  });
});

describe('figures that no server can mean', () => {
  const carrier = (value: string) =>
    `"metadata":{"audio_duration_ms":${value},"response_request_metrics":{"ttft_ms":${value},"ttfp_ms":${value}},` +
    `"stage_metrics":{"0":{"num_tokens_out":${value},"vllm_ttft_ms":${value},"vllm_tpot_ms":${value},"vllm_itls_ms":[${value},5],"stage_name":"thinker"},"1":{"gen_ms":${value}}}},"usage":{"n":1}`;

  it.each(['1e308', '1e999', '-1e308', 'Infinity', '1e15'])(
    '%s: count as not sent, and are told',
    async (value) => {
      const seen = await hold(withFigures(carrier(value)));
      expect(seen).toMatchObject({ outcome: { ok: true }, outputTokens: null, outputTokensSource: null });
      const [row] = seen.duplex?.requestRows ?? [];
      // As this client saw it: text 20 ms and sound 10 ms after the response was created.
      expect(row?.timings).toMatchObject({ source: 'client_monotonic_receive', ttftMs: 20, ttfpMs: 10 });
      expect(row?.stageZero).toEqual({ outputTokenCount: null, ttftMs: null, tpotMs: null, itlsMs: [] });
      expect(seen.responses[0]?.stages).toEqual({ '0': { stage_name: 'thinker' }, '1': {} });
      expect(notesOf(seen)).toEqual([
        expect.stringMatching(
          /^the server's figures that it cannot mean count as not sent: ttft_ms (-?1e\+(308|15)|1000000000000000|null) \(the first of 7\)$/,
        ),
      ]);
    },
  );

  it.each([
    ['-5', 6],
    ['"NaN"', 6],
    ['{}', 6],
    ['true', 6],
    ['null', 0],
  ])('%s: are no times and no counts', async (value, times) => {
    const seen = await hold(withFigures(carrier(value)));
    expect(seen).toMatchObject({ outcome: { ok: true }, outputTokens: null });
    expect(seen.duplex?.requestRows[0]).toMatchObject({
      timings: { ttftMs: 20, ttfpMs: 10 },
      stageZero: { outputTokenCount: null, ttftMs: null, tpotMs: null },
    });
    const note = "the server's figures that it cannot mean count as not sent: ttft_ms ";
    const notes = notesOf(seen) ?? [];
    expect(
      notes.filter((text) => text.startsWith(note) && text.endsWith(` (the first of ${times})`)),
    ).toHaveLength(times === 0 ? 0 : 1);
  });

  it('among the lengths of sound leave the bytes to tell it', async () => {
    const seen = await hold((server) => {
      server.emit(created('r1'));
      server.emit(audioDelta('r1', 2400, { metadata: { audio_duration_ms: 1e300 } }), 5);
      server.emit(done('r1'), 10);
    });
    expect(seen.duplex?.requestRows[0]?.timings?.audioDurationMs).toBe(100);
    expect(notesOf(seen)).toEqual([
      "the server's figures that it cannot mean count as not sent: audio_duration_ms 1e+300",
    ]);
  });

  it('nor are more stages kept than any pipeline has', async () => {
    const stages = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`s${i}`, { n: i }]));
    const seen = await hold(withFigures(`"metadata":{"stage_metrics":${JSON.stringify(stages)}}`));
    expect(Object.keys(seen.responses[0]?.stages ?? {})).toHaveLength(64);
  });
});

describe('a session of which nothing was sent', () => {
  it('has no lateness', async () => {
    const server = politeServer().off('session.update');
    server.on('session.update', () =>
      server.emit({ type: 'error', error: 'full', code: 'resource_exhausted' }),
    );
    const seen = await hold(() => {}, { server });
    expect(messageOf(seen)).toBe('resource_exhausted: full');
    expect(seen.duplex).toMatchObject({ inputAudioChunks: 0, pacingMeanLagMs: null, pacingMaxLagMs: null });
  });
});
