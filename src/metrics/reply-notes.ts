import { mean } from '../foundation/statistics.ts';
import type { RequestRecord } from '../records/request-record.ts';
import type { ReplyNotes } from './summary.ts';

/** What is odd about the successful replies, in order of their requests. */
export function replyNotesOf(succeeded: readonly RequestRecord[]): ReplyNotes {
  const audio = succeeded.map((record) => record.audio).filter((facts) => facts !== null);
  const dropped = audio.filter((facts) => facts.droppedChunks > 0);
  const undecoded = audio.filter((facts) => facts.durationS === null);
  const doubtful = audio.filter(
    ({ durationS, droppedChunks, note }) => durationS !== null && droppedChunks === 0 && note !== null,
  );
  const odd = succeeded.filter(({ duplex }) => (duplex?.warnings.length ?? 0) > 0);
  const polled = succeeded.filter((record) => pollGapsMs(record).length > 0);
  const requested: number[] = [];
  const received: number[] = [];
  for (const { expectedOutputTokens, outputTokens } of succeeded) {
    if (expectedOutputTokens === null || outputTokens === null) continue;
    requested.push(expectedOutputTokens);
    received.push(outputTokens);
  }
  return {
    droppedAudioChunks: dropped.reduce((sum, facts) => sum + facts.droppedChunks, 0),
    droppedAudioNote: dropped[0]?.note ?? null,
    undecodedAudioReplies: undecoded.length,
    undecodedAudioNote: undecoded[0]?.note ?? null,
    doubtfulAudioReplies: doubtful.length,
    doubtfulAudioNote: doubtful[0]?.note ?? null,
    brokenImages: succeeded.reduce((sum, { image }) => sum + (image?.broken ?? 0), 0),
    meanPollGapMs: mean(succeeded.flatMap(pollGapsMs)),
    polledJobs: polled.length,
    untimedJobs: polled.filter(({ video }) => !((video?.generationMs ?? 0) > 0)).length,
    meanRequestedTokens: mean(requested),
    meanReceivedTokens: mean(received),
    oddSessions: odd.length,
    oddSessionNote: odd[0]?.duplex?.warnings[0] ?? null,
  };
}

/** Times between the end of one answer about a job and the next question, ms. */
function pollGapsMs({ attempts }: RequestRecord): number[] {
  const exchanges = attempts.at(-1)?.exchanges ?? [];
  return exchanges.slice(1).flatMap(({ method, url, sendMs }, i) => {
    const beforeMs = exchanges[i]?.endMs ?? null;
    const asks = method === 'GET' && !url.endsWith('/content');
    return asks && beforeMs !== null ? [sendMs - beforeMs] : [];
  });
}
