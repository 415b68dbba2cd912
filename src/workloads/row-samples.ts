import { InputFileError, UsageError } from '../foundation/errors.ts';
import { randomStream, shuffled } from '../foundation/random.ts';
import type { LoadContext } from './dataset.ts';
import { DatasetRowError, type EntryFile, openEntryFile } from './entry-file.ts';
import { oversampled, withRequestIds } from './oversample.ts';
import type { Sample } from './sample.ts';

/** How the rows of a file become samples; a string says what is wrong with a row. */
export type RowReading<R> = {
  /** What a row must look like, for messages. */
  readonly form: string;
  parse(value: unknown): R | string;
  sampleOf(row: R): Sample | string | Promise<Sample | string>;
  /** `--skip-invalid` leaves out rows that make no sample too, as those whose media cannot be loaded. */
  readonly skipsUnusable?: true;
  /** Whether a row is one of those asked for; absent = all are. */
  isWanted?(row: R): boolean;
  /**
   * Called once every row has been looked at.
   * @throws UsageError where what was asked for does not exist
   */
  checkWanted?(): void;
};

/** @throws UsageError without a path, or with one that is no JSONL by its name */
export function jsonlPath({ options }: LoadContext, form: string, dataset: string): string {
  if (options.path === null)
    throw new UsageError(`--dataset-name ${options.name} needs --dataset-path: a .jsonl file, ${form}.`);
  if (!options.path.endsWith('.jsonl'))
    throw new UsageError(
      `--dataset-path ${options.path}: Only JSONL format is supported for ${dataset}. Expected a name that ` +
        `ends in .jsonl and ${form}.`,
    );
  return options.path;
}

async function parsed<R>(file: EntryFile, index: number, reading: RowReading<R>): Promise<R> {
  const row = reading.parse(await file.read(index));
  if (typeof row === 'string') throw await file.error(index, row);
  return row;
}

/** Rows that can be sent, by position. Every row is looked at, so that a bad one shows whatever the seed. */
async function usableRows<R>(
  file: EntryFile,
  reading: RowReading<R>,
  { options, note }: LoadContext,
): Promise<number[]> {
  const usable: number[] = [];
  let invalid = 0;
  for (let index = 0; index < file.count; index += 1) {
    try {
      const row = await parsed(file, index, reading);
      if (reading.isWanted?.(row) !== false) usable.push(index);
    } catch (error) {
      if (!options.skipInvalid || !(error instanceof DatasetRowError)) throw error;
      invalid += 1;
    }
  }
  reading.checkWanted?.();
  if (invalid > 0)
    note(`${options.name}: ${invalid} of ${file.count} rows were left out, because they do not parse.`);
  return usable;
}

async function takeSamples<R>(
  file: EntryFile,
  reading: RowReading<R>,
  context: LoadContext,
): Promise<Sample[]> {
  const { options, numPrompts, seed, progress } = context;
  const usable = await usableRows(file, reading, context);
  const order = options.disableShuffle
    ? usable
    : shuffled(randomStream(seed, `${options.name}-order`), usable);
  const taken = numPrompts > 0 ? order.slice(0, numPrompts) : order;
  const skips = reading.skipsUnusable === true && options.skipInvalid;
  const samples: Sample[] = [];
  const unusable: string[] = [];
  for (const index of taken) {
    const sample = await reading.sampleOf(await parsed(file, index, reading));
    if (typeof sample !== 'string') samples.push(sample);
    else if (skips) unusable.push(sample);
    else throw await file.error(index, sample);
    if (samples.length % 100 === 0) progress(samples.length, taken.length);
  }
  if (unusable.length > 0)
    context.note(
      `${options.name}: ${unusable.length} of ${taken.length} rows were left out, because they cannot be sent: ${unusable[0]}`,
    );
  return samples;
}

/**
 * Samples of a file with a row per request: shuffled unless `--disable-shuffle`, repeated until there are enough
 * unless `--no-oversample`, all of them for `--num-prompts 0`.
 */
export async function rowSamples<R>(
  path: string,
  reading: RowReading<R>,
  context: LoadContext,
): Promise<readonly Sample[]> {
  const file = await openEntryFile(path);
  try {
    const samples = await takeSamples(file, reading, context);
    if (samples.length === 0) throw new InputFileError(`${path}: no row to send. Expected ${reading.form}.`);
    return oversampled(withRequestIds(samples, context.requestIdPrefix), context);
  } finally {
    await file.close();
  }
}
