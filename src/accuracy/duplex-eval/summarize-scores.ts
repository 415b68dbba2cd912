import { mean } from '../../foundation/statistics.ts';
import { promptsSource, protocolPin } from './eval-judges.ts';
import type { EvalSample } from './eval-sample.ts';
import type { PrScore, RtdScore } from './score-sample.ts';
import type { UnscoredSample } from './unscored-samples.ts';

/** A scored sample, as its file holds it. */
export type ScoredSample = Pick<EvalSample, 'id' | 'split' | 'family'> & {
  readonly task_type: string;
  readonly rtd: RtdScore | null;
  readonly pr: PrScore | null;
};

type RtdMeans = {
  readonly samples: number;
  readonly mean_content_score: number | null;
  /** Over samples with a relevant sentence. */
  readonly mean_avg_temporal_score: number | null;
};
type PrMeans = { readonly samples: number; readonly mean_all_success: number | null };

/** The evaluation of a response root. */
export type EvalSummary = {
  readonly protocol_pin: string;
  readonly prompts_source: string;
  /** That have a score: what the means are over. */
  readonly samples: number;
  /** That could not be judged. */
  readonly failed: number;
  /** That were to be judged, and were not yet when it ended. */
  readonly not_judged: number;
  readonly unscored: readonly UnscoredSample[];
  readonly rtd: RtdMeans & { readonly by_task: Readonly<Record<string, RtdMeans>> };
  readonly pr: PrMeans & { readonly by_task: Readonly<Record<string, PrMeans>> };
};

/**
 * Means over scored samples; `null` = there is none.
 * @param unscored samples that were to be among them, and are not
 */
export function summarizeScores(
  scored: readonly ScoredSample[],
  unscored: readonly UnscoredSample[],
): EvalSummary {
  const failed = unscored.filter(({ error }) => error !== null).length;
  const rtd = scored.filter((sample) => sample.rtd !== null);
  const pr = scored.filter((sample) => sample.pr !== null);
  return {
    protocol_pin: protocolPin,
    prompts_source: promptsSource,
    samples: scored.length,
    failed,
    not_judged: unscored.length - failed,
    unscored,
    rtd: { ...rtdMeans(rtd), by_task: byTask(rtd, rtdMeans) },
    pr: { ...prMeans(pr), by_task: byTask(pr, prMeans) },
  };
}

function rtdMeans(scored: readonly ScoredSample[]): RtdMeans {
  return {
    samples: scored.length,
    mean_content_score: mean(scored.flatMap(({ rtd }) => rtd?.content_score ?? [])),
    mean_avg_temporal_score: mean(scored.flatMap(({ rtd }) => rtd?.avg_temporal_score ?? [])),
  };
}

function prMeans(scored: readonly ScoredSample[]): PrMeans {
  return {
    samples: scored.length,
    mean_all_success: mean(scored.flatMap(({ pr }) => pr?.all_success ?? [])),
  };
}

function byTask<T>(
  scored: readonly ScoredSample[],
  means: (some: readonly ScoredSample[]) => T,
): Record<string, T> {
  const tasks = [...new Set(scored.map(({ task_type }) => task_type))].sort();
  return Object.fromEntries(
    tasks.map((task) => [task, means(scored.filter(({ task_type }) => task_type === task))]),
  );
}
