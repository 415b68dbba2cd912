import { textColumns } from '../../foundation/text-columns.ts';
import type { GateOutcome } from './judge-case.ts';

/** How a case or an aggregate came out. */
export type CaseStatus =
  | 'passed'
  /** It ran, and a condition does not hold. */
  | 'broken'
  /** It did not run to its end. */
  | 'failed'
  /** It was not begun. */
  | 'skipped';

export type CaseOutcome = {
  readonly label: string;
  readonly kind: 'case' | 'aggregate';
  readonly status: CaseStatus;
  /** What went wrong, or why it was not begun; `null` = nothing. */
  readonly reason: string | null;
  readonly durationS: number | null;
  readonly gates: readonly GateOutcome[];
  /** Requests of the result; `null` = there is none. */
  readonly completed: number | null;
  readonly failed: number | null;
  /** Folder of the case's results; `null` = it has none. */
  readonly dir: string | null;
};

/** Exit code of all outcomes together: 3 where a condition broke, 1 where something did not run. */
export function exitCodeOf(outcomes: readonly CaseOutcome[]): number {
  if (outcomes.some(({ status }) => status === 'broken')) return 3;
  return outcomes.some(({ status }) => status === 'failed') ? 1 : 0;
}

/** Outcomes as a table, and below it what broke or failed. */
export function outcomeTable(outcomes: readonly CaseOutcome[]): string[] {
  const shown = (value: number | null, digits = 0): string => (value === null ? '-' : value.toFixed(digits));
  const rows = [
    ['case', 'status', 'time (s)', 'completed', 'failed', 'gates'],
    ...outcomes.map(({ label, status, durationS, completed, failed, gates }) => [
      label,
      status,
      shown(durationS, 1),
      shown(completed),
      shown(failed),
      gates.length === 0 ? '-' : `${gates.filter(({ passed }) => passed).length}/${gates.length}`,
    ]),
  ];
  const table = textColumns(rows, 2);
  return [...table, ...outcomes.flatMap(detailLines)];
}

function detailLines({ label, reason, gates }: CaseOutcome): string[] {
  const broken = gates.filter(({ passed }) => !passed);
  return [
    ...(reason === null
      ? []
      : reason.split('\n').map((line, i) => (i === 0 ? `${label}: ${line}` : `  ${line}`))),
    ...broken.map(({ gate, detail }) => `${label}: gate ${gate} does not hold: ${detail}`),
  ];
}
