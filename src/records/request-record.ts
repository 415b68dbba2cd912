import type { DuplexSessionFacts } from './duplex-session.ts';
import type { EventLog } from './event-log.ts';

/** `measured` records alone enter metrics; the others are kept so that nothing that was sent is hidden. */
export type RecordRole = 'measured' | 'warmup' | 'probe' | 'readiness';

/** One HTTP exchange. A streamed chat has one; a polled job has many. Times in ms on the run's clock. */
export type Exchange = {
  readonly method: string;
  readonly url: string;
  /** Just before the request was written; a queue for a connection lies before it. */
  readonly sendMs: number;
  /** When the connection was made ready for this exchange; equal to `sendMs` where one was reused. */
  readonly connectedMs: number | null;
  readonly connectionReused: boolean;
  /** When the status line and headers were complete. */
  readonly headersMs: number | null;
  /** When the body ended, or the exchange failed. */
  readonly endMs: number | null;
  readonly status: number | null;
  readonly requestBytes: number;
  readonly responseBytes: number;
};

/** One try at a request. Its first exchange's `sendMs` is the origin of that try's latencies. */
export type Attempt = {
  readonly sendMs: number;
  readonly endMs: number;
  readonly exchanges: readonly Exchange[];
  /** Why a try that was repeated had failed. */
  readonly error: string | null;
};

/** A stage's snapshot exactly as the server sent it, unknown fields too. */
export type StageSnapshot = Readonly<Record<string, unknown>>;

/** One response of the server; a chat has one, a duplex session many. */
export type ResponseFacts = {
  readonly id: string | null;
  readonly finishReason: string | null;
  /** The last usage object, verbatim. */
  readonly usage: Readonly<Record<string, unknown>> | null;
  /** Stage id → snapshot; later messages overwrite fields of the same stage. Empty where none were sent. */
  readonly stages: Readonly<Record<string, StageSnapshot>>;
  /** Profiler durations by key, units as in the key's name. Empty where none were sent. */
  readonly stageDurations: Readonly<Record<string, number>>;
  /** Largest figure seen, MB; `null` = not reported. */
  readonly peakMemoryMb: number | null;
};

/** Audio received with a request. The samples themselves are never in the record. */
export type AudioFacts = {
  /** `wav`, `mp3`, … as asked for or announced. */
  readonly format: string;
  /** `null` = not known. */
  readonly sampleRateHz: number | null;
  readonly channels: number | null;
  readonly sampleBytes: number | null;
  /** Samples per channel in all; `null` = could not be decoded. */
  readonly frames: number | null;
  /** Decoded length, s; `null` = could not be decoded. */
  readonly durationS: number | null;
  /** Bytes of payload as received (after base64). */
  readonly bytes: number;
  /** Chunks left out of `frames` because their parameters differ from the first chunk's, or because they do not parse. */
  readonly droppedChunks: number;
  /** What was wrong with the first dropped chunk, why decoding failed, or what makes the length doubtful. */
  readonly note: string | null;
};

/** Images received with a request. */
export type ImageFacts = {
  readonly count: number;
  /** Sum of width × height over images whose size is known; `null` = none is known. */
  readonly pixels: number | null;
  /** How many images `pixels` covers. */
  readonly sizedCount: number;
  /** Items that claim to be an image and do not decode; not among `count`. */
  readonly broken: number;
  /** Time the server says it spent on making them, ms; `null` = not reported. */
  readonly generationMs: number | null;
  readonly denoiseStepMs: number | null;
};

/** A video received with a request. */
export type VideoFacts = {
  readonly durationS: number | null;
  readonly frames: number | null;
  readonly generationMs: number | null;
};

export type FailureKind =
  /** A status other than the expected ones. */
  | 'http'
  /** The stream carried an error event. */
  | 'stream_error'
  /** The time limit ran out. */
  | 'timeout'
  /** No connection: refused, no such host, TLS. */
  | 'connect'
  /** The connection broke before the reply was complete. */
  | 'reset'
  /** A complete reply that holds no output. */
  | 'empty'
  /** Bytes that do not parse as what they claim to be. */
  | 'malformed'
  /** A reply of another content type than the endpoint's. */
  | 'content_type'
  /** A line or body above the client's limit. */
  | 'limit'
  /** Stopped by the user or by the end of the run. */
  | 'aborted'
  /** The job that the request created ended in failure. */
  | 'job_failed'
  /** Refused by the client before it was sent. */
  | 'unsendable';

export type Outcome =
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly kind: FailureKind;
      readonly status: number | null;
      /** Says what happened and, where something can be done, what. */
      readonly message: string;
      /** The start of the reply that proves it, as it came: as text, or as a base64 data URL where it is none. */
      readonly body: string | null;
    };

/**
 * What happened to one request: observations only, immutable; every number of a report is derived from records.
 * Times are ms on the run's monotonic clock. `null` = not observed.
 */
export type RequestRecord = {
  /** Position in the run's plan, from 0; of its role. */
  readonly index: number;
  readonly role: RecordRole;
  readonly requestId: string | null;
  /** Name of the endpoint adapter. */
  readonly endpoint: string;
  /** `model` as sent (a LoRA's name where one was assigned). */
  readonly model: string;
  /** When the schedule wanted it sent. */
  readonly intendedMs: number | null;
  /** When a concurrency slot was granted. */
  readonly admittedMs: number | null;
  /** In order; the last is the one that the outcome speaks of. Empty when nothing was sent. */
  readonly attempts: readonly Attempt[];
  readonly events: EventLog;
  readonly responses: readonly ResponseFacts[];
  /** Generated text, without reasoning. */
  readonly text: string;
  /** Prompt length as the client counted it. */
  readonly plannedPromptTokens: number | null;
  /** Prompt length as the server reported it. */
  readonly promptTokens: number | null;
  readonly expectedOutputTokens: number | null;
  readonly outputTokens: number | null;
  /** Where `outputTokens` comes from; `null` with it. */
  readonly outputTokensSource: 'usage' | 'stage' | 'tokenizer' | null;
  readonly audio: AudioFacts | null;
  readonly image: ImageFacts | null;
  readonly video: VideoFacts | null;
  readonly inputAudioDurationS: number | null;
  /** A full-duplex session; `null` = the request was none. */
  readonly duplex: DuplexSessionFacts | null;
  readonly outcome: Outcome;
  /**
   * Measured by an earlier run of the same command, which was cut off, and kept: its times were moved so that the parts
   * stand one after the other.
   */
  readonly kept?: true;
};
