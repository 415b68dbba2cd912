import type { Observation } from '../endpoints/endpoint.ts';
import type { DuplexArtifacts } from '../records/duplex-session.ts';
import type { RecordRole, RequestRecord } from '../records/request-record.ts';
import type { TransportOptions } from '../transport/transport.ts';
import type { PackedRequests } from './request-table.ts';

export type ArrivalClock = 'worker' | 'timer' | 'spin';

/** What a load thread is started with. */
export type LoadThreadConfig = {
  readonly endpoint: string;
  readonly transport: 'socket' | 'node-http';
  readonly transportOptions: TransportOptions;
  readonly maxLineBytes: number;
  /** Run the client's own code on a loopback stream before anything is measured. */
  readonly selfWarmup: boolean;
};

/** A set of requests that all threads share. */
export type PhaseMessage = {
  readonly type: 'phase';
  readonly phase: number;
  readonly role: RecordRole;
  readonly requests: PackedRequests;
  readonly control: SharedArrayBuffer;
  /** Due times after `startMs`, ms; `null` = all at once. */
  readonly dueMs: Float64Array | null;
  /** `worker` = someone else raises the due count and sends `wake`. */
  readonly clock: ArrivalClock;
  readonly timeoutMs: number;
};

export type ToLoadThread =
  | PhaseMessage
  /** The phase that was loaded begins; ms on the process's clock. */
  | { readonly type: 'go'; readonly startMs: number }
  /** Requests may have come due. */
  | { readonly type: 'wake' }
  /** Aborts every request under way. */
  | { readonly type: 'abort' }
  /** Starts, or with `report` ends, the watch over the thread itself. */
  | { readonly type: 'watch'; readonly report: boolean }
  | { readonly type: 'close' };

/** A record before the main thread has counted tokens and decoded audio. */
export type RawRecord = {
  readonly record: RequestRecord;
  readonly encodedAudio: Observation['encodedAudio'];
  /** Files of a full-duplex session that succeeded; the receiver owns their memory. */
  readonly duplexArtifacts?: DuplexArtifacts;
};

/** A raw record and the phase that it belongs to. */
export type PhaseRecord = RawRecord & { readonly phase: number };

export type ThreadHealth = {
  readonly loopDelayP99Ms: number;
  readonly loopDelayMaxMs: number;
  readonly loopUtilizationRatio: number;
  readonly gcPauseMs: number;
  readonly connectionsOpened: number;
  readonly connectionsReused: number;
};

export type FromLoadThread =
  | { readonly type: 'ready' }
  | { readonly type: 'loaded' }
  | { readonly type: 'records'; readonly records: readonly PhaseRecord[] }
  | { readonly type: 'health'; readonly health: ThreadHealth };

/** What the arrival clock thread is started with. */
export type ArrivalClockConfig = {
  readonly control: SharedArrayBuffer;
  readonly dueMs: Float64Array;
  /** Holds the start, ms on the process's clock, once it is known; NaN before. */
  readonly start: SharedArrayBuffer;
};
