import type { DuplexArtifacts, DuplexSessionFacts } from '../records/duplex-session.ts';
import type { RequestRecord } from '../records/request-record.ts';
import type { EndpointTraits } from '../records/run-facts.ts';
import type { Transport } from '../transport/transport.ts';
import type { Sample } from '../workloads/sample.ts';

/** Where and how a run's requests go: the same for all requests of a run. */
export type Target = {
  readonly baseUrl: string;
  /** Absolute URL of the endpoint. */
  readonly url: string;
  /** `model` on the wire. */
  readonly model: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly extraBody: Readonly<Record<string, unknown>>;
  readonly ignoreEos: boolean;
  readonly logprobs: number | null;
  /** Ask for a streamed reply. */
  readonly stream: boolean;
  /** Fetch the file of a finished video job. */
  readonly videoDownload?: boolean;
};

/** A request ready to be written: nothing is serialised after the run's clock has started. */
export type PreparedRequest = {
  readonly method: 'POST';
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array;
  readonly model: string;
  /** How to read the reply; plain data. */
  readonly reading: Readonly<Record<string, unknown>>;
  /** Why this request can't be sent: it becomes a failed request with this message, and the run goes on. */
  readonly unsendable?: string;
  /** Lines for the user, e.g. which fields of `--extra-body` have no place in this API. Each is said once a run. */
  readonly notes?: readonly string[];
};

/** What an observation adds to a record; the load engine knows the rest. */
export type Observation = Pick<
  RequestRecord,
  | 'attempts'
  | 'events'
  | 'responses'
  | 'text'
  | 'promptTokens'
  | 'outputTokens'
  | 'outputTokensSource'
  | 'audio'
  | 'image'
  | 'video'
  | 'outcome'
> & {
  /** Encoded audio to decode once the request is over, off the load thread; `null` = none. */
  readonly encodedAudio: { readonly format: string; readonly bytes: Uint8Array } | null;
  /** Absent = the request was no full-duplex session. */
  readonly duplex?: DuplexSessionFacts;
  /** What a live session left to be written to files. */
  readonly duplexArtifacts?: DuplexArtifacts;
};

/** What decides whether stage metrics are asked for. */
export type StageMetricsNeed = {
  /** Names in force, given or default. */
  readonly percentileMetrics: readonly string[];
  readonly extraBody: Readonly<Record<string, unknown>>;
};

/** What an adapter may use while a request is under way. */
export type ObserveContext = {
  readonly transport: Transport;
  /** Whole-request limit, ms; 0 = none. */
  readonly timeoutMs: number;
  /** Longest line of a stream that is accepted, bytes. */
  readonly maxLineBytes: number;
  readonly stop: StopSignal;
};

/**
 * Tells requests under way that the run stops. Not an AbortSignal: with thousands of requests listening at once,
 * adding and removing must not depend on their number.
 */
export type StopSignal = {
  readonly stopped: boolean;
  /** @returns a function that takes the handler back */
  onStop(handler: () => void): () => void;
};

/** One API dialect: how a sample becomes a request, and bytes an observation. It knows no statistics and no schedule. */
export type Endpoint = {
  readonly name: string;
  /** One sentence for help and docs. */
  readonly doc: string;
  /** As error messages call it, e.g. `OpenAI Chat Completions API`. */
  readonly apiName: string;
  readonly defaultPath: string;
  /** What a URL must end with. */
  readonly urlSuffixes: readonly string[];
  readonly task: 'generation' | 'pooling';
  /**
   * What a prompt is here: messages, to which the server applies its chat template; text that a model goes on with, to
   * which the client must apply it; or plain text to speak, draw or embed, to which none belongs.
   */
  readonly prompts: 'messages' | 'continued' | 'plain';
  /** Takes sampling parameters such as `temperature`. */
  readonly samplingParameters: boolean;
  /** Sampling parameters that this API does not know, by their name in the body. */
  readonly refusedSampling?: readonly string[];
  /** Held over a WebSocket: what rehearses HTTP requests does not fit. */
  readonly overWebSocket?: true;
  /** Takes `bot_task`, for which `--image-edits-bot-task` has a default. */
  readonly takesBotTask?: true;
  readonly traits: EndpointTraits;
  /** Whether a run needs stage metrics although `--print-stage` does not ask for them; absent = never. */
  wantsStageMetrics?(run: StageMetricsNeed): boolean;
  /** Loads what reading a reply takes, so that the first reply of a run does not pay for it. */
  warmUp?(): Promise<void>;
  /** @throws UsageError when the sample or the target cannot be expressed in this dialect */
  prepare(sample: Sample, target: Target): PreparedRequest;
  /** Sends and watches one request. Never rejects: every failure is in the observation's outcome. */
  observe(prepared: PreparedRequest, context: ObserveContext): Promise<Observation>;
};
