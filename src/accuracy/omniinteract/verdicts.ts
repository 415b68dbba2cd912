import { findJsonObject } from '../judge/find-json-object.ts';
import { isMarked, textOf } from './annotation-values.ts';

/** How a verdict was read from an answer. */
export type ParseSource = 'llm_json' | 'llm_float_text';

type Verdict = {
  /** 0 to 1. */
  readonly score: number;
  /** The judge's own figure, where it lay off the scale and counts as its nearer end; `null` = it did not. */
  readonly offScaleScore: number | null;
  readonly rationale: string;
  readonly parseSource: ParseSource;
  /** The judge's answer as it came. */
  readonly raw: string;
};

export type EarlyVerdict = Verdict & { readonly category: 'neutral' | 'hallucination' };
export type CoreVerdict = Verdict & { readonly triggerPhrase: string; readonly spoiler: boolean };
export type PartialVerdict = Verdict & { readonly hallucination: boolean };

type Score = Pick<Verdict, 'score' | 'offScaleScore'>;

/**
 * A score as judges write it: a number, or one in quotation marks; off the scale it counts as the scale's nearer end,
 * as officially. `null` = it is none.
 */
function scoreOf(value: unknown): Score | null {
  const given = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof given !== 'number' || !Number.isFinite(given)) return null;
  const score = Math.min(1, Math.max(0, given));
  return { score, offScaleScore: score === given ? null : given };
}

function onScale(score: number): Score {
  return { score, offScaleScore: null };
}

/**
 * The verdict on what was said before the answer was due. A neutral flag alone is full marks, and one with a score
 * that is no number none, as officially; without a flag there is no verdict.
 */
export function readEarlyVerdict(raw: string): EarlyVerdict | null {
  const found = findJsonObject(raw);
  if (found === null) return null;
  const flag = textOf(found.flag).toLowerCase().replaceAll('-', '_').replaceAll(/\s/g, '');
  const base = { rationale: textOf(found.rationale), parseSource: 'llm_json', raw } as const;
  if (flag.includes('hallucination')) return { ...base, category: 'hallucination', ...onScale(0) };
  if (!flag.includes('neutral')) return null;
  const score = found.score === undefined ? onScale(1) : (scoreOf(found.score) ?? onScale(0));
  return { ...base, category: 'neutral', ...score };
}

/**
 * The verdict on the answer itself. An answer in plain words counts by the first number in it, as officially; one that
 * is off the scale is a time or a count and no score.
 */
export function readCoreVerdict(raw: string): CoreVerdict | null {
  const found = findJsonObject(raw);
  const base = { rationale: textOf(found?.rationale), raw };
  const score = found === null ? null : scoreOf(found.score);
  const triggerPhrase = textOf(found?.trigger_phrase);
  const spoiler = isMarked(found?.spoiler);
  if (score !== null) return { ...base, ...score, triggerPhrase, spoiler, parseSource: 'llm_json' };
  const number = firstNumber(raw);
  if (number === null || number < 0 || number > 1) return null;
  return { ...base, ...onScale(number), triggerPhrase, spoiler, parseSource: 'llm_float_text' };
}

/** The verdict on what was said of an answer that was broken off. */
export function readPartialVerdict(raw: string): PartialVerdict | null {
  const found = findJsonObject(raw);
  const score = found === null ? null : scoreOf(found.score);
  if (found === null || score === null) return null;
  return {
    ...score,
    hallucination: isMarked(found.hallucination),
    rationale: textOf(found.rationale),
    parseSource: 'llm_json',
    raw,
  };
}

function firstNumber(text: string): number | null {
  const found = /[-+]?(?:\d+\.?\d*|\.\d+)/.exec(text);
  return found === null ? null : Number(found[0]);
}
