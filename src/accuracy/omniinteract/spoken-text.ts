import { joinWords, separatorOf } from './join-words.ts';
import type { MatchedChunk } from './match-chunks.ts';

/** A text of which some characters are known to the second. */
type TimedText = { readonly text: string; readonly startsS: readonly (number | null)[] };

/** The text of a chunk: that of its words, where they are known, so that each character has a time. */
function timedText({ words, text }: MatchedChunk): TimedText {
  if (words.length === 0) return { text, startsS: Array<null>(text.length).fill(null) };
  const gap = separatorOf(words);
  const startsS = words.flatMap((word, i) => [
    ...Array<null>(i === 0 ? 0 : gap.length).fill(null),
    ...Array<number>(word.text.length).fill(word.startS),
  ]);
  return { text: joinWords(words), startsS };
}

/** The texts of chunks, one after the other with nothing between, as the official evaluation puts them together. */
export function spokenText(chunks: readonly MatchedChunk[]): string {
  return chunks
    .map((chunk) => timedText(chunk).text)
    .join('')
    .trim();
}

/** The whole texts that chunks are parts of, each once, by time. */
export function fullContext(part: readonly MatchedChunk[], all: readonly MatchedChunk[]): string {
  const wanted = new Set(part.map(({ sourceId }) => sourceId));
  const texts = all.filter(({ sourceId }) => wanted.has(sourceId)).map(({ fullText }) => fullText);
  return texts.join('').trim();
}

/** Quotation marks that judges put around a phrase. */
const quotes = /^["'“”‘’]+|["'“”‘’]+$/g;

/**
 * When the phrase that answers a question was first heard, s: found as it stands, else whatever the case of its
 * letters. `null` = it is not there, or none of its characters has a time.
 */
export function phraseStartS(chunks: readonly MatchedChunk[], phrase: string): number | null {
  const wanted = phrase.trim().replace(quotes, '');
  if (wanted === '') return null;
  const timed = chunks.map(timedText);
  const text = timed.map((each) => each.text).join('');
  const exact = text.indexOf(wanted);
  const at = exact >= 0 ? exact : foldedIndex(text, wanted);
  if (at < 0) return null;
  const startsS = timed.flatMap((each) => each.startsS);
  return startsS.slice(at, at + wanted.length).find((startS) => startS !== null) ?? null;
}

/** Letters whose lower case is longer than they are would move every place behind them: they are left alone. */
function foldedIndex(text: string, wanted: string): number {
  const fold = (each: string): string =>
    Array.from({ length: each.length }, (_, i) => {
      const lower = each.charAt(i).toLowerCase();
      return lower.length === 1 ? lower : each.charAt(i);
    }).join('');
  return fold(text).indexOf(fold(wanted));
}
