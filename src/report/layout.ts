import type { DistributionKey, RunMetricKey, StageMetricKey } from '../metrics/catalogue.ts';
import type { StageClass } from '../metrics/stage-rows.ts';
import type { ProbeSummary, RunSummary } from '../metrics/summary.ts';
import type { ValueFormat } from './report-lines.ts';

// A layout says what a report prints and in which order, as data: odd labels and doubled rows stand in a list, and
// the renderer has no exceptions.

export type TitleItem = { readonly kind: 'title'; readonly text: string };

/** Mean, median and percentiles of one metric; printed only where it was observed. */
export type BlockItem<Key> = {
  readonly kind: 'block';
  readonly metric: Key;
  /** `selected`: only where `--percentile-metrics` names it. */
  readonly when: 'selected' | 'observed' | 'positive';
  /** In place of the catalogue's. */
  readonly title?: string;
  readonly label?: string;
  readonly unit?: string;
  /** Printed where the metric is selected and was not observed. */
  readonly otherwise?: { readonly label: string; readonly text: string };
};

export type ServingItem =
  | TitleItem
  | BlockItem<DistributionKey>
  /** Blocks of the selected ones among the metrics, in the order in which the command line named them. */
  | { readonly kind: 'blocks-as-named'; readonly metrics: readonly DistributionKey[] }
  | {
      readonly kind: 'row';
      readonly label: string;
      readonly metric: RunMetricKey;
      readonly format: ValueFormat;
    }
  /** A setting of the run; printed where it was set. */
  | {
      readonly kind: 'setting';
      readonly label: string;
      readonly setting: 'maxConcurrency' | 'requestRate';
      readonly format: ValueFormat;
    }
  /** The mean alone; printed where the metric was observed. */
  | { readonly kind: 'mean'; readonly label: string; readonly metric: DistributionKey }
  | {
      readonly kind: 'section';
      readonly when: (summary: RunSummary) => boolean;
      readonly items: readonly ServingItem[];
    }
  | { readonly kind: 'stage-durations' }
  | {
      readonly kind: 'probe';
      readonly title: string;
      readonly rows: readonly {
        readonly label: string;
        readonly field: keyof ProbeSummary;
        readonly format: ValueFormat;
      }[];
    }
  | {
      readonly kind: 'stages';
      readonly title: string;
      readonly layouts: Readonly<Record<StageClass, readonly StageItem[]>>;
    };

export type StageItem =
  | TitleItem
  | BlockItem<StageMetricKey>
  /** The sum over all requests. */
  | {
      readonly kind: 'total';
      readonly label: string;
      readonly metric: StageMetricKey;
      readonly format: ValueFormat;
    };
