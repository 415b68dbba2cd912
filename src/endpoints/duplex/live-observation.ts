import type {
  DuplexArtifacts,
  DuplexRequestRow,
  DuplexSessionFacts,
  DuplexTranscriptChunk,
} from '../../records/duplex-session.ts';
import { journalMs } from '../../records/journal-ms.ts';
import type { Attempt, Outcome } from '../../records/request-record.ts';
import type { Observation } from '../endpoint.ts';
import { asObject, asText, type JsonObject } from '../json-values.ts';
import { sessionIdOf } from './frame-transport.ts';
import type { LiveSession } from './live-session.ts';
import { outputRateHz } from './playback-queue.ts';
import type { SessionCore } from './session-core.ts';
import { SessionFault } from './session-fault.ts';
import { sessionMetrics } from './session-metrics.ts';
import { transcriptChunks } from './transcript.ts';
import { assembleWav } from './wav-assembly.ts';

/** What a session's request said of it, beside its input. */
export type LiveSettings = {
  readonly durationS: number;
  readonly requireResponse: boolean;
  readonly caseFacts: JsonObject;
  readonly requestId: string | null;
};

/** What came of a session's output. */
type Output = {
  readonly chunks: readonly DuplexTranscriptChunk[];
  readonly clippedBytes: number;
  readonly writtenBytes: ReadonlyMap<string, number>;
  /** `null` = the session did not come to its end. */
  readonly wav: Uint8Array<ArrayBuffer> | null;
};

/**
 * The observation of a session that has ended.
 * @param fault what ended it, or `null`
 */
export function liveObservation(
  session: LiveSession,
  settings: LiveSettings,
  fault: SessionFault | null,
): Observation {
  const { core, streamStartMs, pacing } = session;
  const { log } = core;
  const output = outputOf(session, settings, fault === null);
  const failed = fault ?? (settings.requireResponse ? silence(session, output) : null);
  const rows = requestRows(session);
  const transcript = output.chunks.map(({ text }) => text).join(' ');
  const outputTokens = tokensOf(rows);
  const facts: DuplexSessionFacts = {
    sessionId: labelOf(settings, core.startMs),
    serverSessionId: sessionIdOf(core.session),
    caseFacts: settings.caseFacts,
    latencyS: journalMs(core.endMs - core.startMs) / 1000,
    streamStartMs: streamStartMs === null ? null : journalMs(streamStartMs),
    inputAudioChunks: pacing.chunks,
    inputVideoFrames: pacing.frames,
    pacingMeanLagMs: pacing.meanLagMs === null ? null : journalMs(pacing.meanLagMs),
    pacingMaxLagMs: pacing.maxLagMs === null ? null : journalMs(pacing.maxLagMs),
    responseCount: log.ledger.createdCount,
    audioBytes: log.queue.receivedBytes,
    audioClippedBytes: output.clippedBytes,
    transcript,
    transcriptChunks: output.chunks,
    ineligibleReasons: failed === null ? ineligibleReasons(session, output) : ['case_failed'],
    warnings: log.warnings.list,
    outputTokens,
    requestRows: rows,
    metrics: sessionMetrics(
      rows,
      log.createdTimings().map(({ timings }) => timings),
      streamStartMs,
    ),
  };
  return {
    attempts: [attemptOf(core, failed)].flatMap((attempt) => attempt ?? []),
    events: log.events.build(),
    responses: log.responses(),
    text: transcript,
    promptTokens: null,
    outputTokens,
    outputTokensSource: outputTokens === null ? null : 'stage',
    audio: audioOf(log.queue.receivedBytes),
    image: null,
    video: null,
    outcome: failed === null ? { ok: true } : outcomeOf(failed),
    encodedAudio: null,
    duplex: facts,
    ...(log.journal.count > 0 ? { duplexArtifacts: artifactsOf(session, output) } : {}),
  };
}

export function outcomeOf({ kind, message, body }: SessionFault): Outcome {
  return { ok: false, kind, status: null, message, body };
}

/** Of sessions that did not come to their end, what was said is still of interest. */
function outputOf(session: LiveSession, { durationS }: LiveSettings, complete: boolean): Output {
  const { streamStartMs } = session;
  const { log } = session.core;
  const none = { chunks: [], clippedBytes: 0, writtenBytes: new Map<string, number>(), wav: null };
  if (streamStartMs === null) return none;
  const horizonS = Math.ceil(durationS);
  const { segments } = log.queue;
  const chunks = transcriptChunks(log.ledger.created, log.texts, { segments, streamStartMs, horizonS });
  if (!complete) return { ...none, chunks };
  return { chunks, ...assembleWav(segments, streamStartMs, horizonS) };
}

/** What can be written to files: of a session that broke off, its sound up to where that ends. */
function artifactsOf({ core: { log }, streamStartMs }: LiveSession, { wav }: Output): DuplexArtifacts {
  const eventsJson = log.journal.build();
  const { segments, endMs } = log.queue;
  if (wav !== null || streamStartMs === null || segments.length === 0) return { wav, eventsJson };
  const heardS = Math.max(1, Math.ceil((endMs - streamStartMs) / 1000));
  return { wav: assembleWav(segments, streamStartMs, heardS).wav, eventsJson };
}

/** @returns the failure of a session that had to speak and did not, or `null` */
function silence({ core: { log } }: LiveSession, { chunks, writtenBytes }: Output): SessionFault | null {
  const spoke = chunks.some(
    ({ responseId }) => !log.ledger.isCancelled(responseId) && (writtenBytes.get(responseId) ?? 0) > 0,
  );
  if (spoke) return null;
  const message = 'OmniInteract E2E requires a response with audio and transcript';
  return new SessionFault('empty', message).besides(log.warnings.losses);
}

function ineligibleReasons({ core: { log } }: LiveSession, { clippedBytes }: Output): string[] {
  return [
    ...(clippedBytes > 0 ? ['audio_clipped'] : []),
    ...(log.ledger.anyCancelled ? ['cancelled_response'] : []),
    ...(log.queue.truncated ? ['cleared_response'] : []),
  ];
}

function requestRows({ core: { log } }: LiveSession): DuplexRequestRow[] {
  return log.createdTimings().flatMap(({ id, timings }, index) => timings.row(index, id) ?? []);
}

export function tokensOf(rows: readonly DuplexRequestRow[]): number | null {
  const counts = rows.flatMap(({ stageZero }) => stageZero?.outputTokenCount ?? []);
  return counts.length === 0 ? null : counts.reduce((sum, count) => sum + count, 0);
}

function labelOf({ caseFacts, requestId }: LiveSettings, startMs: number): string {
  return `omniinteract:${asText(caseFacts.subset) ?? 'live'}:${requestId ?? 'none'}:${Math.round(startMs * 1e6)}`;
}

/** The try of a session, with the exchange that opened it; `null` where nothing was sent. */
export function attemptOf(
  { connection, startMs, endMs }: SessionCore,
  fault: SessionFault | null,
): Attempt | null {
  const times = connection.times;
  if (times === null) return null;
  const exchange = { ...times, endMs: Math.min(times.endMs ?? endMs, endMs) };
  return { sendMs: startMs, endMs, exchanges: [exchange], error: fault?.message ?? null };
}

export function audioOf(bytes: number): Observation['audio'] {
  if (bytes === 0) return null;
  return {
    format: 'pcm16',
    sampleRateHz: outputRateHz,
    channels: 1,
    sampleBytes: 2,
    frames: bytes / 2,
    durationS: bytes / (outputRateHz * 2),
    bytes,
    droppedChunks: 0,
    note: null,
  };
}

export function settingsObject(value: unknown): JsonObject {
  return asObject(value) ?? {};
}
