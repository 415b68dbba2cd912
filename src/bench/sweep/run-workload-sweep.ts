import { UsageError } from '../../foundation/errors.ts';
import type { CommandIo } from '../serve/options.ts';
import { areLinked, checkLinks, combinationFolder } from './combinations.ts';
import { itemName, type ParameterItem, parameterValue } from './parameter-file.ts';
import { anySets, inSession, type SweepResult } from './run-sweep.ts';
import type { ServerUnderTest } from './server-under-test.ts';
import type { CombinationRuns, RunData, SweepOptions, WorkloadOptions } from './sweep-options.ts';
import type { SweepSession } from './sweep-session.ts';

/** Requests of a benchmark that does not say how many. */
const defaultNumPrompts = 1000;

/** A combination whose load is explored, and its two ends. */
type Explored = { readonly serveItem: ParameterItem; readonly benchItem: ParameterItem };
type Level = { readonly benchItem: ParameterItem; readonly folder: string };

/**
 * Explores how a server behaves between a load of 1 and one of the number of prompts: measures both ends, works out from
 * them where the load lies, and measures levels in between.
 * @throws UsageError as {@link runSweep}, and where a setting sets what is explored
 */
export async function runWorkloadSweep(
  options: SweepOptions,
  workload: WorkloadOptions,
  io: CommandIo,
): Promise<SweepResult> {
  if (anySets(options.benchItems, workload.variable))
    throw new UsageError(
      `--bench-params sets ${workload.variable}, which is explored. Leave it out, or explore the other --workload-var.`,
    );
  checkLinks(options);
  return inSession(options, io, async (session, done) => {
    for (const serveItem of options.serveItems) {
      const explored = options.benchItems
        .filter((benchItem) => areLinked(serveItem, benchItem, options.links))
        .map((benchItem): Explored => ({ serveItem, benchItem }));
      const needed = explored.some((each) => !isExplored(session, each, workload));
      await session.withServer(serveItem, needed, async (server) => {
        for (const each of explored) done.push(...(await explore(session, each, { workload, server })));
      });
    }
  });
}

/** Both ends and all levels between are stored; what lies between follows from the ends. */
function isExplored(session: SweepSession, each: Explored, workload: WorkloadOptions): boolean {
  const ends = endsOf(session.options, each, workload);
  const stored = ends.map((level) => storedRuns(session, each, level));
  const [serial, batch] = stored;
  if (!serial || !batch) return false;
  return valuesBetween(serial, batch, workload).every((value) =>
    session.isDone({ ...each, ...levelOf(session.options, each, { workload, value, more: {} }) }),
  );
}

function storedRuns(session: SweepSession, each: Explored, level: Level): RunData[] | null {
  const combination = { ...each, ...level };
  return session.isDone(combination) ? session.storedRuns(combination) : null;
}

function endsOf(options: SweepOptions, each: Explored, workload: WorkloadOptions): [Level, Level] {
  const size = numPromptsOf(options.bench.words, each.benchItem);
  const end = (value: number): Level =>
    levelOf(options, each, { workload, value, more: { max_concurrency: value } });
  return [end(1), end(size)];
}

function levelOf(
  options: SweepOptions,
  { serveItem, benchItem }: Explored,
  of: { readonly workload: WorkloadOptions; readonly value: number; readonly more: ParameterItem },
): Level {
  const { variable } = of.workload;
  const base = { ...benchItem, ...of.more };
  return {
    benchItem: { ...base, [variable]: of.value },
    folder: combinationFolder(options.experimentDir, serveItem, base, `${variable}=${of.value}`),
  };
}

async function explore(
  session: SweepSession,
  each: Explored,
  { workload, server }: { readonly workload: WorkloadOptions; readonly server: ServerUnderTest | null },
): Promise<CombinationRuns[]> {
  const { options } = session;
  session.say('[WL START]');
  session.say(`Serve parameters: ${itemName(each.serveItem) || '(None)'}`);
  session.say(`Bench parameters: ${itemName(each.benchItem) || '(None)'}`);
  session.say(`Number of workload iterations: ${workload.iterations}`);
  const measure = async (level: Level): Promise<CombinationRuns> => {
    session.checkInterrupts();
    const runs = await session.runCombination({ ...each, ...level }, server);
    return { folder: level.folder, runs };
  };
  const [serialLevel, batchLevel] = endsOf(options, each, workload);
  const serial = await measure(serialLevel);
  const batch = await measure(batchLevel);
  const between: CombinationRuns[] = [];
  if (options.dryRun) session.say('Omitting intermediate Workload iterations.');
  else if (serial.runs.length > 0 && batch.runs.length > 0) {
    for (const value of valuesBetween(serial.runs, batch.runs, workload)) {
      session.say(`Exploring: ${workload.variable}=${value}`);
      between.push(await measure(levelOf(options, each, { workload, value, more: {} })));
    }
  }
  session.say('[WL END]');
  return [serial, ...between, batch];
}

/** Levels between the loads that both ends came to, evenly spaced, whole, each once. */
export function valuesBetween(
  serial: readonly RunData[],
  batch: readonly RunData[],
  { variable, iterations }: WorkloadOptions,
): number[] {
  const low = Math.ceil(averageLoad(serial, variable));
  const high = Math.floor(averageLoad(batch, variable));
  if (!Number.isFinite(low) || !Number.isFinite(high)) return [];
  const step = (high - low) / (iterations - 1);
  const inner = Array.from({ length: iterations - 2 }, (_, i) => roundHalfEven(low + step * (i + 1)));
  return [...new Set(inner)].filter((value) => value >= 1).sort((a, b) => a - b);
}

/** As Python's `round`: a level that lies in the middle goes to the even neighbour. */
function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}

/** The load that runs came to: their throughput, or by Little's law their concurrency. */
function averageLoad(runs: readonly RunData[], variable: WorkloadOptions['variable']): number {
  const loads = runs.map((run) => {
    const throughput = Number(run.request_throughput ?? Number.NaN);
    return variable === 'request_rate'
      ? throughput
      : (throughput * Number(run.mean_e2el_ms ?? Number.NaN)) / 1000;
  });
  return loads.reduce((sum, load) => sum + load, 0) / loads.length;
}

function numPromptsOf(words: readonly string[], item: ParameterItem): number {
  const set = parameterValue(item, 'num_prompts');
  if (typeof set === 'number') return set;
  for (const [i, word] of words.entries()) {
    const [name, inline] = word.split('=');
    if (name?.replaceAll('_', '-') !== '--num-prompts') continue;
    const value = Number(inline ?? words[i + 1]);
    if (Number.isInteger(value) && value > 0) return value;
  }
  return defaultNumPrompts;
}
