import { requestMetrics, runMetrics } from '../../metrics/catalogue.ts';
import { keysOf } from '../../metrics/record-of.ts';
import type { RunSummary } from '../../metrics/summary.ts';
import { finiteOrNull, keyWithUnit, statistics } from '../result-entries.ts';
import type { ComparedRun, RunRecords } from './compared-run.ts';

const noValue = new Float64Array(0);

/** Every number of a run that a condition can be set on, by key of a result file; observed ones only. */
export function keyValues(summary: RunSummary): Map<string, number> {
  const values = new Map<string, number>();
  const add = (key: string, value: unknown): void => {
    const number = typeof value === 'number' ? finiteOrNull(value) : null;
    if (number !== null) values.set(key, number);
  };
  for (const key of keysOf(runMetrics)) add(key, summary.run[key]);
  const context = { summary, detailed: false, dateLabel: '', rows: () => [] };
  for (const key of keysOf(summary.distributions))
    for (const [name, value] of statistics(key)(context)) add(name, value);
  return values;
}

/** A stored run as one that takes part in a comparison. */
export function runOfSummary(
  summary: RunSummary,
  source: string,
  notes: readonly string[] = [],
): ComparedRun {
  return { source, values: keyValues(summary), records: recordsOf(summary), notes };
}

function recordsOf(summary: RunSummary): RunRecords {
  const scalars = keysOf(requestMetrics);
  const columns = new Map<string, ArrayLike<number>[]>(
    [...scalars.map((key) => keyWithUnit(requestMetrics[key])), 'itl_ms'].map((stem) => [stem, []]),
  );
  const failed: number[] = [];
  for (const { record, values, gapsMs } of summary.requests()) {
    // What the user stopped is neither a success nor a failure of the server.
    if (!record.outcome.ok && record.outcome.kind === 'aborted') continue;
    failed.push(record.outcome.ok ? 0 : 1);
    for (const key of scalars) {
      const value = finiteOrNull(values[key]);
      columns.get(keyWithUnit(requestMetrics[key]))?.push(value === null ? noValue : [value]);
    }
    columns.get('itl_ms')?.push(gapsMs);
  }
  for (const [stem, column] of columns) if (column.every(({ length }) => length === 0)) columns.delete(stem);
  return { count: failed.length, failed: Uint8Array.from(failed), columns };
}
