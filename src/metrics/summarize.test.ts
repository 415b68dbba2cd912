import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { eventKinds, eventLogOf } from '../records/event-log.ts';
import type { RequestRecord } from '../records/request-record.ts';
import { requestMetrics } from './catalogue.ts';
import {
  attemptOf,
  audioChunks,
  chunkGapFacts,
  omniFacts,
  requestOf,
  textChunks,
  wavFacts,
} from './metric-records.suite.ts';
import { requestRowOf, summarize } from './summarize.ts';

/** A text request by start, TTFT, gaps and latency in seconds. */
function timed(startS: number, ttftS: number, gaps: number, gapS: number, latencyS: number): RequestRecord {
  const times = Array.from({ length: gaps + 1 }, (_, i) => (startS + ttftS + i * gapS) * 1000);
  const last = { timeMs: (startS + latencyS) * 1000, kind: eventKinds.usage };
  return requestOf({ startMs: startS * 1000, events: [...textChunks(times), last] });
}

describe('peaks', () => {
  // The vector of the reference: tokens [9, 6, 4, 0], concurrency [2, 2, 1, 0].
  const records = [timed(0, 0.35, 9, 0.1, 1.25), timed(0.5, 0.2, 4, 0.25, 1.2), timed(2, 0.15, 3, 0.1, 0.45)];

  it('counts as the reference counts', () => {
    const { run } = summarize(records, omniFacts());
    expect(run.max_output_tokens_per_s).toBe(9);
    expect(run.max_concurrent_requests).toBe(2);
  });

  it('finds the busiest second wherever it begins', () => {
    // 0.35…1.25 s are ten tokens; five more fall at 0.7, 0.95, 1.2 within a second of the first: 13 in [0.35, 1.35).
    expect(summarize(records, omniFacts()).run.peak_output_tokens_per_s_exact).toBe(13);
  });

  it('shows 2 for two requests one after the other, and exactly 1', () => {
    const { run } = summarize([timed(0, 0.1, 2, 0.1, 0.5), timed(0.5, 0.1, 2, 0.1, 0.4)], omniFacts());
    expect(run.max_concurrent_requests).toBe(2);
    expect(run.max_concurrent_requests_exact).toBe(1);
  });

  it('weighs messages with their tokens', () => {
    const chunks = textChunks([100, 500], 3);
    const { run } = summarize([requestOf({ events: chunks }, { outputTokens: 6 })], chunkGapFacts());
    expect(run.max_output_tokens_per_s).toBe(2);
    expect(run.peak_output_tokens_per_s_exact).toBe(6);
  });

  it('counts failed requests among those in flight, and nowhere else', () => {
    const failed = requestOf(
      { endMs: 900, events: textChunks([100, 200]) },
      { outcome: { ok: false, kind: 'reset', status: 200, message: 'reset', body: null } },
    );
    const { run } = summarize([failed, timed(0.5, 0.1, 1, 0.1, 0.4)], omniFacts());
    expect(run).toMatchObject({
      completed: 1,
      failed: 1,
      max_concurrent_requests: 1,
      max_concurrent_requests_exact: 2,
      total_output_tokens: 2,
    });
  });
});

describe('tokens', () => {
  it('divides by tokens where chunks are fewer', () => {
    const record = requestOf(
      { events: [...textChunks([100, 140, 180], null), { timeMs: 900, kind: eventKinds.usage }] },
      { outputTokens: 5 },
    );
    const { distributions, requests } = summarize([record], chunkGapFacts());
    expect(distributions.tpot.mean).toBe(20);
    expect([...requests()].map(({ gapsMs }) => [...gapsMs])).toEqual([[40, 40]]);
    expect(distributions.e2el.mean).toBe(180);
    expect(distributions.itl_per_token.count).toBe(4);
    expect(distributions.itl_per_token.mean).toBe(20);
  });

  it('splits a gap over the tokens of its chunk', () => {
    // Cumulative usage 1, 4, 6.
    const events = [
      { timeMs: 50, kind: eventKinds.empty, tokens: null },
      ...textChunks([100], 1),
      ...textChunks([160], 3),
      ...textChunks([200], 2),
    ];
    const { distributions, requests } = summarize([requestOf({ events }, { outputTokens: 6 })], omniFacts());
    expect([...requests()].map(({ gapsMs }) => [...gapsMs])).toEqual([[20, 20, 20, 20, 20]]);
    expect(distributions.tpot.mean).toBe(20);
    expect(distributions.ttft.mean).toBe(100);
    expect(distributions.itl_per_token.count).toBe(0);
  });

  it('gives further tokens of the first chunk a gap of 0', () => {
    const events = [...textChunks([100], 3), ...textChunks([140], 2)];
    const { requests } = summarize([requestOf({ events }, { outputTokens: 5 })], omniFacts());
    expect([...requests()].map(({ gapsMs }) => [...gapsMs])).toEqual([[0, 0, 20, 20]]);
  });

  it('falls back to chunk gaps where an omni reply was not counted', () => {
    const record = requestOf({ events: textChunks([100, 130, 190], null) }, { outputTokens: 9 });
    expect(summarize([record], omniFacts()).distributions.itl).toMatchObject({ count: 2, mean: 45 });
  });

  it('does not believe counts that would fill the memory', () => {
    const events = [...textChunks([100], 2_000_000_000), ...textChunks([130], 1)];
    const { distributions, run } = summarize([requestOf({ events })], omniFacts());
    expect(distributions.itl.count).toBe(1);
    expect(run.peak_output_tokens_per_s_exact).toBe(0);
  });

  it('starts at the first message that brought a token', () => {
    const events = [
      { timeMs: 5, kind: eventKinds.empty, bytes: 0 },
      { timeMs: 214, kind: eventKinds.reasoning, bytes: 3 },
      { timeMs: 300, kind: eventKinds.tool, bytes: 3 },
      { timeMs: 350, kind: eventKinds.text, bytes: 3 },
      { timeMs: 360, kind: eventKinds.empty, bytes: 0 },
    ];
    const { distributions } = summarize([requestOf({ events })], chunkGapFacts());
    expect(distributions.ttft.mean).toBe(214);
    expect(distributions.itl).toMatchObject({ count: 2, mean: 68 });
    expect(distributions.time_to_first_content.mean).toBe(300);
    expect(distributions.e2el.mean).toBe(350);
  });

  it('measures no first token of a reply that was not streamed', () => {
    const record = requestOf(
      { events: [{ timeMs: 400, kind: eventKinds.whole, bytes: 20 }] },
      { outputTokens: 7 },
    );
    const { distributions, run } = summarize([record], omniFacts());
    expect([distributions.ttft.count, distributions.tpot.count, distributions.itl.count]).toEqual([0, 0, 0]);
    expect(distributions.e2el.mean).toBe(400);
    expect(run.total_output_tokens).toBe(7);
  });

  it.each([
    ['without a tokenizer as one', { hasTokenizer: false }, 1],
    ['with one by its chunks, as its output is no text', { hasTokenizer: true }, 2],
  ])('counts an uncounted reply %s', (_, facts, expected) => {
    const events = [
      { timeMs: 100, kind: eventKinds.tool, tokens: 1, bytes: 9 },
      { timeMs: 120, kind: eventKinds.tool, tokens: 1, bytes: 9 },
    ];
    expect(summarize([requestOf({ events })], omniFacts(facts)).run.total_output_tokens).toBe(expected);
  });

  it('counts no token in speech without text', () => {
    const record = requestOf({ events: audioChunks([[100, 2400]]) }, { audio: wavFacts(2400) });
    expect(summarize([record], omniFacts({ hasTokenizer: false })).run.total_output_tokens).toBe(0);
  });
});

describe('stage 0 fallback', () => {
  const allAtOnce = (stage: Record<string, unknown>): RequestRecord =>
    requestOf(
      { events: textChunks([100], 6) },
      {
        outputTokens: 6,
        responses: [
          {
            id: null,
            finishReason: null,
            usage: null,
            stages: { 0: stage },
            stageDurations: {},
            peakMemoryMb: null,
          },
        ],
      },
    );
  const tokensOf = (stage: Record<string, unknown>) => {
    const { distributions } = summarize([allAtOnce(stage)], omniFacts());
    return { tpot: distributions.tpot.mean, itls: distributions.itl.count };
  };

  it('takes the text stage’s own gaps', () => {
    expect(tokensOf({ num_tokens_out: 6, vllm_itls_ms: [10, 11, 12, 13, 14] })).toEqual({
      tpot: 12,
      itls: 5,
    });
  });

  it('takes its mean where the gaps are missing or don’t fit', () => {
    expect(tokensOf({ num_tokens_out: 6, vllm_itls_ms: [10], vllm_tpot_ms: 7 })).toEqual({
      tpot: 7,
      itls: 0,
    });
  });

  it.each([
    [{ num_tokens_out: 5, vllm_itls_ms: [10, 11, 12, 13] }],
    [{ num_tokens_out: true, vllm_tpot_ms: 7 }],
    [{ num_tokens_out: 6, vllm_itls_ms: [0, 0, 0, 0, 0] }],
    [{}],
  ])('leaves the reply unmeasured with %o', (stage) => {
    expect(tokensOf(stage)).toEqual({ tpot: null, itls: 0 });
  });
});

describe('audio', () => {
  it('models playback as in the reference’s vector', () => {
    // 24 kHz mono, arrivals 0.5, 1.2, 2.8 s, bytes 48000, 24000, 48000: late by 0.8 s once.
    const record = requestOf(
      {
        events: audioChunks([
          [500, 24_000],
          [1200, 12_000],
          [2800, 24_000],
        ]),
      },
      { audio: wavFacts(60_000) },
    );
    const { distributions, run } = summarize([record], omniFacts());
    expect(distributions.audio_underrun.mean).toBeCloseTo(0.8, 12);
    expect(run.audio_continuity_ok_rate).toBe(0);
    expect(summarize([record], omniFacts({ continuityThresholdS: 0.81 })).run.audio_continuity_ok_rate).toBe(
      1,
    );
  });

  it('ends the RTF of chat with the last audio, that of speech with the reply', () => {
    const record = requestOf(
      {
        endMs: 4000,
        events: [
          ...audioChunks([
            [500, 24_000],
            [1000, 24_000],
          ]),
          ...textChunks([3000]),
        ],
      },
      { audio: wavFacts(48_000) },
    );
    expect(summarize([record], omniFacts()).distributions.audio_rtf.mean).toBe(0.5);
    const endpoint = {
      name: 'openai-audio-speech',
      itl: 'chunk_gap',
      latencyEnd: 'body_end',
      output: 'speech',
    } as const;
    const speech = summarize([record], omniFacts({ endpoint }));
    expect(speech.distributions.audio_rtf.mean).toBe(2);
    expect(speech.distributions.audio_ttfp.mean).toBe(500);
  });

  it('knows no continuity of encoded audio, and no length of what it could not decode', () => {
    const record = requestOf(
      { events: [{ timeMs: 500, kind: eventKinds.audio, bytes: 900 }] },
      { audio: { ...wavFacts(0), sampleRateHz: null, frames: null, durationS: null, bytes: 900 } },
    );
    const { run, distributions, hasAudio } = summarize([record], omniFacts());
    expect(run).toMatchObject({ audio_continuity_ok_rate: null, total_audio_duration_s: null });
    expect(distributions.audio_rtf.count).toBe(0);
    expect(hasAudio).toBe(true);
  });

  it('leaves replies without audio out of every audio mean', () => {
    const speech = requestOf({ events: audioChunks([[500, 24_000]]) }, { audio: wavFacts(24_000) });
    const text = requestOf({ events: textChunks([100, 200]) }, { index: 1 });
    const { distributions } = summarize([speech, text], omniFacts());
    expect(distributions.audio_ttfp).toMatchObject({ count: 1, mean: 500 });
    expect(distributions.ttft).toMatchObject({ count: 1, mean: 100 });
  });
});

describe('time in the client', () => {
  const record = requestOf({ startMs: 300, events: textChunks([400, 500]) }, { intendedMs: 100 });

  it('is reported with a concurrency cap, response latency with a finite rate as well', () => {
    const capped = summarize([record], omniFacts({ maxConcurrency: 1, requestRate: 5 })).distributions;
    expect(capped.client_queue_time.mean).toBe(200);
    expect(capped.e2el_including_client_queue.mean).toBe(400);
    const unpaced = summarize([record], omniFacts({ maxConcurrency: 1 })).distributions;
    expect([unpaced.client_queue_time.count, unpaced.e2el_including_client_queue.count]).toEqual([1, 0]);
    const open = summarize([record], omniFacts({ requestRate: 5 })).distributions;
    expect(open.client_queue_time.count).toBe(0);
  });

  it('counts latency from the last attempt and waiting to the first', () => {
    const retried = { ...record, attempts: [attemptOf(150, 200), attemptOf(300, 500)] };
    const { distributions } = summarize([retried], omniFacts({ maxConcurrency: 1, requestRate: 5 }));
    expect(distributions.e2el.mean).toBe(200);
    expect(distributions.client_queue_time.mean).toBe(50);
    expect(distributions.e2el_including_client_queue.mean).toBe(400);
  });
});

describe('goodput', () => {
  const goodOf = (records: readonly RequestRecord[], goodput: Record<string, number>): number | null =>
    summarize(records, omniFacts({ endMs: 1000, goodput })).run.request_goodput;
  const fast = requestOf({ events: textChunks([100, 110]) }, { outputTokens: 2 });
  const single = requestOf({ events: textChunks([100]) }, { index: 1, outputTokens: 1 });

  it('holds limits inclusively and needs all of them', () => {
    expect(goodOf([fast], { ttft: 100, tpot: 10, e2el: 110 })).toBe(1);
    expect(goodOf([fast], { ttft: 99.9 })).toBe(0);
    expect(goodOf([fast], { ttft: 100, e2el: 109 })).toBe(0);
    expect(goodOf([fast], {})).toBeNull();
  });

  it('lets replies of one token pass TPOT', () => {
    expect(goodOf([fast, single], { tpot: 10 })).toBe(2);
  });

  it('misses objectives that were not observed', () => {
    expect(goodOf([fast], { audio_ttfp: 1e9 })).toBe(0);
  });

  it('knows audio objectives and the old name of the first packet', () => {
    const speech = requestOf(
      {
        events: audioChunks([
          [500, 12_000],
          [1200, 24_000],
        ]),
      },
      { audio: wavFacts(36_000) },
    );
    expect(goodOf([speech], { audio_ttft: 500, audio_rtf: 0.8, audio_underrun: 200.5 })).toBe(1);
    expect(goodOf([speech], { audio_underrun: 199 })).toBe(0);
  });

  it('covers every scalar that can be better or worse', () => {
    const every = Object.values(requestMetrics).filter(({ better }) => better !== 'neither');
    expect(every.filter(({ objective }) => objective === undefined)).toEqual([]);
  });

  it('knows pictures, memory and waiting', () => {
    const drawn = requestOf(
      { startMs: 50, events: [{ timeMs: 500, kind: eventKinds.image }] },
      {
        intendedMs: 0,
        image: { count: 1, pixels: 1, sizedCount: 1, broken: 0, generationMs: 300, denoiseStepMs: 15 },
        video: { durationS: 2, frames: 48, generationMs: 400 },
        responses: [
          { id: null, finishReason: null, usage: null, stages: {}, stageDurations: {}, peakMemoryMb: 900 },
        ],
      },
    );
    const limits = {
      image_generation: 300,
      denoise_step_latency: 15,
      video_generation: 400,
      video_rtf: 0.2,
      peak_memory_mb: 900,
      client_queue_time: 50,
      e2el_including_client_queue: 500,
    };
    const good = (goodput: Record<string, number>): number | null =>
      summarize([drawn], omniFacts({ endMs: 1000, goodput, maxConcurrency: 1, requestRate: 1 })).run
        .request_goodput;
    expect(good(limits)).toBe(1);
    for (const [name, limit] of Object.entries(limits)) expect(good({ [name]: limit * 0.99 })).toBe(0);
  });

  it('asks for first content of replies that reason first only', () => {
    const reasoned = requestOf({
      events: [{ timeMs: 50, kind: eventKinds.reasoning, tokens: 1, bytes: 1 }, ...textChunks([300])],
    });
    expect(goodOf([fast], { time_to_first_content: 1 })).toBe(1);
    expect(goodOf([reasoned], { time_to_first_content: 299 })).toBe(0);
    expect(goodOf([reasoned], { time_to_first_content: 300 })).toBe(1);
  });
});

describe('a run as a whole', () => {
  it('keeps warm-ups and probes out, and says what probes saw', () => {
    const probe = requestOf({ events: textChunks([100, 250]) }, { role: 'probe' });
    const warmup = requestOf({ events: textChunks([100, 250]) }, { role: 'warmup' });
    const { run, probe: seen } = summarize([probe, warmup], omniFacts());
    expect(run.completed).toBe(0);
    expect(seen).toEqual({ completed: 1, failed: 0, medianE2elMs: 250, p99E2elMs: 250, maxE2elMs: 250 });
  });

  it('ends a run that was cut off with what its records saw last', () => {
    const record = requestOf({ startMs: 100, endMs: 2600, events: textChunks([400, 500]) });
    expect(summarize([record], omniFacts({ startMs: null, endMs: null })).run.duration).toBe(2.5);
    expect(summarize([], omniFacts({ startMs: null, endMs: null })).run.duration).toBeNull();
  });

  it('counts aborted requests apart', () => {
    const outcome = { ok: false, kind: 'aborted', status: null, message: 'stopped', body: null } as const;
    const { run, failed } = summarize([requestOf({}, { outcome })], omniFacts());
    expect(run).toMatchObject({ completed: 0, failed: 0, aborted: 1 });
    expect(failed).toEqual([]);
  });

  it('groups failures that differ by ids only, the most frequent first', () => {
    const failing = (index: number, message: string, status: number): RequestRecord =>
      requestOf({}, { index, outcome: { ok: false, kind: 'http', status, message, body: null } });
    const { failureGroups } = summarize(
      [
        failing(0, 'HTTP 500: boom', 500),
        failing(1, 'HTTP 429: slow down, request 7a2b77c1-01', 429),
        failing(2, 'HTTP 429: slow down, request 9f00aa12-44', 429),
      ],
      omniFacts(),
    );
    expect(failureGroups.map(({ count, status, error }) => [count, status, error])).toEqual([
      [2, 429, 'HTTP 429: slow down, request 7a2b77c1-01'],
      [1, 500, 'HTTP 500: boom'],
    ]);
  });

  it('divides pixels by the images whose size is known', () => {
    const image = { count: 2, pixels: 1000, sizedCount: 1, broken: 0, generationMs: 50, denoiseStepMs: 2 };
    const { run, distributions } = summarize([requestOf({ endMs: 100 }, { image })], omniFacts());
    expect(run).toMatchObject({ total_images: 2, average_pixels_per_image: 1000, total_output_tokens: 0 });
    expect(distributions.image_generation.mean).toBe(50);
  });

  it('takes the server’s time for a video, else the latency', () => {
    const video = (generationMs: number | null) =>
      summarize(
        [requestOf({ endMs: 6000 }, { video: { durationS: 2, frames: 48, generationMs } })],
        omniFacts(),
      ).distributions.video_rtf.mean;
    expect(video(4000)).toBe(2);
    expect(video(null)).toBe(3);
  });

  property([
    fc.array(
      fc.record({ start: fc.nat(5000), ttft: fc.nat(900), gaps: fc.array(fc.nat(200), { maxLength: 9 }) }),
      {
        maxLength: 12,
      },
    ),
    fc.infiniteStream(fc.nat()),
  ])('says the same of shuffled records, with percentiles that rise', (requests, order) => {
    const records = requests.map(({ start, ttft, gaps }, index) => {
      let timeMs = start + ttft;
      const times = [timeMs, ...gaps.map((gap) => (timeMs += gap))];
      return requestOf({ startMs: start, events: textChunks(times) }, { index });
    });
    const facts = omniFacts({ metricPercentiles: [1, 25, 50, 90, 99, 100] });
    const shuffled = records
      .map((record) => ({ record, at: order.next().value ?? 0 }))
      .sort((a, b) => a.at - b.at)
      .map(({ record }) => record);
    const { requests: _, ...expected } = summarize(records, facts);
    const { requests: __, ...found } = summarize(shuffled, facts);
    expect(found).toEqual(expected);
    for (const { count, min, max, percentiles } of Object.values(found.distributions)) {
      if (count === 0) continue;
      const rising = [min, ...percentiles.map(([, value]) => value), max].map(Number);
      expect(rising).toEqual(rising.toSorted((a, b) => a - b));
    }
  });

  it('has no sample of an empty event log', () => {
    const { distributions } = summarize([requestOf({ endMs: 10 }, { events: eventLogOf([]) })], omniFacts());
    expect(distributions.ttft.mean).toBeNull();
    expect(distributions.e2el.mean).toBe(10);
  });
});

describe('a request’s start', () => {
  const startsOf = (startMs: number): (number | null)[] =>
    [timed(-0.08, 0.1, 1, 0.1, 0.4), timed(0.5, 0.1, 1, 0.1, 0.4)].map(
      (record) => requestRowOf(record, omniFacts({ startMs })).startS,
    );

  it('is never negative, also where a run goes on with one that was cut off', () => {
    // Laid before a process that began at 0: 80 ms later, all of them, for their distances are what was measured.
    const [first, second] = startsOf(-80);
    expect(first).toBeCloseTo(0, 12);
    expect(second).toBeCloseTo(0.58, 12);
  });

  it('is as it was measured where the run began in this process', () => {
    expect(startsOf(0)).toEqual([-0.08, 0.5]);
  });
});
