import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EvalSample } from '../../accuracy/duplex-eval/eval-sample.ts';
import type { Sentence } from '../../accuracy/duplex-eval/sentences.ts';
import { InputFileError, messageOf } from '../../foundation/errors.ts';

type Which = Pick<EvalSample, 'id' | 'split'>;

/** The response or the score of a sample: `<root>/<split>/<id>.json`. */
export function samplePath(root: string, { split, id }: Which): string {
  return join(root, split, `${id}.json`);
}

/** How it was made. */
export function metaPath(root: string, { split, id }: Which): string {
  return join(root, split, `${id}.meta.json`);
}

export const metricsFile = 'duplex_metrics.json';
export const summaryFile = 'summary.json';

/** A JSON file; `null` = there is none. @throws InputFileError where it is none */
export function readJson(path: string): unknown {
  if (!existsSync(path)) return null;
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as unknown;
  } catch (cause) {
    throw new InputFileError(`${path}: it is no JSON: ${messageOf(cause)}`, { cause });
  }
}

/**
 * The sentences of a response file.
 * @throws InputFileError where they are missing or none
 */
export function readSentences(path: string): Sentence[] {
  const value = readJson(path);
  if (value === null) throw new InputFileError(`${path}: there is no response. Run generate for it first.`);
  const isSentence = (row: unknown): row is Sentence =>
    typeof row === 'object' &&
    row !== null &&
    'sentence' in row &&
    typeof row.sentence === 'string' &&
    'start' in row &&
    typeof row.start === 'number' &&
    'end' in row &&
    typeof row.end === 'number';
  if (!Array.isArray(value) || !value.every(isSentence))
    throw new InputFileError(`${path}: a response must be a list of {sentence, start, end}.`);
  return value;
}
