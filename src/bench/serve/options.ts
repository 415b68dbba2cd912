import type { JudgeTarget } from '../../accuracy/judge/judge-client.ts';
import type { Gate } from '../../report/compare/gate.ts';
import type { DatasetOptions } from '../../workloads/dataset.ts';

/** Everything `bench serve` was asked to do, after defaults, file, environment and flags are merged and checked. */
export type BenchServeOptions = {
  readonly argv: readonly string[];
  readonly omni: boolean;
  /** Connection and model. */
  readonly backend: string;
  readonly baseUrl: string;
  readonly endpointPath: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly apiKey: string | null;
  readonly insecure: boolean;
  /** `null` = ask the server for its first model. */
  readonly model: string | null;
  readonly servedModelName: string | null;
  readonly tokenizer: string | null;
  readonly tokenizerMode: string;
  readonly trustRemoteCode: boolean;
  readonly skipTokenizerInit: boolean;
  readonly loraModules: readonly string[];
  readonly loraAssignment: 'random' | 'round-robin';
  /** Load. */
  readonly numPrompts: number;
  readonly requestRate: number;
  readonly burstiness: number;
  readonly maxConcurrency: number | null;
  readonly rampUp: {
    readonly strategy: 'linear' | 'exponential';
    readonly startRps: number;
    readonly endRps: number;
  } | null;
  readonly probeRequestRate: number;
  readonly numWarmups: number;
  /** `first` repeats the first prompt as the reference does; `own` makes prompts that the run does not use. */
  readonly warmupPrompts: 'first' | 'own';
  readonly readyCheckTimeoutS: number;
  readonly profile: boolean;
  readonly seed: number;
  readonly loadThreads: number | 'auto';
  readonly arrivalClock: 'worker' | 'timer' | 'spin';
  readonly transport: 'socket' | 'node-http';
  readonly newConnectionPerRequest: boolean;
  readonly requestTimeoutS: number;
  readonly maxLineBytes: number;
  /** Request content. */
  readonly stream: boolean;
  readonly ignoreEos: boolean;
  readonly logprobs: number | null;
  /** Sampling flags first, then `--extra-body`, which wins. */
  readonly extraBody: Readonly<Record<string, unknown>>;
  /** Fetch the file of each finished video job. */
  readonly videoDownload: boolean;
  readonly requestIdPrefix: string;
  /** Dataset. */
  readonly dataset: DatasetOptions;
  /** `null` = another dataset. */
  readonly omniinteract: OmniInteractRunOptions | null;
  /** Report. */
  readonly percentileMetrics: readonly string[];
  readonly metricPercentiles: readonly number[];
  readonly goodput: Readonly<Record<string, number>>;
  readonly printStage: boolean;
  /** Longest gap of playback that still counts as continuous, s. */
  readonly continuityThresholdS: number;
  readonly saveResult: boolean;
  readonly saveDetailed: boolean;
  readonly appendResult: boolean;
  readonly resultDir: string | null;
  readonly resultFilename: string | null;
  /** File of the HTML report; `null` = none. */
  readonly html: string | null;
  /** Draw the timeline of requests: from where on gaps are orange and red, ms; `null` = don't. */
  readonly plotTimeline: readonly [number, number] | null;
  /** Draw the lengths of requests. */
  readonly plotDatasetStats: boolean;
  /** What must hold of the result. */
  readonly thresholds: readonly Gate[];
  readonly label: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly runDir: string | null;
  readonly journal: boolean;
  readonly disableProgress: boolean;
  /** Several lines of progress where there is a terminal. */
  readonly live: boolean;
};

/** What a run of the dataset omniinteract leaves behind. */
export type OmniInteractRunOptions = {
  /** Folder of the artifacts. */
  readonly outputDir: string;
  /** `null` = what was said is not judged. */
  readonly evaluation: {
    readonly judge: Omit<JudgeTarget, 'temperature'>;
    /** `null` = our own prompts. */
    readonly promptsFile: string | null;
    readonly workers: number;
    readonly skipExisting: boolean;
    readonly outputDir: string;
  } | null;
};

/** What `omnimeter report` asks of a stored run; `null` = as the run was asked. */
export type ReportOverrides = {
  readonly percentileMetrics: readonly string[] | null;
  readonly metricPercentiles: readonly number[] | null;
  readonly goodput: Readonly<Record<string, number>> | null;
  readonly printStage: boolean | null;
  readonly label: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly saveResult: boolean;
  readonly saveDetailed: boolean;
  readonly appendResult: boolean;
  readonly resultDir: string | null;
  readonly resultFilename: string | null;
  /** File of the HTML report; `null` = none. */
  readonly html: string | null;
  readonly plotTimeline: readonly [number, number] | null;
  readonly plotDatasetStats: boolean;
  /** What must hold of the result. */
  readonly thresholds: readonly Gate[];
};

/** The terminal as a command sees it. */
export type CommandIo = {
  /** Writes one line. */
  readonly stdout: (line: string) => void;
  readonly stderr: (line: string) => void;
  /** Replaces the lines that stand at the end of standard error and change; only where `isTty`. */
  readonly redraw: (lines: readonly string[]) => void;
  /** What was last redrawn stays, and is written on below. */
  readonly settle: () => void;
  /** Progress may be redrawn in place: standard error is a terminal. */
  readonly isTty: boolean;
  /** Width of the terminal, characters. */
  readonly columns: number;
  /** Calls the handler at every SIGINT and SIGTERM until the command ends. */
  onInterrupt(handler: () => void): void;
};
