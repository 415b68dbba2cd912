import { readRun } from '../../records/journal.ts';
import type { RunFacts } from '../../records/run-facts.ts';
import type { CommandIo, ReportOverrides } from './options.ts';
import { presentRun } from './present-run.ts';

/**
 * Prints any report from a stored run, also from one that was killed.
 * @returns exit code 1 where every request failed or no record of one is left, 3 where a threshold broke
 * @throws InputFileError when the folder holds no run
 */
export async function reportRun(
  dir: string,
  overrides: ReportOverrides,
  io: CommandIo,
): Promise<{ exitCode: number }> {
  const { facts, records, notes, warnings } = await readRun(dir);
  for (const note of notes) io.stderr(`note: ${note}`);
  for (const warning of warnings) io.stderr(`warning: ${warning}`);
  if (facts.endMs === null)
    io.stderr(
      `note: this run was cut off; the report covers the ${records.length} requests that had finished.`,
    );
  const stored = { facts: overridden(facts, overrides), records };
  const { allFailed, broken } = await presentRun(stored, overrides, io);
  const nothingLeft = !records.some(({ role }) => role === 'measured');
  return { exitCode: allFailed || nothingLeft ? 1 : broken ? 3 : 0 };
}

function overridden(facts: RunFacts, overrides: ReportOverrides): RunFacts {
  return {
    ...facts,
    percentileMetrics: overrides.percentileMetrics ?? facts.percentileMetrics,
    metricPercentiles: overrides.metricPercentiles ?? facts.metricPercentiles,
    goodput: overrides.goodput ?? facts.goodput,
    printStage: overrides.printStage ?? facts.printStage,
    label: overrides.label ?? facts.label,
    metadata: overrides.metadata ?? facts.metadata,
  };
}
