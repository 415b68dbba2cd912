import type { SampleSummary } from '../foundation/statistics.ts';
import type { RequestRecord } from '../records/request-record.ts';
import type { RunFacts } from '../records/run-facts.ts';
import type { DistributionKey, RequestMetricKey, RunMetricKey, StageMetricKey } from './catalogue.ts';
import type { DuplexTimingSources } from './duplex-timing.ts';
import type { FailedRequest, FailureGroup } from './failures.ts';
import type { SampleSketch } from './sample-sketch.ts';
import type { StageClass } from './stage-rows.ts';

/** One stage of the server over all successful requests. */
export type StageSummary = {
  readonly id: string;
  readonly name: string;
  readonly stageClass: StageClass;
  readonly rows: number;
  readonly distributions: Readonly<Record<StageMetricKey, SampleSummary>>;
  /** Sums of the same samples; 0 where none were reported. */
  readonly totals: Readonly<Record<StageMetricKey, number>>;
};

/** One key of the server's profiler over the requests that reported it, in the key's own unit. */
export type StageDurationSummary = {
  readonly key: string;
  readonly mean: number;
  readonly median: number;
  readonly p99: number;
};

/** The probes that ran beside the load. */
export type ProbeSummary = {
  readonly completed: number;
  readonly failed: number;
  readonly medianE2elMs: number;
  readonly p99E2elMs: number;
  readonly maxE2elMs: number;
};

/** What a reader of the figures should know of the replies. */
export type ReplyNotes = {
  /** Audio chunks left out of length and continuity, and why the first was. */
  readonly droppedAudioChunks: number;
  readonly droppedAudioNote: string | null;
  /** Replies whose audio could not be decoded, and why the first could not. */
  readonly undecodedAudioReplies: number;
  readonly undecodedAudioNote: string | null;
  /** Replies whose audio may have been cut, and what the first of them shows. */
  readonly doubtfulAudioReplies: number;
  readonly doubtfulAudioNote: string | null;
  /** Items of image replies that hold no image that decodes. */
  readonly brokenImages: number;
  /** Mean time between two questions about a job, ms; `null` = no request was a job that was polled. */
  readonly meanPollGapMs: number | null;
  /** Jobs that were polled, and those of them whose generation time the server did not report. */
  readonly polledJobs: number;
  readonly untimedJobs: number;
  /** Means over the successful requests that were asked for a length and whose tokens were counted. */
  readonly meanRequestedTokens: number | null;
  readonly meanReceivedTokens: number | null;
  /** Full-duplex sessions with something odd that did not end them, and what the first of them had. */
  readonly oddSessions: number;
  readonly oddSessionNote: string | null;
};

/** One measured request, successful or not, in the units of the JSON's lists. `null` = not observed. */
export type RequestRow = {
  readonly record: RequestRecord;
  readonly inputTokens: number | null;
  /** 0 for requests that failed. */
  readonly outputTokens: number;
  readonly startS: number | null;
  /** In the units of the catalogue; all `null` for requests that failed. */
  readonly values: Readonly<Record<RequestMetricKey, number | null>>;
  /** ms */
  readonly gapsMs: Float64Array;
};

/** Everything that a report says of a run. Made once by `summarize`; reports compute nothing. */
export type RunSummary = {
  readonly facts: RunFacts;
  readonly run: Readonly<Record<RunMetricKey, number | null>>;
  /** Over the successful requests that observed the metric, in the unit of the catalogue. */
  readonly distributions: Readonly<Record<DistributionKey, SampleSummary>>;
  /** The same samples as shapes; `null` where none was observed. */
  readonly sketches: Readonly<Record<DistributionKey, SampleSketch | null>>;
  readonly stages: readonly StageSummary[];
  readonly stageDurations: readonly StageDurationSummary[];
  /** `null` = no probe succeeded. */
  readonly probe: ProbeSummary | null;
  readonly failed: readonly FailedRequest[];
  readonly failureGroups: readonly FailureGroup[];
  readonly notes: ReplyNotes;
  /** `null` = the run had no full-duplex sessions. */
  readonly duplexTiming: DuplexTimingSources | null;
  /** Tokens could be counted, by the server or by a tokenizer. */
  readonly tokensCounted: boolean;
  /** Some successful request carried audio, whether or not its length is known. */
  readonly hasAudio: boolean;
  /** The measured requests in order of their index, derived anew at each call: lists are long and rarely wanted. */
  requests(): Iterable<RequestRow>;
};
