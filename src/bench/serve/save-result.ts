import { appendFileSync, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf, OutputFileError } from '../../foundation/errors.ts';
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
    mkdirSync(dirname(path) || '.', { recursive: true });
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

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
