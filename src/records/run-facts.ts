export const endpointOutputs = ['text', 'speech', 'pictures', 'pooling'] as const;
export type EndpointOutput = (typeof endpointOutputs)[number];

/** How the endpoint's records are to be read; comes from its adapter, so that a report needs no adapter. */
export type EndpointTraits = {
  /** Adapter name, as given to `--backend`. */
  readonly name: string;
  /** Gaps between chunks, or split over the tokens of each chunk where counts were seen. */
  readonly itl: 'chunk_gap' | 'token_split';
  /** Latency ends with the last token-bearing event, the last message of any kind, or the end of the body. */
  readonly latencyEnd: 'last_choice' | 'last_message' | 'body_end';
  /**
   * What is asked for, which decides what a report says where it did not come: text (alone or beside other media),
   * speech, pictures (images or videos), or pooled vectors and scores.
   */
  readonly output: EndpointOutput;
};

/** What the load engine saw of itself. `null` = not measured. */
export type SelfMeasurement = {
  readonly loadThreads: number;
  readonly transport: string;
  readonly arrivalClock: string;
  /** Send minus the moment at which the request was due and had a free slot, ms. */
  readonly sendLagP50Ms: number | null;
  readonly sendLagP99Ms: number | null;
  readonly sendLagMaxMs: number | null;
  /** Event-loop delay of the load threads beyond the sampling resolution, ms; the worst thread. */
  readonly loopDelayP99Ms: number | null;
  readonly loopDelayMaxMs: number | null;
  /** Event-loop utilisation of the busiest load thread, 0–1. */
  readonly loopUtilizationRatio: number | null;
  /** CPU seconds of the whole process during the run, user + system. */
  readonly cpuS: number | null;
  /** Garbage-collection pauses in load threads, ms in all. */
  readonly gcPauseMs: number | null;
  readonly connectionsOpened: number | null;
  readonly connectionsReused: number | null;
  readonly maxInFlight: number | null;
};

/** Where the client ran. */
export type RunEnvironment = {
  readonly nodeVersion: string;
  readonly platform: string;
  readonly architecture: string;
  readonly cpuModel: string;
  readonly cpuCount: number;
  readonly memoryBytes: number;
};

export type RpsChangeEvent = { readonly rps: number; readonly timestamp: string };

/** Everything of a run that is not in its records: the plan, the arguments, versions, the wall clock. `run.json`. */
export type RunFacts = {
  readonly format: 1;
  readonly omnimeterVersion: string;
  readonly argv: readonly string[];
  /** Local time, ISO 8601 with offset, of `startMs`; the run's one wall-clock time. */
  readonly startedAt: string;
  /** Add to a record's ms to get the host's CLOCK_MONOTONIC in ms. */
  readonly hostClockOffsetMs: number;
  /** Just before the first arrival, ms on the run's clock; `null` = the measured part never began. */
  readonly startMs: number | null;
  /** When the last measured request and the probe loop had ended; `null` = the run was cut off. */
  readonly endMs: number | null;
  readonly interrupted: boolean;
  /** Measured requests that have a record; `null` = the run was cut off, or is of before this was recorded. */
  readonly measuredCount: number | null;
  readonly omni: boolean;
  readonly endpoint: EndpointTraits;
  readonly url: string;
  readonly modelId: string;
  readonly servedModelName: string | null;
  readonly tokenizerId: string | null;
  /** Tokens could be counted on the client. */
  readonly hasTokenizer: boolean;
  readonly dataset: string;
  readonly numPrompts: number;
  /** Requests per second; `null` = infinite. */
  readonly requestRate: number | null;
  /** Shape of the gap law; `null` = constant gaps. */
  readonly burstiness: number | null;
  readonly maxConcurrency: number | null;
  readonly rampUp: {
    readonly strategy: 'linear' | 'exponential';
    readonly startRps: number;
    readonly endRps: number;
  } | null;
  readonly rpsChangeEvents: readonly RpsChangeEvent[];
  readonly seed: number;
  readonly label: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** Effective names, in the order given. */
  readonly percentileMetrics: readonly string[];
  readonly metricPercentiles: readonly number[];
  /** SLO key → limit, in the unit of the flag (ms, or a ratio for rtf). Empty = none asked for. */
  readonly goodput: Readonly<Record<string, number>>;
  readonly printStage: boolean;
  readonly continuityThresholdS: number;
  /** Temperature on the wire; `null` = the server's default. */
  readonly temperature: number | null;
  readonly self: SelfMeasurement | null;
  /** What the dataset made of the finished run, by key as the result file spells it; empty for most datasets. */
  readonly datasetResults: Readonly<Record<string, unknown>>;
  /** What it has to say of it, for below the report. */
  readonly datasetLines: readonly string[];
  /** `null` = not recorded. */
  readonly environment: RunEnvironment | null;
};
