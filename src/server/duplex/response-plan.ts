import type { Random } from '../../foundation/random.ts';
import { realtimeAudio } from '../../protocol/realtime-events.ts';
import { simulatedToken } from '../engine/sim-text.ts';
import { type DuplexLaws, drawQuantile } from './duplex-laws.ts';
import type { ResponseFault, ScriptedResponse } from './duplex-script.ts';

/** One pair of deltas: sound and what is said in it. */
export type PlannedChunk = {
  /** After the response's start, ms. */
  readonly atMs: number;
  /** 0 = text alone. */
  readonly samples: number;
  readonly text: string;
  /** Tokens, characters and ms of sound up to the end of this chunk. */
  readonly tokens: number;
  readonly textChars: number;
  readonly audioMs: number;
};

/** How a response ends. */
export type ResponseStatus = 'completed' | 'cancelled' | 'failed';

/** What a response will say, and when. */
export type ResponsePlan = {
  readonly delayMs: number;
  readonly chunks: readonly PlannedChunk[];
  /** The language stage's own times; one gap fewer than tokens. */
  readonly firstTokenMs: number;
  readonly tokenGapsMs: readonly number[];
  readonly status: ResponseStatus;
  readonly reason: string | null;
  readonly speak: boolean;
  /** It turns out that the model listens on. */
  readonly listen: boolean;
  readonly listenMs: number;
  /** The output buffer is cleared after so much sound, ms; `null` = it is not. */
  readonly clearAfterMs: number | null;
  readonly functionCall: { readonly name: string; readonly arguments: string } | null;
  readonly fault: ResponseFault | null;
};

export type PlanParts = {
  readonly laws: DuplexLaws;
  readonly random: Random;
  /** On all durations. */
  readonly timeScale: number;
  readonly countTokens: (text: string) => number;
  /** Speech; otherwise text alone. */
  readonly aloud: boolean;
};

/** A response of which nothing is scripted. */
export const plainResponse: ScriptedResponse = {
  delay_ms: 0,
  delta_ms: 1000,
  speak: true,
  listen: false,
};

/** Words in a second of speech. */
const wordsPerS = 3;
const { outputRateHz } = realtimeAudio;

/** Pieces that are about a token each: a word with the blank before it, or a character of a script without blanks. */
function piecesOf(text: string): string[] {
  return (
    text.match(
      /\s*[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|\s*[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+|\s+$/gu,
    ) ?? []
  );
}

function simulatedWords(count: number, random: Random): string {
  const start = random.integer(0, 10_000);
  let text = '';
  for (let index = 0; index < count; index += 1) text += simulatedToken(start, index);
  return text.trimStart();
}

/** Every response draws the same numbers, so that what a script sets for one does not shift the next. */
function drawn(random: Random, laws: DuplexLaws) {
  return {
    ttftMs: drawQuantile(laws.ttftMs, random.uniform()),
    rtf: drawQuantile(laws.rtf, random.uniform()),
    tpotMs: drawQuantile(laws.tpotMs, random.uniform()),
    audioS: random.integer(2, 4),
  };
}

/** Text and sound in equal parts, at their times. */
function chunksOf(given: {
  readonly text: string;
  readonly tokens: number;
  readonly samples: number;
  readonly perDelta: number;
  readonly keptSamples: number;
  readonly firstMs: number;
  readonly lastMs: number;
}): PlannedChunk[] {
  const pieces = piecesOf(given.text);
  const aloud = given.samples > 0;
  const count = aloud ? Math.ceil(given.samples / given.perDelta) : pieces.length;
  const chunks: PlannedChunk[] = [];
  let said = 0;
  let textChars = 0;
  for (let index = 0; index < count; index += 1) {
    const start = index * given.perDelta;
    const samples = aloud ? Math.min(given.perDelta, given.samples - start, given.keptSamples - start) : 0;
    if (aloud && samples <= 0) break;
    const until = index === count - 1 ? pieces.length : Math.ceil(((index + 1) * pieces.length) / count);
    const text = pieces.slice(said, until).join('');
    said = until;
    textChars += text.length;
    const share = count === 1 ? 0 : index / (count - 1);
    chunks.push({
      atMs: given.firstMs + share * (given.lastMs - given.firstMs),
      samples,
      text,
      tokens: Math.round((given.tokens * until) / Math.max(1, pieces.length)),
      textChars,
      audioMs: Math.floor(((start + samples) * 1000) / outputRateHz),
    });
  }
  return chunks;
}

/** Draws what is not scripted. Times are on the server's clock, scaled. */
export function planResponse(scripted: ScriptedResponse, parts: PlanParts): ResponsePlan {
  const { laws, random, timeScale, aloud } = parts;
  const draw = drawn(random, laws);
  const audioS = scripted.audio_s ?? lengthOf(scripted.text, draw.audioS);
  const words = simulatedWords(Math.round(audioS * wordsPerS), random);
  const text = scripted.text ?? words;
  const tokens = text === '' ? 0 : Math.max(1, parts.countTokens(text));
  const tpotMs = scripted.tpot_ms ?? draw.tpotMs;
  const tokenGapsMs = Array.from(
    { length: Math.max(0, tokens - 1) },
    () => tpotMs * (0.9 + 0.2 * random.uniform()) * timeScale,
  );
  const firstMs = scripted.ttft_ms ?? draw.ttftMs;
  const samples = aloud ? Math.round(audioS * outputRateHz) : 0;
  const keptS = scripted.stop_after_s ?? Number.POSITIVE_INFINITY;
  const lastMs = aloud ? (scripted.rtf ?? draw.rtf) * audioS * 1000 : firstMs + tokens * tpotMs;
  const silent = aloud && samples === 0;
  const chunks = silent
    ? []
    : chunksOf({
        text,
        tokens,
        samples,
        perDelta: Math.max(1, Math.round((scripted.delta_ms * outputRateHz) / 1000)),
        keptSamples: Math.round(keptS * outputRateHz),
        firstMs: firstMs * timeScale,
        lastMs: Math.max(firstMs, lastMs) * timeScale,
      });
  const status = scripted.status ?? (scripted.stop_after_s === undefined ? 'completed' : 'cancelled');
  return {
    delayMs: scripted.delay_ms * timeScale,
    chunks,
    firstTokenMs: laws.firstTokenMs * timeScale,
    tokenGapsMs,
    status,
    reason: scripted.reason ?? defaultReasons[status],
    speak: scripted.speak,
    listen: scripted.listen,
    listenMs: laws.listenMs * timeScale,
    clearAfterMs: scripted.clear_after_s === undefined ? null : scripted.clear_after_s * 1000,
    functionCall: scripted.function_call ?? null,
    fault: scripted.fault ?? null,
  };
}

const defaultReasons: Readonly<Record<ResponseStatus, string | null>> = {
  completed: null,
  cancelled: 'barge_in',
  failed: 'engine_error',
};

/** A scripted text is spoken at the usual pace, at least a second long. */
function lengthOf(text: string | undefined, drawnS: number): number {
  if (text === undefined) return drawnS;
  return text === '' ? 0 : Math.max(1, Math.round((piecesOf(text).length / wordsPerS) * 10) / 10);
}
