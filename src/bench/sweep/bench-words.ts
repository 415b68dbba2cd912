import { existsSync, rmSync } from 'node:fs';
import { join, parse } from 'node:path';
import { applyParameters } from './apply-parameters.ts';
import type { ParameterItem } from './parameter-file.ts';

/** What a sweep always asks for, so that its runs can be plotted against each other. */
const sweepMetrics = ['ttft', 'tpot', 'itl', 'e2el'];

/**
 * The benchmark's command for one run: with the setting's parameters, saving its result to a file of the sweep. Metrics
 * that the command asks for itself stay; a run folder and an HTML report get a place of their own for each run.
 * @param outputPath the run's result file
 */
export function benchWords(command: readonly string[], item: ParameterItem, of: Place): string[] {
  const words = withOwnPage(withRunFolder(applyParameters(command, item), of), of);
  const asked = valuesOf(words, '--percentile-metrics').flatMap((value) => value.split(','));
  const metrics = [...new Set([...sweepMetrics, ...asked.map((name) => name.trim())])].filter(
    (name) => name !== '',
  );
  return [
    ...words,
    ...['--percentile-metrics', metrics.join(',')],
    '--save-result',
    ...['--result-dir', of.folder],
    ...['--result-filename', of.fileName],
  ];
}

function valuesOf(words: readonly string[], flag: string): string[] {
  return words.flatMap((word, i) => {
    const name = word.split('=')[0]?.replaceAll('_', '-');
    if (name !== flag) return [];
    return word.includes('=') ? [word.slice(word.indexOf('=') + 1)] : [words[i + 1] ?? ''];
  });
}

/** The folder that a run of the command journals to; `null` = the command names none. */
function runFolderOf(words: readonly string[]): string | null {
  return valuesOf(words, '--run-dir').at(-1) ?? null;
}

/** The place of one run. */
type Place = { readonly folder: string; readonly fileName: string; readonly experimentDir: string };

function combinationOf(of: Place): string {
  return of.folder.slice(of.experimentDir.length).replace(/^\/+/, '');
}

/** `report.html` becomes `report-BENCH--max_concurrency=1-run=0.html`: each run would overwrite that of the last. */
function withOwnPage(words: readonly string[], of: Place): string[] {
  const base = valuesOf(words, '--html').at(-1);
  if (base === undefined) return [...words];
  const { dir, name, ext } = parse(base);
  const parts = [name, combinationOf(of), of.fileName.replace(/\.json$/, '')].filter((part) => part !== '');
  return [...words, '--html', join(dir, `${parts.join('-')}${ext}`)];
}

function withRunFolder(words: readonly string[], of: Place): string[] {
  const base = runFolderOf(words);
  if (base === null) return [...words];
  const own = join(base, combinationOf(of), of.fileName.replace(/\.json$/, ''));
  return [...words, '--run-dir', own];
}

/** Removes the run folder of a run that was cut off: the run is made anew, and a folder takes one run only. */
export function removeCutOff(words: readonly string[]): void {
  const folder = runFolderOf(words);
  if (folder !== null && existsSync(join(folder, 'run.json'))) rmSync(folder, { recursive: true });
}
