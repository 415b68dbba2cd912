/** Who timed a response: the server from the start of its model turn, or this client from what it received. */
export type DuplexTimingSource = 'server_request_start_and_client_receive' | 'client_monotonic_receive';

/** Count, mean and nearest-rank percentiles of a session's responses. */
export type DuplexStatistic = {
  readonly count: number;
  readonly mean: number;
  readonly p50: number;
  readonly p99: number;
};

/** Engine timing of a response's text stage; `null` = the server did not say. */
export type DuplexStageZero = {
  readonly outputTokenCount: number | null;
  readonly ttftMs: number | null;
  readonly tpotMs: number | null;
  /** Gaps between tokens, ms, verbatim; empty where none were sent. */
  readonly itlsMs: readonly number[];
};

/** What a measured time starts from, in words, as it stands in the result file. */
export type DuplexOrigins = {
  readonly ttft: string;
  readonly ttfp: string;
  readonly rtf: string;
  /** Absent where the engine timed no tokens. */
  readonly tpot?: string;
};

/** Timings of a response that had audio; ms, `null` = not observed. */
export type DuplexResponseTimings = {
  readonly source: DuplexTimingSource;
  readonly origins: DuplexOrigins;
  /** The server's figure where it sent one, else the client's. */
  readonly ttftMs: number | null;
  readonly ttfpMs: number | null;
  /** From `response.created` to the last audio, both as received. */
  readonly audioGenerationMs: number | null;
  readonly audioDurationMs: number;
  /** Generation over duration; `null` where the duration is 0 or nothing was timed. */
  readonly rtf: number | null;
  /** From `response.created` to the first text and first audio, both as received. */
  readonly clientTtftMs: number | null;
  readonly clientTtfpMs: number | null;
};

/** One response of a session that had audio or engine metrics. */
export type DuplexRequestRow = {
  /** Position among the session's responses, by creation, from 0. */
  readonly requestIndex: number;
  readonly responseId: string;
  /** `null` = the response had no audio. */
  readonly timings: DuplexResponseTimings | null;
  /** `null` = no snapshot of stage 0 came. */
  readonly stageZero: DuplexStageZero | null;
  /** Stage id → last snapshot, verbatim. */
  readonly stages: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
};

/** Timings over the whole session, from the start of the input stream; ms, `null` = not observed. */
export type DuplexStreamTimings = {
  readonly ttftMs: number | null;
  readonly ttfpMs: number | null;
  readonly rtf: number | null;
  readonly audioGenerationMs: number;
  readonly audioDurationMs: number;
  readonly origins: DuplexOrigins;
};

/** Figures of a session over its rows. */
export type DuplexSessionMetrics = {
  readonly audioTurnCount: number;
  readonly ttftMs: DuplexStatistic | null;
  readonly ttfpMs: DuplexStatistic | null;
  readonly rtf: DuplexStatistic | null;
  /** Rows with a positive TPOT only. */
  readonly tpotMs: DuplexStatistic | null;
  readonly clientTtftMs: DuplexStatistic | null;
  readonly clientTtfpMs: DuplexStatistic | null;
  /** `null` = the session had no audio. */
  readonly stream: DuplexStreamTimings | null;
};

/** What one response said, on the playback clock. */
export type DuplexTranscriptChunk = {
  readonly responseId: string;
  readonly text: string;
  /** Start and end of its playback, s after the input stream began. */
  readonly timestampS: readonly [number, number];
};

/**
 * A full-duplex session, as its result file tells it. Present for every session, also one that failed on its way; what
 * did not come about is then 0, empty or `null`. It is plain data: the sound itself travels as {@link DuplexArtifacts}.
 */
export type DuplexSessionFacts = {
  /** This client's label: `omniinteract:<subset>:<request id>:<ns>`, the subset from `caseFacts.subset`. */
  readonly sessionId: string;
  /** As the server named it; `null` = the session was not opened. */
  readonly serverSessionId: string | null;
  /** Plain data of the sample, by which its dataset finds the case again. */
  readonly caseFacts: Readonly<Record<string, unknown>>;
  /** From before the connection to the confirmed close, s. */
  readonly latencyS: number;
  /** When the input stream began, ms on the run's clock; `null` = it did not. */
  readonly streamStartMs: number | null;
  readonly inputAudioChunks: number;
  readonly inputVideoFrames: number;
  /** How late chunks of input left, mean and worst; `null` where none did. */
  readonly pacingMeanLagMs: number | null;
  readonly pacingMaxLagMs: number | null;
  /** Responses created. */
  readonly responseCount: number;
  readonly audioBytes: number;
  /** Bytes that lay after the end of the input and are not in the WAV. */
  readonly audioClippedBytes: number;
  /** Texts of the chunks, joined by a space. */
  readonly transcript: string;
  readonly transcriptChunks: readonly DuplexTranscriptChunk[];
  /** Why the case does not count in the official evaluation, e.g. `audio_clipped`, `case_failed`; empty = it counts. */
  readonly ineligibleReasons: readonly string[];
  readonly warnings: readonly string[];
  /** Sum of the text stage's tokens over all responses; `null` = no response had a count. */
  readonly outputTokens: number | null;
  readonly requestRows: readonly DuplexRequestRow[];
  readonly metrics: DuplexSessionMetrics;
};

/**
 * What a session left to be written to files; of one that failed, what had come by then. They travel beside its record,
 * never in it, and own their memory, so that they can be handed from thread to thread.
 */
export type DuplexArtifacts = {
  /** What was heard, as a WAV file; of a failed session no longer than that. `null` = it failed unheard. */
  readonly wav: Uint8Array<ArrayBuffer> | null;
  /** The events received, as a JSON file, UTF-8. */
  readonly eventsJson: Uint8Array<ArrayBuffer>;
};
