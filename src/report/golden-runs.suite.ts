import { readFileSync } from 'node:fs';
import { audioChunks, omniFacts, requestOf, textChunks, wavFacts } from '../metrics/metric-records.suite.ts';
import { eventKinds } from '../records/event-log.ts';
import type { RequestRecord, ResponseFacts } from '../records/request-record.ts';
import type { RunFacts } from '../records/run-facts.ts';
import {
  busiestSecond,
  firstFit,
  fitGaps,
  fitValues,
  type GapGroup,
  interleave,
  type PrintedStatistics,
  parseReport,
  statisticsOf,
  timesOf,
} from './fit-samples.suite.ts';

// Records fitted to published reports: what each request must have been for the report to print as it does. Values of
// one metric rise with the request's index.

export type GoldenRun = { readonly records: readonly RequestRecord[]; readonly facts: RunFacts };

export function goldenText(name: string): string {
  return readFileSync(new URL(`./__fixtures__/golden/${name}.txt`, import.meta.url), 'utf8');
}

export type FittedRequest = {
  readonly index: number;
  readonly startMs: number;
  readonly ttftMs: number;
  readonly gapsMs: readonly number[];
  readonly latencyMs: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly audio?: readonly (readonly [sinceStartMs: number, frames: number])[];
  readonly stages?: ResponseFacts['stages'];
  readonly image?: RequestRecord['image'];
};

/** Chunks of unknown size, as servers without per-chunk usage send them; the last message ends the latency. */
export function recordOf(fitted: FittedRequest): RequestRecord {
  const { startMs, audio } = fitted;
  const events = [
    ...textChunks(timesOf(startMs + fitted.ttftMs, fitted.gapsMs), null),
    ...audioChunks((audio ?? []).map(([sinceStartMs, frames]) => [startMs + sinceStartMs, frames])),
    { timeMs: startMs + fitted.latencyMs, kind: eventKinds.usage },
  ].sort((a, b) => (a.timeMs ?? 0) - (b.timeMs ?? 0));
  return requestOf(
    { startMs, events },
    {
      index: fitted.index,
      promptTokens: fitted.inputTokens,
      outputTokens: fitted.outputTokens,
      outputTokensSource: 'usage',
      audio: audio ? wavFacts(audio.reduce((sum, [, frames]) => sum + frames, 0)) : null,
      image: fitted.image ?? null,
      responses: fitted.stages ? [responseWith(fitted.stages)] : [],
    },
  );
}

export function responseWith(
  stages: ResponseFacts['stages'],
  peakMemoryMb: number | null = null,
): ResponseFacts {
  return { id: null, finishReason: 'stop', usage: null, stages, stageDurations: {}, peakMemoryMb };
}

export function factsOf(
  durationS: number,
  percentileMetrics: string,
  changes: Partial<RunFacts> = {},
): RunFacts {
  return omniFacts({
    startMs: 0,
    endMs: durationS * 1000,
    percentileMetrics: percentileMetrics.split(','),
    ...changes,
  });
}

/** The given parts of a whole, and what is left of it. */
function shares(total: number, ...first: readonly number[]): number[] {
  return [...first, total - first.reduce((sum, part) => sum + part, 0)];
}

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Whole numbers that differ by one at most and make up a whole. */
function evenly(total: number, parts: number): number[] {
  return Array.from(
    { length: parts },
    (_, i) => Math.floor(((i + 1) * total) / parts) - Math.floor((i * total) / parts),
  );
}

/** How many gaps of the printed mean each of the replies' token spans holds. */
export function gapCounts(spansMs: readonly number[], { mean }: PrintedStatistics): number[] {
  const total = Math.round(sum(spansMs) / mean);
  return shares(total, ...spansMs.slice(0, -1).map((spanMs) => Math.round(spanMs / mean)));
}

/** Gaps of a reply that comes in bursts, one a period, except that the last burst ends the given span. */
function burstGaps(
  sizes: readonly number[],
  gap: { periodMs: number; withinMs: number; spanMs: number; slow: GapGroup },
): number[] {
  const gaps = sizes.flatMap((size, i) => {
    const burst = Array<number>(size - 1).fill(gap.withinMs);
    return i === sizes.length - 1 ? burst : [...burst, gap.periodMs - (size - 1) * gap.withinMs];
  });
  const [slowCount, slowMs] = gap.slow;
  gaps.fill(slowMs, 0, slowCount);
  const lastPause = gaps.length - (sizes.at(-1) ?? 0);
  gaps[lastPause] = (gaps[lastPause] ?? 0) + gap.spanMs - sum(gaps);
  return gaps;
}

/** Two replies at once, whose text came in bursts of about a hundred chunks with seconds between them. */
export function sharegptTextAudio(): GoldenRun {
  const figures = parseReport(goldenText('sharegpt-text-audio'));
  const itl = statisticsOf(figures, 'ITL (ms)');
  const ttft = fitValues(2, statisticsOf(figures, 'TTFT (ms)'));
  const tpot = fitValues(2, statisticsOf(figures, 'TPOT (ms)'));
  const latency = fitValues(2, statisticsOf(figures, 'E2EL (ms)'));
  // At 957 ms a token, a reply of 81 s has 86.
  const tokens = [5840, 86];
  const spans = tokens.map((count, i) => (tpot[i] ?? 0) * (count - 1));
  // The pauses between 13 and 33 bursts and eight gaps at the P99 are the hundredth of all gaps that decides it. The
  // first reply starts half a period late, so that no second holds two bursts; its last, which must, is one chunk.
  const periodMs = 2530;
  const peak = figures.get('Peak output token throughput (tok/s)') ?? 0;
  const chunks = sum(gapCounts(spans, itl)) + 2;
  const usual = evenly(chunks - peak - 1, 44);
  const sizes = [
    [...usual.slice(0, 12), 1],
    [peak, ...usual.slice(12)],
  ];
  const gaps = sizes.map((each, i) =>
    burstGaps(each, { periodMs, withinMs: itl.median, spanMs: spans[i] ?? 0, slow: [4, itl.p99] }),
  );
  return {
    records: [periodMs / 2, 0].map((startMs, index) =>
      recordOf({
        index,
        startMs,
        ttftMs: ttft[index] ?? 0,
        gapsMs: gaps[index] ?? [],
        latencyMs: latency[index] ?? 0,
        inputTokens: 18,
        outputTokens: tokens[index] ?? 0,
        audio: [[latency[index] ?? 0, 94_890 / 2]],
      }),
    ),
    facts: factsOf(81.628, 'ttft,tpot,itl,e2el'),
  };
}

/** Two replies whose audio came whole at the end. */
export function randomTextAudio(): GoldenRun {
  const figures = parseReport(goldenText('random-text-audio-ttfp-rtf'));
  const itl = statisticsOf(figures, 'ITL (ms)');
  const ttft = fitValues(2, statisticsOf(figures, 'TTFT (ms)'));
  const tpot = fitValues(2, statisticsOf(figures, 'TPOT (ms)'));
  const ttfp = fitValues(2, statisticsOf(figures, 'AUDIO_TTFP (ms)'));
  const latency = fitValues(2, statisticsOf(figures, 'E2EL (ms)'));
  const tokens = shares(10_101, 5050);
  // Lengths that give the printed RTF with all audio at the TTFP.
  const frames = shares(379_050, 189_168);
  const rounded = tokens.map((count, i) => (tpot[i] ?? 0) * (count - 1));
  const counts = gapCounts(rounded, itl);
  // The printed TPOT has two digits; within them, the one that a whole number of gaps of the printed mean gives.
  const spans = rounded.map((spanMs) => (spanMs * sum(counts) * itl.mean) / sum(rounded));
  const gaps = counts.map((count, i) => interleave(Object.values(fitGaps(count, spans[i] ?? 0, itl))));
  // Within the printed duration TPOT, ITL and peak contradict each other by two chunks a second: two replies at these
  // gaps that overlap all the time have a higher peak. The second reply starts later instead.
  const chunkTimes = (startMs: number, index: number): number[] =>
    timesOf(startMs + (ttft[index] ?? 0), gaps[index] ?? []);
  const peak = figures.get('Peak output token throughput (tok/s)');
  const laterMs = firstFit(
    Array.from({ length: 300 }, (_, i) => i * 10),
    (startMs) => busiestSecond([...chunkTimes(0, 0), ...chunkTimes(startMs, 1)], 0) === peak,
  );
  return {
    records: [0, laterMs].map((startMs, index) =>
      recordOf({
        index,
        startMs,
        ttftMs: ttft[index] ?? 0,
        gapsMs: gaps[index] ?? [],
        latencyMs: latency[index] ?? 0,
        inputTokens: 15,
        outputTokens: tokens[index] ?? 0,
        audio: [[ttfp[index] ?? 0, frames[index] ?? 0]],
      }),
    ),
    facts: factsOf(3.89163, 'ttft,tpot,itl,e2el,audio_ttfp,audio_rtf'),
  };
}

/** One short reply without audio. */
export function randomMmTextOnly(): GoldenRun {
  const figures = parseReport(goldenText('random-mm-text-only'));
  const [ttftMs = 0] = fitValues(1, statisticsOf(figures, 'TTFT (ms)'));
  const gapsMs = fitValues(2, statisticsOf(figures, 'ITL (ms)'));
  const record = recordOf({
    index: 0,
    startMs: 0,
    ttftMs,
    gapsMs,
    latencyMs: ttftMs + sum(gapsMs),
    inputTokens: 10,
    outputTokens: 3,
  });
  return { records: [record], facts: factsOf(1.207, 'ttft,tpot,itl', { requestRate: 1 }) };
}

const stageMetricNames = 'ttft,tpot,tpop,itl,e2el,ttfc,tpoc,icl,audio_ttfp,audio_rtf';

/** Three requests one after the other through thinker, talker and code2wav. */
export function qwen3OmniPrintStage(): GoldenRun {
  const figures = parseReport(goldenText('qwen3-omni-print-stage'));
  const itl = statisticsOf(figures, 'ITL (ms)');
  const ttft = fitValues(3, statisticsOf(figures, 'TTFT (ms)'));
  const tpot = fitValues(3, statisticsOf(figures, 'TPOT (ms)'));
  const ttfp = fitValues(3, statisticsOf(figures, 'AUDIO_TTFP (ms)'));
  const latency = fitValues(3, statisticsOf(figures, 'E2EL (ms)'));
  // Lengths that give the printed RTF with the last audio at the end.
  const frames = shares(7_453_260, 1_670_640, 2_029_608);
  const starts = latency.map((_, i) => sum(latency.slice(0, i)) + i);
  const spans = tpot.map((each) => each * 1499);
  const groups = gapCounts(spans, itl).map((count, i) => fitGaps(count, spans[i] ?? 0, itl, 0.1));
  // The last reply has a run of its shorter gaps in a row, as many as make the printed peak.
  const peak = figures.get('Peak output token throughput (tok/s)');
  const withRun = (length: number): number[][] =>
    groups.map(({ below: [count, gapMs], ...others }, i) => {
      const run = i === 2 ? length : 0;
      const rest: readonly GapGroup[] = [...Object.values(others), [count - run, gapMs]];
      return [...Array<number>(run).fill(gapMs), ...interleave(rest)];
    });
  const chunkTimes = (gaps: readonly number[][]): number[] =>
    gaps.flatMap((each, i) => timesOf((starts[i] ?? 0) + (ttft[i] ?? 0), each));
  const gaps = firstFit(
    Array.from({ length: 200 }, (_, length) => withRun(length)),
    (candidate) => busiestSecond(chunkTimes(candidate), 0) === peak,
  );
  const stages = thinkerTalkerCode2wav(figures, {
    tokens: 1500,
    frames: shares(8_903_490, 1_943_040, 3_092_640),
    nativeTtft: true,
    textTpot: 'TPOT (ms)',
  });
  return {
    records: latency.map((latencyMs, index) =>
      recordOf({
        index,
        startMs: starts[index] ?? 0,
        ttftMs: ttft[index] ?? 0,
        gapsMs: gaps[index] ?? [],
        latencyMs,
        inputTokens: 2512,
        outputTokens: 1500,
        audio: [
          [ttfp[index] ?? 0, (frames[index] ?? 0) - 1],
          [latencyMs, 1],
        ],
        stages: stages[index] ?? {},
      }),
    ),
    facts: factsOf(50.757, stageMetricNames, { printStage: true, maxConcurrency: 1 }),
  };
}

/** The stage part of a run of three requests; nothing of its serving part is known. */
export function qwen3OmniStagesCliGuide(): GoldenRun {
  const figures = parseReport(goldenText('qwen3-omni-stages-cli-guide'));
  const stages = thinkerTalkerCode2wav(figures, {
    tokens: 900,
    frames: shares(6_242_730, 794_400, 1_282_320),
    nativeTtft: false,
    textTpot: 'TPOP (ms)',
  });
  return {
    records: stages.map((each, index) =>
      recordOf({
        index,
        startMs: 0,
        ttftMs: 1,
        gapsMs: [1],
        latencyMs: 2,
        inputTokens: 2500,
        outputTokens: 900,
        stages: each,
      }),
    ),
    facts: factsOf(1, stageMetricNames, { printStage: true }),
  };
}

/** Snapshots of three requests. Lists of gaps have a hundred entries each, which decide as much as thousands. */
function thinkerTalkerCode2wav(
  figures: ReadonlyMap<string, number>,
  run: {
    readonly tokens: number;
    readonly frames: readonly number[];
    readonly nativeTtft: boolean;
    readonly textTpot: string;
  },
): ResponseFacts['stages'][] {
  const [thinker, talker, code2wav] = [
    'Stage 0 (thinker)/',
    'Stage 1 (talker)/',
    'Stage 2 (code2wav)/',
  ] as const;
  const fitThree = (name: string, stage: string): number[] =>
    fitValues(3, statisticsOf(figures, name, stage));
  const list = (name: string, stage: string): number[] => {
    const statistics = statisticsOf(figures, name, stage);
    return interleave(Object.values(fitGaps(100, 100 * statistics.mean, statistics)));
  };
  const genTimes = [thinker, talker, code2wav].map((stage) => fitThree('stage_gen_time (ms)', stage));
  const servingTtft = fitThree('Serving TTFT (ms)', thinker);
  const nativeTtft = run.nativeTtft ? fitThree('TTFT (ms)', thinker) : [];
  const textTpot = fitThree(run.textTpot, thinker);
  const servingTtfc = fitThree('Serving TTFC (ms)', talker);
  const tpop = fitThree('TPOP (ms)', talker);
  const servingTtfp = fitThree('Serving AUDIO_TTFP (ms)', code2wav);
  return run.frames.map((frames, i) => ({
    0: {
      stage_name: 'thinker',
      final_output_type: 'text',
      output_unit_type: 'text',
      output_unit_count: run.tokens,
      num_tokens_out: run.tokens,
      stage_gen_time_ms: genTimes[0]?.[i],
      postprocess_time_ms: 0,
      serving_time_to_first_output_ms: servingTtft[i],
      vllm_ttft_ms: nativeTtft[i] ?? 0,
      vllm_tpot_ms: textTpot[i],
      vllm_itls_ms: list('ITL (ms)', thinker),
    },
    1: {
      stage_name: 'talker',
      final_output_type: null,
      output_unit_type: 'stream',
      output_unit_count: 400,
      stage_gen_time_ms: genTimes[1]?.[i],
      serving_time_to_first_output_ms: servingTtfc[i],
      time_per_output_unit_ms: tpop[i],
      inter_output_latencies_ms: list('ICL (ms)', talker),
    },
    2: {
      stage_name: 'code2wav',
      final_output_type: 'audio',
      output_unit_type: 'audio',
      output_unit_count: frames,
      audio_frames: frames,
      audio_duration_s: frames / 24_000,
      stage_gen_time_ms: genTimes[2]?.[i],
      serving_time_to_first_output_ms: servingTtfp[i],
    },
  }));
}
