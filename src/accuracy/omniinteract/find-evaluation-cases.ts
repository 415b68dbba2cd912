import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { InputFileError, messageOf } from '../../foundation/errors.ts';
import { isFileName } from '../../foundation/file-name.ts';
import { isFolder, isThere } from '../../workloads/omniinteract/dataset-files.ts';
import { discoverCases } from '../../workloads/omniinteract/discover-cases.ts';
import {
  caseFolderName,
  officialOutputName,
  omniInteractSubsets,
} from '../../workloads/omniinteract/omniinteract-case.ts';
import { isRow, type Row, textOf } from './annotation-values.ts';
import type { EvaluationCase } from './evaluation-case.ts';

/** The cases of a folder of artifacts that are to be judged, and how many others the run had. */
export type FoundCases = { readonly cases: readonly EvaluationCase[]; readonly skipped: number };

const manifestFile = 'official_eval_manifest.jsonl';
const transcriptFile = 'wav_transcript.json';
/** Longest first, so that none hides another. */
const subsets = ['1q1a_math', '1q1a', '1qna'];

/**
 * Finds what is to be judged in a folder that the benchmark, or another program of the same layout, wrote: by its
 * manifest, or else by the `.done` markers of its cases, or by the official names of the dataset's videos. Paths that
 * hold on another machine only are looked up again: the transcript in the folder itself, the annotation below
 * `datasetRoot`.
 * @param datasetRoot folder that holds the subsets, or their `data/` folder; `null` = as the paths say
 * @throws InputFileError where a folder is none, the first holds neither, a row is none, or two cases have one name
 */
export function findEvaluationCases(dir: string, datasetRoot: string | null): FoundCases {
  if (!isFolder(dir)) throw new InputFileError(`${dir}: no folder of OmniInteract artifacts is there.`);
  if (datasetRoot !== null && !isFolder(datasetRoot))
    throw new InputFileError(`--dataset-path ${datasetRoot}: there is no such folder.`);
  const manifest = join(dir, manifestFile);
  if (isThere(manifest)) return manifestCases(dir, manifest, datasetRoot);
  const marked = markedCases(dir, datasetRoot);
  if (marked.cases.length > 0 || marked.skipped > 0) return marked;
  const cases = datasetRoot === null ? [] : unmarkedCases(dir, datasetRoot);
  if (cases.length > 0) return { cases: ownNames(cases), skipped: 0 };
  const named = datasetRoot === null ? '' : ' nor a transcript under the official name of a video';
  throw new InputFileError(
    `${dir}: there is neither ${manifestFile} nor a case with .done${named}. Give the folder of --omniinteract-output-dir; transcripts of the official scripts need --dataset-path.`,
  );
}

/** A case, and what says that it is one. */
type Named = { readonly one: EvaluationCase; readonly where: string };

/**
 * A case's name is that of its file, and what is counted by: of two with the same one, the second would overwrite the
 * first, and both would count.
 * @throws InputFileError
 */
function ownNames(named: readonly Named[]): EvaluationCase[] {
  const seen = new Map<string, string>();
  for (const { one, where } of named) {
    const before = seen.get(one.sampleId);
    if (before !== undefined)
      throw new InputFileError(
        `${where}: sample_id '${one.sampleId}' is that of ${before} already. Each case needs a name of its own; remove one, or rename it.`,
      );
    seen.set(one.sampleId, where);
  }
  return named.map(({ one }) => one);
}

function manifestCases(dir: string, manifest: string, datasetRoot: string | null): FoundCases {
  const lines = textAt(manifest).split('\n');
  const named = lines.flatMap((text, i) => {
    if (text.trim() === '') return [];
    const row = rowOf(text, `${manifest}:${i + 1}`);
    const { sample_id, gt_json, model_json, scene_type } = row;
    const texts = [sample_id, gt_json, model_json, scene_type].map(textOf);
    const [sampleId = '', annotation = '', transcript = '', sceneName = ''] = texts;
    if (texts.includes(''))
      throw new InputFileError(
        `${manifest}:${i + 1}: a row needs sample_id, gt_json, model_json and scene_type.`,
      );
    if (!isFileName(sampleId))
      throw new InputFileError(
        `${manifest}:${i + 1}: sample_id '${JSON.stringify(sampleId).slice(1, -1)}' is no name of a file.`,
      );
    const subset = subsetOf(sampleId);
    const annotationPath = annotationOf(resolve(dir, annotation), subset, datasetRoot);
    const transcriptPath = transcriptOf(resolve(dir, transcript), subset, dir);
    const one = { sampleId, subset, sceneName, annotationPath, transcriptPath };
    return [{ one, where: `${manifest}:${i + 1}` }];
  });
  const cases = ownNames(named);
  return { cases, skipped: Math.max(0, sampledCount(dir) - cases.length) };
}

function subsetOf(sampleId: string): string {
  return subsets.find((subset) => sampleId.startsWith(`${subset}__`)) ?? sampleId.split('__')[0] ?? sampleId;
}

/** How many cases the run had, as its batch summary says; 0 = it does not. */
function sampledCount(dir: string): number {
  const path = join(dir, 'batch_summary.json');
  if (!isThere(path)) return 0;
  const { total } = rowOf(textAt(path), path);
  return typeof total === 'number' && Number.isSafeInteger(total) ? total : 0;
}

function markedCases(dir: string, datasetRoot: string | null): FoundCases {
  const named: Named[] = [];
  let others = 0;
  for (const subset of foldersIn(dir)) {
    for (const name of foldersIn(join(dir, subset))) {
      const caseDir = join(dir, subset, name);
      const marker = join(caseDir, '.done');
      if (!isThere(marker)) {
        others += isThere(join(caseDir, '.failed.json')) ? 1 : 0;
        continue;
      }
      const row = rowOf(textAt(marker), marker);
      if (row.success !== true || row.eligible_for_official_eval !== true) others += 1;
      else named.push({ one: markedCase(row, { subset, caseDir, marker, datasetRoot }), where: marker });
    }
  }
  return { cases: ownNames(named), skipped: others };
}

/** Transcripts without anything beside them, as the official scripts leave them: one folder for each video. */
function unmarkedCases(dir: string, datasetRoot: string): Named[] {
  const root = [datasetRoot, join(datasetRoot, 'data')].find((each) =>
    omniInteractSubsets.some((subset) => isFolder(join(each, subset))),
  );
  if (root === undefined) throw new InputFileError(`OmniInteract data not found under ${datasetRoot}.`);
  const here = omniInteractSubsets.filter((subset) => isFolder(join(root, subset)));
  return discoverCases(root, here).flatMap((one) => {
    const names = [officialOutputName(one), `${one.subset}/${caseFolderName(one)}`];
    const name = names.find((each) => isThere(join(dir, each, transcriptFile)));
    if (name === undefined) return [];
    const transcriptPath = join(dir, name, transcriptFile);
    const found = {
      sampleId: name.replace('/', '__'),
      subset: one.subset,
      sceneName: one.sceneType,
      annotationPath: one.annotationPath,
      transcriptPath,
    };
    return [{ one: found, where: transcriptPath }];
  });
}

type Place = { subset: string; caseDir: string; marker: string; datasetRoot: string | null };

function markedCase(row: Row, { subset, caseDir, marker, datasetRoot }: Place): EvaluationCase {
  const annotation = textOf(row.annotation);
  const sceneName = textOf(row.scene_type);
  if (annotation === '' || sceneName === '')
    throw new InputFileError(`${marker}: annotation and scene_type are missing.`);
  return {
    sampleId: `${subset}__${basename(caseDir)}`,
    subset,
    sceneName,
    annotationPath: annotationOf(resolve(annotation), subset, datasetRoot),
    transcriptPath: join(caseDir, transcriptFile),
  };
}

function foldersIn(dir: string): string[] {
  return readOr(dir, () => readdirSync(dir, { withFileTypes: true }))
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}

function textAt(path: string): string {
  return readOr(path, () => readFileSync(path, 'utf8'));
}

function readOr<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new InputFileError(`${path}: it cannot be read: ${messageOf(cause)}`, { cause });
  }
}

function transcriptOf(path: string, subset: string, dir: string): string {
  if (isThere(path)) return path;
  const moved = join(dir, subset, basename(dirname(path)), basename(path));
  return isThere(moved) ? moved : path;
}

/**
 * The annotation where it is said to be; with a dataset root, what lies there at the same place, and nothing else: where
 * nothing does the case fails, for the annotations of that dataset are to count.
 */
function annotationOf(path: string, subset: string, datasetRoot: string | null): string {
  if (datasetRoot === null) return path;
  const parts = path.split(/[/\\]/);
  const below = parts.slice(parts.lastIndexOf(subset));
  const here = join(datasetRoot, ...below);
  return [here, join(datasetRoot, 'data', ...below)].find(isThere) ?? here;
}

function rowOf(text: string, where: string): Row {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new InputFileError(`${where}: it is no JSON: ${messageOf(cause)}`, { cause });
  }
  if (!isRow(value)) throw new InputFileError(`${where}: it is no JSON object.`);
  return value;
}
