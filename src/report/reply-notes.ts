import { formatFixed } from '../foundation/python-format.ts';
import type { ReplyNotes, RunSummary } from '../metrics/summary.ts';
import { sanitizeForTerminal } from './sanitize-for-terminal.ts';

/** What a reader should know before trusting the figures, for the lines after the report. Empty where all is well. */
export function renderReplyNotes({ notes, duplexTiming, run }: RunSummary): string[] {
  const lines: string[] = [];
  const because = (note: string | null): string => (note === null ? '' : ` (${sanitizeForTerminal(note)})`);
  if (run.kept_requests !== null)
    lines.push(
      `${run.kept_requests} of the requests were measured by an earlier run that was cut off; the time between the two is not part of the duration.`,
    );
  if (notes.droppedAudioChunks > 0)
    lines.push(
      `${notes.droppedAudioChunks} audio chunks were left out${because(notes.droppedAudioNote)}. Audio frames/duration may be undercounted.`,
    );
  if (notes.undecodedAudioReplies > 0)
    lines.push(
      `The audio of ${notes.undecodedAudioReplies} replies could not be decoded${because(notes.undecodedAudioNote)}; their duration and RTF are not known.`,
    );
  if (notes.doubtfulAudioReplies > 0)
    lines.push(
      `The audio of ${notes.doubtfulAudioReplies} replies may be incomplete or misread${because(notes.doubtfulAudioNote)}; it was counted as it came.`,
    );
  if (notes.oddSessions > 0)
    lines.push(
      `${notes.oddSessions} sessions have remarks${because(notes.oddSessionNote)}: see artifact_warnings of each case, or duplex.warnings in the run's records.`,
    );
  if (duplexTiming !== null && duplexTiming.untimedSessions > 0)
    lines.push(
      `${duplexTiming.untimedSessions} sessions omitted complete engine token timing; standard TPOT/ITL are unavailable for them. The server sends it with return_stage_metrics, see --print-stage.`,
    );
  if (duplexTiming !== null && duplexTiming.byServer > 0 && duplexTiming.byClient > 0)
    lines.push(
      `${duplexTiming.byClient} of ${duplexTiming.byServer + duplexTiming.byClient} responses were timed by the client alone, from another moment than the server's: TTFT and TTFP mix the two. See source in duplex_request_metrics.`,
    );
  if (notes.brokenImages > 0)
    lines.push(
      `${notes.brokenImages} items of image replies hold no image that decodes and were not counted.`,
    );
  if (notes.meanPollGapMs !== null)
    lines.push(
      `Jobs were asked after every ${formatFixed(notes.meanPollGapMs / 1000, 2)} s on average: their E2EL is late by up to that. ${videoTimes(notes)} See poll_interval_s in --extra-body.`,
    );
  const { meanRequestedTokens: requested, meanReceivedTokens: received } = notes;
  if (requested !== null && received !== null && received < 0.95 * requested)
    lines.push(
      `Replies had ${formatFixed(received, 1)} tokens on average where ${formatFixed(requested, 1)} were asked for. If lengths should be exact, see --ignore-eos.`,
    );
  return lines;
}

/** Where the times of videos come from: without the server's word, the real-time factor is E2EL over the length. */
function videoTimes({ polledJobs, untimedJobs }: ReplyNotes): string {
  if (untimedJobs === 0) return "VIDEO_RTF and VIDEO_GENERATION are the server's own times.";
  const whose = untimedJobs === polledJobs ? 'these jobs' : `${untimedJobs} of ${polledJobs} jobs`;
  return `The server reported no generation time of ${whose}: their VIDEO_RTF is made of E2EL and contains the polling.`;
}
