import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import {
  type EvalSummary,
  type ScoredSample,
  summarizeScores,
} from '../../accuracy/duplex-eval/summarize-scores.ts';
import { writeJsonFile } from '../../accuracy/write-json-file.ts';
import { InputFileError } from '../../foundation/errors.ts';
import { formatFixed } from '../../foundation/python-format.ts';
import { textColumns } from '../../foundation/text-columns.ts';
import type { CommandIo } from '../serve/options.ts';
import { readJson, summaryFile } from './eval-files.ts';

/**
 * Sums up the scores below a folder, prints the means and writes `summary.json` there.
 * @throws InputFileError where the folder holds no score
 */
export function summarize(scoreRoot: string, io: CommandIo): void {
  const summary = summarizeScores(readScores(scoreRoot));
  writeJsonFile(join(scoreRoot, summaryFile), summary);
  for (const line of summaryLines(summary)) io.stdout(line);
  io.stderr(`Summary written to ${join(scoreRoot, summaryFile)}`);
}

function readScores(root: string): ScoredSample[] {
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory())
    throw new InputFileError(`--score-root ${root}: there is no such folder. evaluate makes it.`);
  const files = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => readdirSync(join(root, name)).map((file) => join(root, name, file)))
    .filter((path) => path.endsWith('.json'))
    .sort();
  const scores = files.map(readJson).filter(isScore);
  if (scores.length === 0)
    throw new InputFileError(`--score-root ${root}: it holds no scores. Run evaluate first.`);
  return scores;
}

function isScore(value: unknown): value is ScoredSample {
  if (typeof value !== 'object' || value === null) return false;
  if (!('id' in value && 'task_type' in value && 'rtd' in value && 'pr' in value)) return false;
  const { rtd, pr } = value;
  const hasRtd =
    typeof rtd === 'object' && rtd !== null && 'content_score' in rtd && 'avg_temporal_score' in rtd;
  return hasRtd || (typeof pr === 'object' && pr !== null && 'all_success' in pr);
}

function summaryLines({ samples, rtd, pr }: EvalSummary): string[] {
  const shown = (value: number | null): string => (value === null ? 'n/a' : formatFixed(value, 4));
  const rows = [
    ['task', 'samples', 'content (0-3)', 'temporal (0-3)', 'success'],
    ...Object.entries({ ...rtd.by_task, 'all RTD': rtd }).map(([task, means]) => [
      task,
      String(means.samples),
      shown(means.mean_content_score),
      shown(means.mean_avg_temporal_score),
      '-',
    ]),
    ...Object.entries({ ...pr.by_task, 'all PR': pr }).map(([task, means]) => [
      task,
      String(means.samples),
      '-',
      '-',
      shown(means.mean_all_success),
    ]),
  ];
  const table = textColumns(rows, 5);
  return [...table, `${samples} samples in all`];
}
