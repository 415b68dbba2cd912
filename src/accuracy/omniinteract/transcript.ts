import { InputFileError } from '../../foundation/errors.ts';
import { isRow, type Row, rowsOf, secondsOf, textOf } from './annotation-values.ts';

/** A word and when it was heard, s. */
export type AlignedWord = { readonly text: string; readonly startS: number; readonly endS: number };

/** What was said in one response, and when it was heard; seconds since the start of the input. */
export type TranscriptChunk = {
  /** Its place in the transcript, from 0. */
  readonly sourceId: number;
  readonly text: string;
  readonly startS: number;
  readonly endS: number;
  /** By time; empty where nobody aligned the words. */
  readonly words: readonly AlignedWord[];
};

/** How exactly the times of a transcript are known. */
export type TimingPrecision = 'word-aligned' | 'chunk-level-approximate';

export type Transcript = {
  /** By time. */
  readonly chunks: readonly TranscriptChunk[];
  readonly timingPrecision: TimingPrecision;
  /** Chunks that say something, nobody knows when. */
  readonly leftOutChunks: number;
  /** Words of the other chunks, nobody knows when. */
  readonly leftOutWords: number;
};

/**
 * Reads `wav_transcript.json`. Chunks without a pair of times are left out and counted; a pair the wrong way round is
 * turned. Chunks without text say nothing.
 * @throws InputFileError where it is no transcript, or nothing that it says has a time
 */
export function readTranscript(value: unknown): Transcript {
  if (!isRow(value) || !Array.isArray(value.chunks))
    throw new InputFileError('a transcript must be a JSON object with chunks[].');
  const list: readonly unknown[] = value.chunks;
  const spoken = list.filter((row) => !isRow(row) || textOf(row.text) !== '').length;
  const chunks = list
    .flatMap((row, i) => (isRow(row) ? chunkOf(row, i) : []))
    .sort((a, b) => a.startS - b.startS || a.endS - b.endS || a.sourceId - b.sourceId);
  if (chunks.length === 0 && spoken > 0)
    throw new InputFileError(
      `none of its ${spoken} chunks has text and a timestamp of two times in seconds, so that nothing can be judged.`,
    );
  const isAligned = chunks.length > 0 && chunks.every(({ words }) => words.length > 0);
  const words = chunks.reduce((sum, { sourceId }) => sum + wordCount(list[sourceId]), 0);
  return {
    chunks,
    timingPrecision: isAligned ? 'word-aligned' : 'chunk-level-approximate',
    leftOutChunks: spoken - chunks.length,
    leftOutWords: words - chunks.reduce((sum, chunk) => sum + chunk.words.length, 0),
  };
}

function wordCount(row: unknown): number {
  return isRow(row) && Array.isArray(row.aligned_words) ? row.aligned_words.length : 0;
}

type Span = { readonly startS: number; readonly endS: number };

function spanOf(from: unknown, to: unknown): Span | null {
  const a = secondsOf(from);
  const b = secondsOf(to);
  return a === null || b === null ? null : { startS: Math.min(a, b), endS: Math.max(a, b) };
}

function chunkOf(row: Row, sourceId: number): TranscriptChunk[] {
  const { timestamp } = row;
  if (!Array.isArray(timestamp) || timestamp.length !== 2) return [];
  const span = spanOf(timestamp[0], timestamp[1]);
  const text = textOf(row.text);
  if (span === null || text === '') return [];
  const words = rowsOf(row.aligned_words)
    .flatMap(wordOf)
    .sort((a, b) => a.startS - b.startS || a.endS - b.endS);
  return [{ sourceId, text, ...span, words }];
}

function wordOf(row: Row): AlignedWord[] {
  const span = spanOf(row.start, row.end);
  const text = textOf(row.text);
  return span === null || text === '' ? [] : [{ text, ...span }];
}
