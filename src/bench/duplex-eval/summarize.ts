import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  type EvalSummary,
  type ScoredSample,
  summarizeScores,
} from '../../accuracy/duplex-eval/summarize-scores.ts';
import type { UnscoredSamples } from '../../accuracy/duplex-eval/unscored-samples.ts';
import { isRow } from '../../accuracy/omniinteract/annotation-values.ts';
import { writeJsonFile } from '../../accuracy/write-json-file.ts';
import { InputFileError, messageOf } from '../../foundation/errors.ts';
import { formatFixed } from '../../foundation/python-format.ts';
import { textColumns } from '../../foundation/text-columns.ts';
import { isFolder } from '../../workloads/omniinteract/dataset-files.ts';
import type { CommandIo } from '../serve/options.ts';
import { readJson, readUnscored, samplePath, summaryFile } from './eval-files.ts';

/**
 * Sums up the scores below a folder, prints the means and writes `summary.json` there.
 * @returns exit code 1 where samples that were to be judged have no score
 * @throws InputFileError where the folder holds no score, or a file that is none
 */
export function summarize(scoreRoot: string, io: CommandIo): number {
  if (!isFolder(scoreRoot))
    throw new InputFileError(`--score-root ${scoreRoot}: there is no such folder. evaluate makes it.`);
  const unscored = readUnscored(scoreRoot);
  const summary = summarizeScores(readScores(scoreRoot, unscored), unscored.all);
  writeJsonFile(join(scoreRoot, summaryFile), summary);
  for (const line of summaryLines(summary)) io.stdout(line);
  io.stderr(`Summary written to ${join(scoreRoot, summaryFile)}`);
  if (summary.unscored.length === 0) return 0;
  io.stderr(`error: ${lackOf(summary)}`);
  return 1;
}

/** What the means do not cover, and why: each reason once. */
function lackOf({ samples, failed, not_judged, unscored }: EvalSummary): string {
  const reasons = [...new Set(unscored.flatMap(({ error }) => error ?? []))];
  const more = reasons.length > 3 ? [`and ${reasons.length - 3} other reasons`] : [];
  const why = failed > 0 ? `: ${[...reasons.slice(0, 3), ...more].join('; ')}` : '';
  return `the means are over ${samples} of ${samples + unscored.length} samples; ${failed} could not be judged and ${not_judged} are not judged yet${why}. Run evaluate again for them.`;
}

/** Scores that count: one of an earlier time does not where its sample was to be judged anew. */
function readScores(root: string, unscored: UnscoredSamples): ScoredSample[] {
  const stale = new Set(unscored.all.map((sample) => samplePath(root, sample)));
  const scores = filesOfSplits(root)
    .filter((path) => !stale.has(path))
    .map((path) => {
      const value = readJson(path);
      if (isScore(value)) return value;
      throw new InputFileError(
        `${path}: it is no score that evaluate writes (id, split, task_type, and rtd with scores from 0 to 3 or pr with 0 or 1). Move it elsewhere, or run evaluate --overwrite.`,
      );
    });
  if (scores.length > 0) return scores;
  const failed = unscored.all.length > 0 ? ` Of ${unscored.all.length} samples none could be judged.` : '';
  throw new InputFileError(`--score-root ${root}: it holds no scores.${failed} Run evaluate first.`);
}

function filesOfSplits(root: string): string[] {
  try {
    return readdirSync(root, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name }) => readdirSync(join(root, name)).map((file) => join(root, name, file)))
      .filter((path) => path.endsWith('.json') && !basename(path).startsWith('.'))
      .sort();
  } catch (cause) {
    throw new InputFileError(`--score-root ${root}: it cannot be read: ${messageOf(cause)}`, { cause });
  }
}

function isScore(value: unknown): value is ScoredSample {
  if (!isRow(value) || typeof value.id !== 'string' || typeof value.split !== 'string') return false;
  const { task_type, rtd, pr } = value;
  if (typeof task_type !== 'string') return false;
  if (!isRow(rtd)) return rtd === null && isRow(pr) && (pr.all_success === 0 || pr.all_success === 1);
  const { content_score, avg_temporal_score: temporal } = rtd;
  return pr === null && isMark(content_score) && (temporal === null || isMark(temporal));
}

function isMark(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= 3;
}

function summaryLines({ samples, failed, not_judged, rtd, pr }: EvalSummary): string[] {
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
  const lack =
    failed + not_judged > 0
      ? [`without a score: ${failed} that could not be judged, ${not_judged} not judged yet`]
      : [];
  return [...table, `${samples} samples in all`, ...lack];
}
