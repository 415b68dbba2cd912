import { readRun } from '../../records/journal.ts';
import type { RunFacts } from '../../records/run-facts.ts';
import type { CommandIo, ReportOverrides } from './options.ts';
import { presentRun } from './present-run.ts';

/**
 * Prints any report from a stored run, also from one that was killed.
 * @throws InputFileError when the folder holds no run
 */
export async function reportRun(
  dir: string,
  overrides: ReportOverrides,
  io: CommandIo,
): Promise<{ exitCode: number }> {
  const { facts, records, notes } = await readRun(dir);
  for (const note of notes) io.stderr(`note: ${note}`);
  if (facts.endMs === null)
    io.stderr(
      `note: this run was cut off; the report covers the ${records.length} requests that had finished.`,
    );
  const stored = { facts: overridden(facts, overrides), records };
  const { allFailed, broken } = await presentRun(stored, overrides, io);
  return { exitCode: allFailed ? 1 : broken ? 3 : 0 };
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
