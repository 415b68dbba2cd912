import { formatFixed } from '../../foundation/python-format.ts';
import { textColumns } from '../../foundation/text-columns.ts';
import type { PooledAccuracy } from './pool-evaluations.ts';

/** Pooled evaluations as they are printed: a line for each run, and one for all. */
export function pooledTable({ runs, pooled, exp_f1, min_ia_qtf1 }: PooledAccuracy): string[] {
  const rows = [
    ['run', 'status', 'cases', 'slots', 'TP', 'FP', 'FN', 'IA-QTF1'],
    ...runs.map(({ path, status, evaluated, metric }) => [path, status, String(evaluated), ...cells(metric)]),
    ['all runs', '', String(runs.reduce((sum, { evaluated }) => sum + evaluated, 0)), ...cells(pooled)],
    ...Object.entries(exp_f1)
      .filter(([, metric]) => metric.num_slots > 0)
      .map(([name, metric]) => [`all runs, ${name}`, '', '', ...cells(metric)]),
  ];
  const lines = textColumns(rows, 2);
  return min_ia_qtf1 === null ? lines : [...lines, `Least IA-QTF1 of all runs: ${min_ia_qtf1}`];
}

function cells(metric: PooledAccuracy['pooled']): string[] {
  const { num_slots, Global_TP, Global_FP, Global_FN, IA_QTF1 } = metric;
  const counts = [String(num_slots), formatFixed(Global_TP, 6), String(Global_FP), String(Global_FN)];
  return [...counts, IA_QTF1 === null ? 'n/a' : formatFixed(IA_QTF1, 6)];
}
