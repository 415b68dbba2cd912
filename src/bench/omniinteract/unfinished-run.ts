import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { OmnimeterError } from '../../foundation/errors.ts';
import { isSubset, omniInteractSubsets } from '../../workloads/omniinteract/omniinteract-case.ts';
import type { BenchServeOptions } from '../serve/options.ts';
import { batchSummaryFile } from './batch-files.ts';
import { doneFile } from './case-files.ts';
import { type KeptRecord, keptRecordFile, parseKeptRecord } from './kept-record.ts';
import { isWholeCase } from './whole-case.ts';
import { jsonText, writeWhole } from './write-whole.ts';

/** While a run is under way: of which command it is, and which parts it has had. */
const stateFile = '.omniinteract-run.json';

const stateSchema = z.object({ command: z.string(), parts: z.array(z.string()) });
type RunState = z.infer<typeof stateSchema>;

/** How cases are measured. */
export type MeasuredSettings = Pick<
  BenchServeOptions,
  | 'backend'
  | 'baseUrl'
  | 'endpointPath'
  | 'model'
  | 'servedModelName'
  | 'headers'
  | 'extraBody'
  | 'printStage'
  | 'percentileMetrics'
  | 'requestRate'
  | 'burstiness'
  | 'rampUp'
  | 'maxConcurrency'
> & { readonly dataset: Pick<BenchServeOptions['dataset'], 'path' | 'omniinteract'> };

/** What has to be equal for cases of two runs to be cases of one: how they were measured, not which were drawn. */
export function commandKey(options: MeasuredSettings): string {
  const {
    subsets: _subsets,
    scenarioTags: _tags,
    scenarioFocus: _focus,
    videoList: _list,
    ...limits
  } = options.dataset.omniinteract;
  const measured = {
    backend: options.backend,
    url: `${options.baseUrl}${options.endpointPath}`,
    model: options.model,
    servedModelName: options.servedModelName,
    headers: options.headers,
    extraBody: options.extraBody,
    printStage: options.printStage,
    percentileMetrics: options.percentileMetrics,
    requestRate: String(options.requestRate),
    burstiness: String(options.burstiness),
    rampUp: options.rampUp,
    maxConcurrency: options.maxConcurrency,
    datasetPath: options.dataset.path,
    limits,
  };
  return createHash('sha256').update(JSON.stringify(measured)).digest('hex');
}

/** What an earlier run in the folder has left. */
export type UnfinishedRun = {
  /** Finished cases that a run of the same command goes on from, by `<subset>/<video_rel>`. */
  readonly kept: ReadonlyMap<string, KeptRecord>;
  /** The parts of that run so far. */
  readonly parts: readonly string[];
  /** What the user should know. */
  readonly notes: readonly string[];
};

/** Looks for a run that was cut off. A folder with a summary holds a finished one, and is begun anew. */
export function unfinishedRun(root: string, command: string): UnfinishedRun {
  const none = { kept: new Map<string, KeptRecord>(), parts: [], notes: [] };
  if (existsSync(join(root, batchSummaryFile))) return none;
  // Cases of earlier runs, which came to their end, have no record any more and are nobody's business here.
  const folders = doneFolders(root).filter(({ folder }) => existsSync(join(folder, keptRecordFile)));
  if (folders.length === 0) return none;
  const state = stateOf(root);
  if (state?.command !== command)
    return {
      ...none,
      notes: [`the artifacts in ${root} are of another command; cases of this run replace theirs.`],
    };
  const kept = new Map<string, KeptRecord>();
  const unusable: string[] = [];
  for (const { subset, folder } of folders) {
    const found = recordIn(folder);
    const videoRel = found?.record.duplex?.caseFacts.videoRel;
    if (!found || typeof videoRel !== 'string') unusable.push(folder);
    else if (state.parts.includes(found.part.id)) kept.set(`${subset}/${videoRel}`, found);
  }
  return {
    kept,
    parts: state.parts,
    notes: [
      ...(kept.size > 0
        ? [`going on with a run that was cut off: ${kept.size} finished cases are in ${root}.`]
        : []),
      ...unusable.map((folder) => `${folder} is marked as finished and is not whole; its case runs again.`),
    ],
  };
}

/** Says that a run of this command is under way. */
export async function markUnderWay(root: string, state: RunState): Promise<void> {
  await writeWhole(join(root, stateFile), jsonText(state));
}

/** Says that none is, so that nothing is gone on with. */
export async function unmarkUnderWay(root: string): Promise<void> {
  await rm(join(root, stateFile), { force: true });
}

function stateOf(root: string): RunState | null {
  try {
    return stateSchema.safeParse(JSON.parse(readFileSync(join(root, stateFile), 'utf8'))).data ?? null;
  } catch {
    return null;
  }
}

function doneFolders(root: string): { subset: string; folder: string }[] {
  return omniInteractSubsets.filter(isSubset).flatMap((subset) => {
    const parent = join(root, subset);
    if (!existsSync(parent)) return [];
    return readdirSync(parent)
      .map((name) => ({ subset, folder: join(parent, name) }))
      .filter(({ folder }) => existsSync(join(folder, doneFile)));
  });
}

/** The record of a case all of whose files are there, or `null`. */
function recordIn(folder: string): KeptRecord | null {
  if (!isWholeCase(folder)) return null;
  const path = join(folder, keptRecordFile);
  try {
    return parseKeptRecord(readFileSync(path, 'utf8'), path);
  } catch (error) {
    const unreadable =
      error instanceof OmnimeterError ||
      error instanceof SyntaxError ||
      error instanceof z.ZodError ||
      (error instanceof Error && 'code' in error);
    if (!unreadable) throw error;
    return null;
  }
}
