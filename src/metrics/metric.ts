import type { RequestFigures } from './request-figures.ts';
import type { RunFigures } from './run-figures.ts';
import type { StageRow } from './stage-rows.ts';

export type MetricUnit =
  | 'ms'
  | 's'
  | 'ratio'
  | 'count'
  | 'tokens'
  | 'samples'
  | 'px'
  | 'MB'
  | 'requests/s'
  | 'tokens/s'
  | 'images/s'
  | 's/s';

/** What every entry of the catalogue says of itself; docs, help and validation are made from it. */
export type MetricEntry = {
  /** Stem of the JSON keys, unique within its kind. */
  readonly key: string;
  /** As rows of the report call it: `Mean TTFT (ms):`. */
  readonly label: string;
  /** Title of its block in the report. */
  readonly title: string;
  readonly unit: MetricUnit;
  readonly modality: 'any' | 'text' | 'audio' | 'image' | 'video';
  readonly better: 'lower' | 'higher' | 'neither';
  /** The definition: a sentence or two, with what `null` means. */
  readonly doc: string;
  /** Where the definition comes from. */
  readonly source: string;
};

/** Names of `--percentile-metrics` that select an entry; none = it can't be selected. */
type Selectable = { readonly selectedBy: readonly string[] };

/** How a metric is used as a service level objective of `--goodput`. */
export type Objective = {
  /** Unit of the limit on the command line. */
  readonly unit: 'ms' | 'ratio' | 'MB';
  /** Other spellings of the key. */
  readonly aliases: readonly string[];
  /** Replies for which the objective says nothing, so that it holds. */
  readonly vacuous?: (request: RequestFigures) => boolean;
};

/** One number per successful request; `null` = not observed, and never enters a mean. */
export type RequestMetric = MetricEntry &
  Selectable & {
    readonly kind: 'request';
    readonly objective?: Objective;
    of(request: RequestFigures): number | null;
  };

/** Many numbers per successful request, pooled over the run. */
export type SamplesMetric = MetricEntry &
  Selectable & {
    readonly kind: 'samples';
    /** Stated whether or not the run asks for them. */
    readonly fixedPercentiles?: readonly number[];
    of(request: RequestFigures): ArrayLike<number>;
  };

/** One number per run; `null` = not observed. */
export type RunMetric = MetricEntry & {
  readonly kind: 'run';
  of(run: RunFigures): number | null;
};

/** Numbers that one stage reported for one request; none = not reported. */
export type StageMetric = MetricEntry &
  Selectable & {
    readonly kind: 'stage';
    of(row: StageRow): readonly number[];
  };

export type Metric = RequestMetric | SamplesMetric | RunMetric | StageMetric;
