import { join } from 'node:path';
import type { ReportOverrides } from '../../bench/serve/options.ts';
import { checkOutputs, type OutputPath } from '../../foundation/check-outputs.ts';
import { runFiles } from '../../records/journal.ts';

/** Where a report's outputs go. */
type Destinations = Pick<
  ReportOverrides,
  | 'html'
  | 'saveResult'
  | 'appendResult'
  | 'resultDir'
  | 'resultFilename'
  | 'plotTimeline'
  | 'plotDatasetStats'
>;

/** Files with a name of the user's choice; those with a name of ours hold the date and are new. */
export function reportOutputs(options: Destinations): OutputPath[] {
  const { html, saveResult, appendResult, resultDir, resultFilename } = options;
  const ownPage = html === null ? [] : [{ flag: '--html', path: html }];
  if (resultFilename === null) return ownPage;
  const path = join(resultDir ?? '', resultFilename);
  const stem = path.replace(/\.json$/, '');
  const plots = [
    ...(options.plotTimeline === null ? [] : ['.timeline.html']),
    ...(options.plotDatasetStats ? ['.dataset_stats.svg', '.dataset_stats.png'] : []),
  ];
  return [
    ...ownPage,
    ...(saveResult || appendResult ? [{ flag: '--result-filename', path }] : []),
    ...plots.map((end) => ({ flag: '--result-filename', path: `${stem}${end}` })),
  ];
}

/**
 * Finds out before anything is sent whether `bench serve` would write over what it reads.
 * @param inputs files that it reads; `null` = not given
 * @throws UsageError naming the flag and the file
 */
export function checkRunOutputs(
  options: Destinations & { readonly runDir: string | null },
  inputs: readonly (string | null)[],
): void {
  const { runDir } = options;
  const journal = runDir === null ? [] : runFiles(runDir).map((path) => ({ flag: '--run-dir', path }));
  checkOutputs(
    [...reportOutputs(options), ...journal],
    inputs.filter((path) => path !== null),
  );
}
