import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { InputFileError, messageOf, UsageError } from '../../foundation/errors.ts';
import { parseJsonValues } from '../../foundation/tolerant-json.ts';
import { summarize } from '../../metrics/summarize.ts';
import { readRun } from '../../records/journal.ts';
import type { ComparedRun, Side } from '../../report/compare/compared-run.ts';
import { runOfResult } from '../../report/compare/run-of-result.ts';
import { runOfSummary } from '../../report/compare/run-of-summary.ts';

/**
 * Reads one side of a comparison: run folders, result files, append files and folders of a sweep, several of them
 * separated by commas.
 * @param percentiles to compute of run folders, beside those of the run
 * @throws UsageError for a name that does not exist; InputFileError for one that holds no result
 */
export async function readSide(name: string, percentiles: readonly number[]): Promise<Side> {
  const paths = existsSync(name) ? [name] : name.split(',').filter((part) => part !== '');
  const runs: ComparedRun[] = [];
  for (const path of paths) {
    if (!existsSync(path))
      throw new UsageError(
        `compare: there is no file or folder '${path}'. Give run folders (--run-dir), result JSONs or append files; several runs of one side are separated by commas.`,
      );
    runs.push(...(await readRuns(path, percentiles)));
  }
  if (runs.length === 0) throw new InputFileError(`compare: '${name}' names no run.`);
  return { label: name, runs };
}

async function readRuns(path: string, percentiles: readonly number[]): Promise<ComparedRun[]> {
  if (!statSync(path).isDirectory()) return readResults(path);
  if (existsSync(join(path, 'run.json'))) return [await readFolder(path, percentiles)];
  const summary = join(path, 'summary.json');
  if (existsSync(summary)) return readResults(summary);
  const files = readdirSync(path)
    .filter((file) => file.endsWith('.json'))
    .sort();
  const runs = files.flatMap((file) => readResults(join(path, file), true));
  if (runs.length > 0) return runs;
  throw new InputFileError(
    `compare: ${path} is neither a run folder (no run.json) nor a folder of result JSONs. Give what --run-dir or --result-dir named.`,
  );
}

async function readFolder(path: string, percentiles: readonly number[]): Promise<ComparedRun> {
  const { facts, records, notes, warnings } = await readRun(path);
  if (!records.some(({ role }) => role === 'measured'))
    throw new InputFileError(
      `compare: ${path} holds no record of a request, so there is nothing to compare. ${[...warnings, ...notes][0] ?? 'The run ended before any request did.'}`,
    );
  const metricPercentiles = [...new Set([...facts.metricPercentiles, ...percentiles])];
  const cutOff =
    facts.endMs === null ? [`${path}: the run was cut off; only its finished requests count.`] : [];
  return runOfSummary(summarize(records, { ...facts, metricPercentiles }), path, [
    ...warnings,
    ...notes,
    ...cutOff,
  ]);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @param lenient a file without a result is left out, since a folder may hold other files */
function readResults(path: string, lenient = false): ComparedRun[] {
  let values: ReturnType<typeof parseJsonValues>;
  try {
    values = parseJsonValues(readFileSync(path, 'utf8'));
  } catch (cause) {
    if (lenient) return [];
    throw new InputFileError(
      `compare: ${path} is not JSON: ${messageOf(cause)}. Expected a result JSON, or one per line.`,
      { cause },
    );
  }
  const results = values.flatMap(({ value, line }) => {
    const where = line === null ? path : `${path}:${line}`;
    return (Array.isArray(value) ? value : [value]).map((one: unknown) =>
      isObject(one) ? runOfResult(one, where) : null,
    );
  });
  const runs = results.filter((run) => run !== null);
  if (runs.length > 0 || lenient) return runs;
  throw new InputFileError(
    `compare: ${path} holds no result of a run: no duration, throughput or latency was found. Expected the JSON that --save-result writes.`,
  );
}
