import { imagesEdits } from '../endpoints/images-edits.ts';
import { imagesGenerations } from '../endpoints/images-generations.ts';
import { videos } from '../endpoints/videos.ts';
import { requestOf } from '../metrics/metric-records.suite.ts';
import { eventKinds } from '../records/event-log.ts';
import type { ImageFacts, ResponseFacts } from '../records/request-record.ts';
import {
  fitGaps,
  fitValues,
  interleave,
  type PrintedStatistics,
  parseReport,
  statisticsOf,
} from './fit-samples.suite.ts';
import {
  factsOf,
  type GoldenRun,
  gapCounts,
  goldenText,
  recordOf,
  responseWith,
  sum,
} from './golden-runs.suite.ts';

// Records fitted to the published reports of runs that made pictures: three requests, one after the other.

type Figures = ReadonlyMap<string, number>;

const fitThree = (figures: Figures, name: string, stage = ''): number[] =>
  fitValues(3, statisticsOf(figures, name, stage));

/** When requests of these latencies start that follow each other by a millisecond. */
const startsOf = (latency: readonly number[]): number[] =>
  latency.map((_, i) => sum(latency.slice(0, i)) + i);

const pixels = 1024 * 1024;

function oneImage(generationMs: number | undefined, denoiseStepMs: number | null): ImageFacts {
  return { count: 1, pixels, sizedCount: 1, broken: 0, generationMs: generationMs ?? null, denoiseStepMs };
}

/** Images without text, in twenty steps each. */
export function qwenImageGenerations(name: string): GoldenRun {
  const figures = parseReport(goldenText(name));
  const latency = fitThree(figures, 'E2EL (ms)');
  const generation = fitThree(figures, 'IMAGE_GENERATION (ms)');
  const starts = startsOf(latency);
  return {
    records: latency.map((latencyMs, index) => {
      const startMs = starts[index] ?? 0;
      return requestOf(
        { startMs, events: [{ timeMs: startMs + latencyMs, kind: eventKinds.image, bytes: 1 }] },
        {
          index,
          image: oneImage(generation[index], (generation[index] ?? 0) / 20),
          responses: [responseWith({}, figures.get('Mean PEAK_MEMORY_MB (MB)'))],
        },
      );
    }),
    facts: factsOf(8.42, 'e2el', { endpoint: imagesGenerations.traits, maxConcurrency: 1 }),
  };
}

/** Videos of 33 frames at 24 a second. */
export function heliosVideos(): GoldenRun {
  const figures = parseReport(goldenText('helios-videos'));
  const latency = fitThree(figures, 'E2EL (ms)');
  const generation = fitThree(figures, 'VIDEO_GENERATION (ms)');
  const memory = fitThree(figures, 'PEAK_MEMORY_MB (MB)');
  const starts = startsOf(latency);
  return {
    records: latency.map((latencyMs, index) => {
      const startMs = starts[index] ?? 0;
      return requestOf(
        { startMs, events: [{ timeMs: startMs + latencyMs, kind: eventKinds.whole }] },
        {
          index,
          video: { durationS: 33 / 24, frames: 33, generationMs: generation[index] ?? null },
          responses: [responseWith({}, memory[index])],
        },
      );
    }),
    facts: factsOf(13.86, 'e2el', { endpoint: videos.traits, maxConcurrency: 1 }),
  };
}

/** Text that a thinker wrote and a picture, of one chat reply: five chunks hold its six tokens. */
export function bagelPrintStage(): GoldenRun {
  const figures = parseReport(goldenText('bagel-print-stage'));
  const itl = statisticsOf(figures, 'ITL (ms)');
  const ttft = fitThree(figures, 'TTFT (ms)');
  const spans = fitThree(figures, 'TPOT (ms)').map((tpotMs) => tpotMs * 5);
  const latency = fitThree(figures, 'E2EL (ms)');
  const generation = fitThree(figures, 'IMAGE_GENERATION (ms)');
  const starts = startsOf(latency);
  // Each reply stalls once. The two longer stalls are the P99; half of all gaps is the median.
  const gaps = spans.map((spanMs, index) =>
    index === 0
      ? [itl.median, spanMs - 3 * itl.median, itl.median, itl.median]
      : [itl.median, itl.p99, itl.median, spanMs - itl.p99 - 2 * itl.median],
  );
  const tokens = stageTokensOf(figures, 'Stage 0 (thinker)/', [6, 6]);
  return {
    records: latency.map((latencyMs, index) =>
      recordOf({
        index,
        startMs: starts[index] ?? 0,
        ttftMs: ttft[index] ?? 0,
        gapsMs: gaps[index] ?? [],
        latencyMs,
        inputTokens: [2500, 2501, 2501][index] ?? 0,
        outputTokens: 6,
        image: oneImage(generation[index], null),
        stages: textAndPicture(figures, 'Stage 0 (thinker)/', { index, tokens, itls: stallingGaps }),
      }),
    ),
    facts: factsOf(56.427, 'ttft,tpot,itl,e2el', { printStage: true, maxConcurrency: 1 }),
  };
}

/** Edits of a pipeline that thinks before it draws. The longest reply has about two tokens in each chunk. */
export function hunyuanImage3(durationS: number, printStage: boolean): GoldenRun {
  const figures = parseReport(goldenText(printStage ? 'hunyuan-image3-print-stage' : 'hunyuan-image3'));
  const itl = statisticsOf(figures, 'ITL (ms)');
  const ttft = fitThree(figures, 'TTFT (ms)');
  const latency = fitThree(figures, 'E2EL (ms)');
  const generation = fitThree(figures, 'IMAGE_GENERATION (ms)');
  // The other way round than the latencies: otherwise the longest reply would not have time for its tokens.
  const tpot = fitThree(figures, 'TPOT (ms)').reverse();
  const total = figures.get('Total generated tokens') ?? 0;
  const first = [0, 1].map((i) =>
    Math.round(((latency[i] ?? 0) - (ttft[i] ?? 0) - (generation[i] ?? 0)) / (tpot[i] ?? 1)),
  );
  const tokens = [...first, total - sum(first)];
  const spans = tokens.map((count, i) => (count - 1) * (tpot[i] ?? 0));
  const gaps = gapCounts(spans, itl).map((count, i) =>
    interleave(Object.values(fitGaps(count, spans[i] ?? 0, itl))),
  );
  const starts = startsOf(latency);
  const stage = 'Stage 0 (AR)/';
  const stageTokens = printStage ? stageTokensOf(figures, stage, [1200, 1600]) : [];
  return {
    records: latency.map((latencyMs, index) =>
      recordOf({
        index,
        startMs: starts[index] ?? 0,
        ttftMs: ttft[index] ?? 0,
        gapsMs: gaps[index] ?? [],
        latencyMs,
        inputTokens: 2500,
        outputTokens: tokens[index] ?? 0,
        image: oneImage(generation[index], figures.get('Mean denoise step latency (ms)') ?? null),
        ...(printStage
          ? { stages: textAndPicture(figures, stage, { index, tokens: stageTokens, itls: evenGaps }) }
          : {}),
      }),
    ),
    facts: factsOf(durationS, 'ttft,tpot,itl,e2el', {
      endpoint: imagesEdits.traits,
      printStage,
      maxConcurrency: 1,
    }),
  };
}

/** Tokens of the text stage, whose total is printed. */
function stageTokensOf(figures: Figures, stage: string, first: readonly number[]): number[] {
  return [...first, (figures.get(`${stage}Stage generated tokens`) ?? 0) - sum(first)];
}

/** Snapshots of one request: a stage of text, then one of pictures. */
function textAndPicture(
  figures: Figures,
  stage: string,
  run: {
    readonly index: number;
    readonly tokens: readonly number[];
    readonly itls: (statistics: PrintedStatistics) => number[];
  },
): ResponseFacts['stages'] {
  const { index } = run;
  const own = (name: string): number | undefined => fitThree(figures, name, stage)[index];
  return {
    0: {
      stage_name: /\((.*)\)/.exec(stage)?.[1],
      final_output_type: 'text',
      output_unit_type: 'text',
      num_tokens_out: run.tokens[index],
      stage_gen_time_ms: own('stage_gen_time (ms)'),
      serving_time_to_first_output_ms: own('Serving TTFT (ms)'),
      vllm_ttft_ms: own('TTFT (ms)'),
      vllm_tpot_ms: own('TPOT (ms)'),
      vllm_itls_ms: run.itls(statisticsOf(figures, 'ITL (ms)', stage)),
    },
    1: {
      stage_name: 'dit',
      final_output_type: 'image',
      output_unit_type: 'image',
      output_unit_count: 1,
      stage_gen_time_ms: fitThree(figures, 'IMAGE_GENERATION (ms)', 'Stage 1 (dit)/')[index],
    },
  };
}

const evenGaps = (statistics: PrintedStatistics): number[] =>
  interleave(Object.values(fitGaps(100, 100 * statistics.mean, statistics)));

/** A third of the gaps are stalls at the P99, the others lie at the median but for one that makes the mean right. */
function stallingGaps({ mean, median, p99 }: PrintedStatistics): number[] {
  const gaps = [...Array<number>(12).fill(p99), ...Array<number>(24).fill(median)];
  return [...gaps, (gaps.length + 1) * mean - sum(gaps)];
}
