import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { EvalSample } from '../../accuracy/duplex-eval/eval-sample.ts';
import type { Sentence } from '../../accuracy/duplex-eval/sentences.ts';
import { UnscoredSamples, unscoredOf } from '../../accuracy/duplex-eval/unscored-samples.ts';
import { writeJsonFile } from '../../accuracy/write-json-file.ts';
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

const unscoredFile = 'unscored.json';

/**
 * The samples below a score root that were to be judged and have no score that counts.
 * @throws InputFileError where their list is none
 */
export function readUnscored(scoreRoot: string): UnscoredSamples {
  const path = join(scoreRoot, unscoredFile);
  const value = readJson(path);
  const list = value === null ? [] : unscoredOf(value);
  if (list === null)
    throw new InputFileError(
      `${path}: expected a list of {split, id, error}. Delete it and run evaluate again.`,
    );
  return new UnscoredSamples(list);
}

/** Keeps the list, or removes it where nothing is left. @throws OutputFileError */
export function writeUnscored(scoreRoot: string, { all }: UnscoredSamples): void {
  const path = join(scoreRoot, unscoredFile);
  if (all.length > 0) writeJsonFile(path, all);
  else rmSync(path, { force: true });
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
