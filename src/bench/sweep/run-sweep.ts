import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandIo } from '../serve/options.ts';
import { areLinked, checkLinks, combinationFolder } from './combinations.ts';
import type { ParameterItem } from './parameter-file.ts';
import { csvOf } from './run-files.ts';
import type { CombinationRuns, SweepOptions } from './sweep-options.ts';
import { SweepInterrupted } from './sweep-processes.ts';
import { type Combination, SweepSession } from './sweep-session.ts';

/** How a sweep ended. */
export type SweepResult = { readonly exitCode: number; readonly combinations: readonly CombinationRuns[] };

/**
 * Benchmarks every combination of the server's and the benchmark's settings, several times each. What is stored from
 * an earlier start is not measured again.
 * @throws UsageError before anything is started; what a server or benchmark throws, without --continue-on-error
 */
export async function runSweep(options: SweepOptions, io: CommandIo): Promise<SweepResult> {
  checkLinks(options);
  return inSession(options, io, async (session, done) => {
    // All are looked at before the first is started: what is stored must belong to the settings of now.
    const plans = options.serveItems.map((serveItem) => {
      const combinations = options.benchItems
        .filter((benchItem) => areLinked(serveItem, benchItem, options.links))
        .map(
          (benchItem): Combination => ({
            serveItem,
            benchItem,
            folder: combinationFolder(options.experimentDir, serveItem, benchItem),
          }),
        );
      const done = combinations.map((combination) => session.isDone(combination));
      return { serveItem, combinations, needed: done.includes(false) };
    });
    for (const { serveItem, combinations, needed } of plans) {
      await session.withServer(serveItem, needed, async (server) => {
        for (const combination of combinations) {
          session.checkInterrupts();
          const runs = await session.runCombination(combination, server);
          done.push({ folder: combination.folder, runs });
        }
      });
    }
  });
}

/**
 * Opens a session, lets `work` fill in the runs, writes `summary.csv`, and settles the exit code: 130 interrupted, 1
 * where something was passed over, 3 where a threshold of a benchmark broke.
 */
export async function inSession(
  options: SweepOptions,
  io: CommandIo,
  work: (session: SweepSession, done: CombinationRuns[]) => Promise<void>,
): Promise<SweepResult> {
  const session = new SweepSession(options, io);
  const combinations: CombinationRuns[] = [];
  try {
    await work(session, combinations);
  } catch (error) {
    if (options.resumeHint !== null && !options.dryRun)
      io.stderr(`The sweep was ended early; go on with: ${options.resumeHint}`);
    if (error instanceof SweepInterrupted) return { exitCode: 130, combinations };
    throw error;
  } finally {
    session.close();
  }
  session.sayReused();
  if (!options.dryRun)
    writeFileSync(
      join(options.experimentDir, 'summary.csv'),
      csvOf(combinations.flatMap(({ runs }) => runs)),
    );
  return { exitCode: session.failures > 0 ? 1 : session.broken > 0 ? 3 : 0, combinations };
}

/** Whether any benchmark setting sets a parameter that is explored. */
export function anySets(items: readonly ParameterItem[], key: string): boolean {
  return items.some((item) => Object.keys(item).some((name) => name.replaceAll('-', '_') === key));
}
