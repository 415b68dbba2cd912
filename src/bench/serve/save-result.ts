import { accessSync, appendFileSync, constants, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf, OutputFileError, UsageError } from '../../foundation/errors.ts';
import { makeFolder } from '../../foundation/make-folder.ts';
import type { RunSummary } from '../../metrics/summary.ts';
import { dateLabelOf, resultFileName } from '../../report/result-file-name.ts';
import { renderResultJson } from '../../report/result-json.ts';
import type { BenchServeOptions, CommandIo } from './options.ts';

export type SaveOptions = Pick<
  BenchServeOptions,
  'saveResult' | 'saveDetailed' | 'appendResult' | 'resultDir' | 'resultFilename'
>;

/**
 * Writes the result as JSON: a file of its own, or a line appended to one.
 * @throws OutputFileError when it can't be written
 */
export function saveResult(summary: RunSummary, options: SaveOptions, io: CommandIo): void {
  if (!options.saveResult && !options.appendResult) return;
  const dateLabel = dateLabelOf(new Date(summary.facts.startedAt));
  const path = join(
    options.resultDir ?? '',
    options.resultFilename ?? resultFileName(summary.facts, dateLabel),
  );
  const text = JSON.stringify(renderResultJson(summary, { detailed: options.saveDetailed, dateLabel }));
  try {
    makeFolder(dirname(path) || '.');
    if (options.appendResult) appendFileSync(path, `${sizeOf(path) > 0 ? '\n' : ''}${text}`);
    else {
      writeFileSync(`${path}.part`, text);
      renameSync(`${path}.part`, path);
    }
  } catch (cause) {
    throw new OutputFileError(
      `cannot write the result to ${path}: ${messageOf(cause)}. Give --result-dir a folder that can be written.`,
      { cause },
    );
  }
  io.stderr(`Result saved to ${path}`);
}

/**
 * Finds out before anything is sent whether the result can be written; a long run must not end with nowhere to put it.
 * @throws UsageError naming the flag that is at fault
 */
export function checkResultPath(options: SaveOptions): void {
  if (!options.saveResult && !options.appendResult) return;
  const { resultFilename, resultDir } = options;
  if (resultFilename !== null && (resultFilename === '' || /[/\\]$/.test(resultFilename)))
    throw new UsageError(
      `--result-filename '${resultFilename}' is no file name. Give the name of a file, e.g. result.json.`,
    );
  const path = join(resultDir ?? '', resultFilename ?? 'result.json');
  const folder = dirname(path);
  try {
    makeFolder(folder);
    accessSync(folder, constants.W_OK);
  } catch (cause) {
    throw new UsageError(
      `cannot write results into ${folder}: ${messageOf(cause)}. Give --result-dir a folder that can be written.`,
      { cause },
    );
  }
  if (resultFilename !== null && statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(
      `--result-filename ${resultFilename}: ${path} is a folder. Give the name of a file.`,
    );
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
