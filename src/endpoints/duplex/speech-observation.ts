import type { DuplexRequestRow, DuplexSessionFacts } from '../../records/duplex-session.ts';
import { journalMs } from '../../records/journal-ms.ts';
import type { Attempt } from '../../records/request-record.ts';
import type { Observation } from '../endpoint.ts';
import { sessionIdOf } from './frame-transport.ts';
import { attemptOf, audioOf, outcomeOf, tokensOf } from './live-observation.ts';
import { outputRateHz } from './playback-queue.ts';
import type { SessionFault } from './session-fault.ts';
import { sessionMetrics } from './session-metrics.ts';
import type { SpeechSession } from './speech-session.ts';
import { transcriptChunks } from './transcript.ts';

/**
 * The observation of an utterance.
 * @param earlier tries that the server had no room for
 * @param fault what ended it, or `null`
 */
export function speechObservation(
  session: SpeechSession,
  {
    earlier,
    requestId,
    fault,
  }: {
    earlier: readonly Attempt[];
    requestId: string | null;
    fault: SessionFault | null;
  },
): Observation {
  const { core } = session;
  const { log } = core;
  const rows = rowsOf(session);
  const outputTokens = tokensOf(rows);
  const durationS = (rows[0]?.timings?.audioDurationMs ?? 0) / 1000;
  const facts = factsOf(session, { requestId, fault, rows, outputTokens });
  const attempt = attemptOf(core, fault);
  const audio = audioOf(facts.audioBytes);
  return {
    attempts: [
      ...earlier,
      // The end of a session is no part of what it was for.
      ...(attempt === null ? [] : [{ ...attempt, endMs: session.turnEndMs ?? attempt.endMs }]),
    ],
    events: log.events.build(),
    responses: log.responses(),
    text: facts.transcript,
    promptTokens: null,
    outputTokens,
    outputTokensSource: outputTokens === null ? null : 'stage',
    audio: audio && { ...audio, durationS, frames: Math.floor(durationS * outputRateHz) },
    image: null,
    video: null,
    outcome: fault === null ? { ok: true } : outcomeOf(fault),
    encodedAudio: null,
    duplex: facts,
  };
}

function rowsOf({ core, measured, origin }: SpeechSession): DuplexRequestRow[] {
  if (measured === null || origin === null) return [];
  const row = core.log.timingsOf(measured.id).row(measured.index, measured.id, origin);
  return row === null ? [] : [row];
}

function factsOf(
  session: SpeechSession,
  {
    requestId,
    fault,
    rows,
    outputTokens,
  }: {
    requestId: string | null;
    fault: SessionFault | null;
    rows: readonly DuplexRequestRow[];
    outputTokens: number | null;
  },
): DuplexSessionFacts {
  const { core, measured, origin, pacing } = session;
  const { log } = core;
  const timings = measured === null ? [] : [log.timingsOf(measured.id)];
  const chunks =
    measured === null || origin === null
      ? []
      : transcriptChunks([measured.id], log.texts, {
          segments: log.queue.segments,
          streamStartMs: origin.fromMs,
          horizonS: Number.POSITIVE_INFINITY,
        });
  return {
    sessionId: `realtime-tts:${requestId ?? 'none'}:${Math.round(core.startMs * 1e6)}`,
    serverSessionId: sessionIdOf(core.session),
    caseFacts: {},
    latencyS: journalMs((session.turnEndMs ?? core.endMs) - core.startMs) / 1000,
    streamStartMs: origin === null ? null : journalMs(origin.fromMs),
    inputAudioChunks: pacing.chunks,
    inputVideoFrames: 0,
    pacingMeanLagMs: pacing.meanLagMs === null ? null : journalMs(pacing.meanLagMs),
    pacingMaxLagMs: pacing.maxLagMs === null ? null : journalMs(pacing.maxLagMs),
    responseCount: log.ledger.createdCount,
    audioBytes: timings.reduce((sum, { audioBytes }) => sum + audioBytes, 0),
    audioClippedBytes: 0,
    transcript: chunks.map(({ text }) => text).join(' '),
    transcriptChunks: chunks,
    ineligibleReasons: fault === null ? [] : ['case_failed'],
    warnings: log.warnings.list,
    outputTokens,
    requestRows: rows,
    metrics: sessionMetrics(rows, timings, origin?.fromMs ?? null),
  };
}
