import { joinWords } from './join-words.ts';
import type { Slot } from './slot.ts';
import type { AlignedWord, TranscriptChunk } from './transcript.ts';

/** A chunk, or a part of one, in the slot that it belongs to. */
export type MatchedChunk = {
  readonly sourceId: number;
  readonly text: string;
  /** The text of the whole chunk. */
  readonly fullText: string;
  /** From the first word to the last, where words are known. */
  readonly startS: number;
  readonly endS: number;
  readonly words: readonly AlignedWord[];
  /** The answer counts as begun here although its first word comes later: its sentence had begun before. */
  readonly effectiveStartHintS: number | null;
};

/** What was said in a slot: all of it, before the answer was due, and from then on. Each by time. */
export type MatchedSlot = {
  readonly slot: Slot;
  readonly all: readonly MatchedChunk[];
  readonly early: readonly MatchedChunk[];
  readonly core: readonly MatchedChunk[];
};

/**
 * Gives each chunk to the slot in which it begins; of several to the one that began last, so that an inner question
 * wins over the outer one. A chunk with words that goes on across the answer's time is split there.
 */
export function matchChunks(
  slots: readonly Slot[],
  chunks: readonly TranscriptChunk[],
): { readonly matched: readonly MatchedSlot[]; readonly unmatched: readonly TranscriptChunk[] } {
  const bySlot = new Map<Slot, TranscriptChunk[]>(slots.map((slot) => [slot, []]));
  const unmatched: TranscriptChunk[] = [];
  for (const chunk of chunks) {
    const slot = slotOf(slots, chunk.startS);
    if (slot === null) unmatched.push(chunk);
    else bySlot.get(slot)?.push(chunk);
  }
  return { matched: slots.map((slot) => matchedSlot(slot, bySlot.get(slot) ?? [])), unmatched };
}

function slotOf(slots: readonly Slot[], startS: number): Slot | null {
  const open = slots.filter((slot) => slot.startS <= startS && startS < slot.endS);
  return open.sort((a, b) => b.startS - a.startS || b.slotId - a.slotId)[0] ?? null;
}

function matchedSlot(slot: Slot, chunks: readonly TranscriptChunk[]): MatchedSlot {
  const parts = chunks.map((chunk) => splitAt(chunk, slot.answerS));
  const byTime = (list: readonly MatchedChunk[]): MatchedChunk[] =>
    [...list].sort((a, b) => a.startS - b.startS || a.endS - b.endS);
  return {
    slot,
    all: byTime(chunks.map((chunk) => matchedChunk(chunk, null, null))),
    early: byTime(parts.flatMap(({ early }) => early)),
    core: byTime(parts.flatMap(({ core }) => core)),
  };
}

function splitAt(chunk: TranscriptChunk, answerS: number): { early: MatchedChunk[]; core: MatchedChunk[] } {
  const crosses = chunk.startS < answerS && answerS < chunk.endS;
  if (!crosses || chunk.words.length === 0) {
    const whole = [matchedChunk(chunk, null, null)];
    return chunk.startS < answerS ? { early: whole, core: [] } : { early: [], core: whole };
  }
  const before = chunk.words.filter(({ startS }) => startS < answerS);
  const after = chunk.words.filter(({ startS }) => startS >= answerS);
  return {
    early: before.length > 0 ? [matchedChunk(chunk, before, null)] : [],
    core: after.length > 0 ? [matchedChunk(chunk, after, answerS)] : [],
  };
}

/** @param part the words of a part of the chunk; `null` = the whole */
function matchedChunk(
  chunk: TranscriptChunk,
  part: readonly AlignedWord[] | null,
  effectiveStartHintS: number | null,
): MatchedChunk {
  const words = part ?? chunk.words;
  return {
    sourceId: chunk.sourceId,
    text: part === null ? chunk.text : joinWords(part),
    fullText: chunk.text,
    startS: words[0]?.startS ?? chunk.startS,
    endS: words.at(-1)?.endS ?? chunk.endS,
    words,
    effectiveStartHintS,
  };
}
