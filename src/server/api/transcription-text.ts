import type { TranscriptionSegment, VerboseTranscription } from '../../protocol/transcriptions.ts';

/** Words in one segment. */
const wordsPerSegment = 10;

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

function rounded(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}

/** Cuts a text into segments of some words, spread evenly over the audio: a simulated model heard no pauses. */
export function segmentsOf(text: string, durationS: number): TranscriptionSegment[] {
  const words = wordsOf(text);
  const perWordS = words.length === 0 ? 0 : durationS / words.length;
  const segments: TranscriptionSegment[] = [];
  for (let from = 0; from < words.length; from += wordsPerSegment) {
    const to = Math.min(words.length, from + wordsPerSegment);
    segments.push({
      id: segments.length,
      seek: 0,
      start: rounded(from * perWordS),
      end: rounded(to * perWordS),
      text: ` ${words.slice(from, to).join(' ')}`,
      tokens: [],
      temperature: 0,
      avg_logprob: 0,
      compression_ratio: 1,
      no_speech_prob: 0,
    });
  }
  return segments;
}

/** Words and where they stand. */
export function timedWords(text: string, durationS: number): NonNullable<VerboseTranscription['words']> {
  const words = wordsOf(text);
  const perWordS = words.length === 0 ? 0 : durationS / words.length;
  return words.map((word, index) => ({
    word,
    start: rounded(index * perWordS),
    end: rounded((index + 1) * perWordS),
  }));
}

/** Hours, minutes, seconds and ms of a subtitle. */
function timestamp(seconds: number, decimalSign: ',' | '.'): string {
  const ms = Math.round(seconds * 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  return (
    `${two(Math.floor(ms / 3_600_000))}:${two(Math.floor(ms / 60_000) % 60)}:${two(Math.floor(ms / 1000) % 60)}` +
    `${decimalSign}${String(ms % 1000).padStart(3, '0')}`
  );
}

/** SubRip. */
export function subRip(segments: readonly TranscriptionSegment[]): string {
  return segments
    .map(
      ({ start, end, text }, index) =>
        `${index + 1}\n${timestamp(start, ',')} --> ${timestamp(end, ',')}\n${text.trim()}\n\n`,
    )
    .join('');
}

/** WebVTT. */
export function webVtt(segments: readonly TranscriptionSegment[]): string {
  const cues = segments.map(
    ({ start, end, text }) => `${timestamp(start, '.')} --> ${timestamp(end, '.')}\n${text.trim()}\n\n`,
  );
  return `WEBVTT\n\n${cues.join('')}`;
}
