/**
 * The data of the HTML page: everything that the page shows, and nothing that it has to compute from records. It is
 * the one contract between the two sides of the page, so it knows neither Node nor the browser, and imports nothing.
 * Texts are as they came from servers, files and flags; the page shows them as text and in no other way.
 * `null` = not observed.
 */
export const reportModelVersion = 1;

export type ReportModel = {
  readonly version: typeof reportModelVersion;
  readonly omnimeterVersion: string;
  readonly run: RunHead;
  /** Aggregates of the run in the catalogue's order; those that were not observed are left out. */
  readonly figures: readonly Figure[];
  /** In the catalogue's order; those that were not observed are left out. */
  readonly distributions: readonly Distribution[];
  readonly timeline: Timeline | null;
  readonly paths: readonly PathSummary[];
  readonly stages: readonly StageRowModel[];
  /** Names of the columns of `stages[].percentiles`. */
  readonly stagePercentiles: readonly number[];
  readonly stageDurations: readonly StageDurationModel[];
  readonly requests: RequestTable;
  /** By request index; only some requests of a large run have one. */
  readonly details: Readonly<Record<string, RequestDetail>>;
  readonly failures: readonly FailureModel[];
  /** How the client saw itself; empty where it did not look. */
  readonly method: readonly Fact[];
  readonly probes: readonly Fact[];
  readonly configuration: readonly FactGroup[];
  /** The command line as a shell reads it. */
  readonly command: string;
  /** What a reader should know before trusting the figures. */
  readonly notes: readonly string[];
};

export type RunHead = {
  readonly model: string;
  readonly endpoint: string;
  readonly dataset: string;
  readonly label: string | null;
  /** ISO 8601 with offset. */
  readonly startedAt: string;
  readonly durationS: number | null;
  /** `cut_off`: the process ended before the run did. */
  readonly state: 'complete' | 'interrupted' | 'cut_off';
  readonly planned: number;
  readonly completed: number;
  readonly failed: number;
  readonly aborted: number;
};

export type Modality = 'any' | 'text' | 'audio' | 'image' | 'video';

export type Figure = {
  readonly key: string;
  readonly title: string;
  readonly unit: string;
  readonly modality: Modality;
  readonly doc: string;
  readonly value: number;
};

export type Distribution = {
  readonly key: string;
  readonly label: string;
  readonly title: string;
  readonly unit: string;
  readonly modality: Modality;
  readonly doc: string;
  readonly count: number;
  readonly mean: number;
  readonly std: number;
  readonly scale: 'linear' | 'log';
  readonly edges: readonly number[];
  readonly counts: readonly number[];
  /** Ascending; holds at least 0, 50, 75, 90, 95, 99 and 100. */
  readonly quantiles: readonly (readonly [p: number, value: number])[];
  /** The limit that `--goodput` set, in `unit`; `null` = none. */
  readonly objective: number | null;
};

/** Columns with an entry a step; rates are counts over `stepS`. */
export type Timeline = {
  readonly stepS: number;
  readonly due: readonly number[];
  readonly sent: readonly number[];
  readonly succeeded: readonly number[];
  readonly failed: readonly number[];
  readonly inFlight: readonly number[];
  readonly outputTokens: readonly number[];
  readonly audioS: readonly number[];
};

export type StepKind = 'client' | 'network' | 'server' | 'stage' | 'stream';

/** Critical paths to one goal over all requests that have it. */
export type PathSummary = {
  readonly goal: 'audio' | 'text' | 'reply';
  readonly requests: number;
  readonly steps: readonly {
    readonly kind: StepKind;
    readonly name: string;
    /** Over the requests of the goal; one that lacks the step counts as 0. */
    readonly meanMs: number;
    readonly medianMs: number;
    readonly p99Ms: number;
  }[];
};

/** One metric of one stage. */
export type StageRowModel = {
  readonly stage: string;
  readonly name: string;
  readonly metric: string;
  readonly unit: string;
  readonly doc: string;
  readonly count: number;
  readonly mean: number;
  readonly median: number;
  readonly percentiles: readonly (number | null)[];
  readonly max: number;
};

/** A key of the server's profiler, in the key's own unit. */
export type StageDurationModel = {
  readonly key: string;
  readonly mean: number;
  readonly median: number;
  readonly p99: number;
};

/** Why a request is in the table. `all`: the table has every request. */
export type RowReason = 'all' | 'slow' | 'failed' | 'sample';

export type RequestTable = {
  /** Measured requests of the run. */
  readonly total: number;
  /** How many failed, in the table or not. */
  readonly failedTotal: number;
  /** Metrics in the order of each row's `values`. */
  readonly columns: readonly {
    readonly key: string;
    readonly label: string;
    readonly title: string;
    readonly unit: string;
  }[];
  /** In order of the index. */
  readonly rows: readonly RequestRowModel[];
};

export type RequestRowModel = {
  readonly index: number;
  readonly reason: RowReason;
  /** `ok`, or the kind of failure. */
  readonly outcome: string;
  /** When it was sent, s after the run's start; `null` = not sent. */
  readonly startS: number | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  /** Chunks of the reply; messages of any kind. */
  readonly messages: number;
  readonly values: readonly (number | null)[];
};

/** One request from close up. Times in ms after it was due. */
export type RequestDetail = {
  readonly requestId: string | null;
  readonly responseId: string | null;
  readonly finishReason: string | null;
  readonly attempts: number;
  readonly status: number | null;
  readonly spans: readonly {
    readonly kind: 'client' | 'network' | 'stage' | 'text' | 'audio' | 'image';
    readonly name: string;
    readonly startMs: number;
    readonly endMs: number;
    readonly firstMs: number | null;
    readonly note: string | null;
  }[];
  readonly path: {
    readonly goal: 'audio' | 'text' | 'reply';
    readonly steps: readonly { readonly kind: StepKind; readonly name: string; readonly ms: number }[];
  } | null;
  /** Tokens that had come by each time; thinned out. */
  readonly tokens: { readonly timesMs: readonly number[]; readonly counts: readonly number[] } | null;
  readonly playback: {
    /** Corners of the buffer's course; thinned out, its lows kept. */
    readonly timesMs: readonly number[];
    readonly bufferS: readonly number[];
    readonly underruns: readonly { readonly startMs: number; readonly lengthMs: number }[];
    /** Of all underruns, also those that are not listed. */
    readonly waitedMs: number;
    readonly underrunCount: number;
  } | null;
  readonly media: readonly Fact[];
  /** The beginning of the reply's text. */
  readonly text: Excerpt;
  readonly failure: {
    readonly kind: string;
    readonly message: Excerpt;
    readonly body: Excerpt | null;
  } | null;
};

/** The beginning of a text that may be long. */
export type Excerpt = {
  readonly text: string;
  /** Characters that follow and are not shown. */
  readonly more: number;
};

/** Failures that look alike. */
export type FailureModel = {
  readonly kind: string;
  readonly status: number | null;
  readonly count: number;
  readonly message: Excerpt;
  /** The bytes that prove it, as text. */
  readonly body: Excerpt | null;
};

/** A named value; numbers have a unit. */
export type Fact = {
  readonly name: string;
  readonly value: string | number;
  /** Empty where there is none. */
  readonly unit: string;
  /** What it means; empty where the name says it. */
  readonly doc: string;
};
export type FactGroup = { readonly title: string; readonly facts: readonly Fact[] };
