import { InputFileError } from '../foundation/errors.ts';
import type { LoadContext } from './dataset.ts';
import { DatasetRowError } from './entry-file.ts';
import type { RowSource } from './hub/row-source.ts';
import { type SourceRow, sourceRows } from './hub/source-rows.ts';
import { oversampled, withRequestIds } from './oversample.ts';
import type { Sample } from './sample.ts';

/** A sample, why a row is left out on purpose, or what is wrong with it. */
export type RowOutcome = Sample | { readonly leftOut: string } | string;

export type SourceReading = {
  /** Only these columns of Parquet files are read. */
  readonly columns?: readonly string[];
  /** Takes one row of each file in turn. */
  readonly interleave?: true;
  sampleOf(row: unknown): RowOutcome | Promise<RowOutcome>;
};

type Tally = { looked: number; invalid: number; readonly leftOut: Map<string, number> };

async function outcomeOf(
  { row, problem, error }: SourceRow,
  reading: SourceReading,
): Promise<Sample | { readonly leftOut: string }> {
  if (problem !== undefined) throw problem;
  const outcome = await reading.sampleOf(row);
  if (typeof outcome === 'string') throw await error(outcome);
  return outcome;
}

function sayLeftOut({ options, note }: LoadContext, { looked, invalid, leftOut }: Tally): void {
  const reasons = [...leftOut].map(([reason, count]) => `${count} ${reason}`);
  if (invalid > 0) reasons.push(`${invalid} that do not parse`);
  if (reasons.length > 0) note(`${options.name}: of ${looked} rows were left out: ${reasons.join(', ')}.`);
}

/**
 * Samples of the rows of a source, as many as asked for, all of them for `--num-prompts 0`.
 * @throws InputFileError for a row that does not parse, and where none makes a request
 */
export async function sourceSamples(
  source: RowSource,
  reading: SourceReading,
  context: LoadContext,
): Promise<readonly Sample[]> {
  const { options, numPrompts, seed, progress } = context;
  const samples: Sample[] = [];
  const tally: Tally = { looked: 0, invalid: 0, leftOut: new Map() };
  const rows = sourceRows(source, {
    seed,
    purpose: `${options.name}-order`,
    shuffle: !options.disableShuffle,
    allFiles: options.hf.noStream,
    wanted: numPrompts,
    ...(reading.columns === undefined ? {} : { columns: reading.columns }),
    ...(reading.interleave === undefined ? {} : { interleave: reading.interleave }),
  });
  for await (const row of rows) {
    tally.looked += 1;
    try {
      const outcome = await outcomeOf(row, reading);
      if ('leftOut' in outcome)
        tally.leftOut.set(outcome.leftOut, (tally.leftOut.get(outcome.leftOut) ?? 0) + 1);
      else samples.push(outcome);
    } catch (error) {
      if (!options.skipInvalid || !(error instanceof DatasetRowError)) throw error;
      tally.invalid += 1;
    }
    if (numPrompts > 0 && samples.length >= numPrompts) break;
    if (tally.looked % 100 === 0) progress(samples.length, numPrompts);
  }
  sayLeftOut(context, tally);
  if (samples.length === 0)
    throw new InputFileError(
      `${source.name}: none of its ${tally.looked} rows makes a request. Check --hf-subset and --hf-split, and the ` +
        'limits that were given.',
    );
  return oversampled(withRequestIds(samples, context.requestIdPrefix), context);
}
