import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { UsageError } from '../../foundation/errors.ts';
import { makeFolder } from '../../foundation/make-folder.ts';
import { parseTolerantJson } from '../../foundation/tolerant-json.ts';
import type { ParameterItem } from './parameter-file.ts';
import type { RunData } from './sweep-options.ts';

function isObject(value: unknown): value is RunData {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A result file, or `null` where there is none or it was cut off. */
export function readRunFile(path: string): RunData | null {
  if (!existsSync(path)) return null;
  try {
    const value = parseTolerantJson(readFileSync(path, 'utf8'));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** The result of a run that was finished: `run_number` is written last. */
export function readFinishedRun(path: string): RunData | null {
  const data = readRunFile(path);
  return data !== null && typeof data.run_number === 'number' ? data : null;
}

/** For `JSON.stringify`. JSON has no infinity: as text, as `vllm bench` writes it. */
function jsonValue(_key: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) && !Number.isNaN(value)
    ? String(value).replace('Infinity', 'inf')
    : value;
}

/**
 * A name of a setting may stay while its parameters change; figures of others must not pass for its own.
 * @param parameters those of the setting of now
 * @throws UsageError where the stored run has others
 */
export function checkParameters(run: RunData, parameters: ParameterItem, path: string): void {
  const text = (value: unknown): string | undefined => JSON.stringify(value, jsonValue);
  for (const [key, value] of Object.entries(parameters))
    if (text(run[key]) !== text(value))
      throw new UsageError(
        `--resume: ${path} was measured with ${key} ${text(run[key]) ?? 'not set'}, and is to have ${text(value)} now. Name the setting otherwise, delete the file, or give --experiment-name another name.`,
      );
}

/** Writes JSON that is there whole or not at all, however the process ends. */
export function writeJsonFile(path: string, value: unknown, indent: number): void {
  makeFolder(dirname(path));
  writeFileSync(`${path}.part`, `${JSON.stringify(value, jsonValue, indent)}\n`);
  renameSync(`${path}.part`, path);
}

export function removeFile(path: string): void {
  rmSync(path, { force: true });
}

/** One cell as the `csv` module of Python writes it. */
function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Runs as CSV: a numbered first column without a title, then every key that any run has. */
export function csvOf(runs: readonly RunData[]): string {
  const keys = [...new Set(runs.flatMap((run) => Object.keys(run)))];
  const lines = [['', ...keys], ...runs.map((run, i) => [i, ...keys.map((key) => run[key])])];
  return `${lines.map((cells) => cells.map(csvCell).join(',')).join('\n')}\n`;
}
