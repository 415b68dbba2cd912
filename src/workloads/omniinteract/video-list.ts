import { basename, dirname, join, resolve } from 'node:path';
import { InputFileError, UsageError } from '../../foundation/errors.ts';
import { isRow } from '../row-value.ts';
import { isFile, isFolder, textIn } from './dataset-files.ts';
import { mapFile, mappedCases } from './discover-cases.ts';
import {
  isSubset,
  type OmniInteractCase,
  type OmniInteractSubset,
  officialOutputName,
} from './omniinteract-case.ts';

/**
 * The cases that a list names, in its order; `sampled_cases.jsonl` of an earlier run is such a list.
 * @param count how many from the beginning on; 0, or more than there are, takes all
 * @throws UsageError where there is no such file, InputFileError naming the line that is at fault
 */
export function listedCases(path: string, count: number): OmniInteractCase[] {
  if (!isFile(path)) throw new UsageError(`--omniinteract-video-list does not exist: ${path}`);
  const layouts = new Map<string, readonly OmniInteractCase[]>();
  const cases: OmniInteractCase[] = [];
  const seen = new Set<string>();
  for (const [index, line] of textIn(path).split('\n').entries()) {
    if (line.trim() === '') continue;
    const one = listedCase(line, `OmniInteract video_list line ${index + 1}`, layouts);
    if (seen.has(one.videoPath))
      throw new InputFileError(`OmniInteract video_list contains duplicate video_path: ${one.videoPath}`);
    seen.add(one.videoPath);
    cases.push(one);
  }
  if (cases.length === 0) throw new InputFileError(`OmniInteract video_list is empty: ${path}`);
  return count === 0 ? cases : cases.slice(0, count);
}

function listedCase(
  line: string,
  where: string,
  layouts: Map<string, readonly OmniInteractCase[]>,
): OmniInteractCase {
  const row = parsedRow(line, where);
  const { subset, video_path: given } = row;
  if (typeof subset !== 'string' || typeof given !== 'string' || subset === '' || given === '')
    throw new InputFileError(`${where} requires subset and video_path`);
  if (!isSubset(subset)) throw new InputFileError(`Unsupported OmniInteract subset: '${subset}' (${where})`);
  const videoPath = resolve(given);
  if (!isFile(videoPath)) throw new InputFileError(`${where} video missing: ${videoPath}`);
  const root = subsetRoot(subset, videoPath);
  const one =
    subset === '1qna'
      ? benchCase(root, videoPath, where)
      : mapCase(subset, root, { videoPath, where, layouts });
  checkOutputName(row.output_name, one, where);
  return one;
}

function parsedRow(line: string, where: string): Readonly<Record<string, unknown>> {
  let row: unknown;
  try {
    row = JSON.parse(line);
  } catch (cause) {
    throw new InputFileError(`${where} is not valid JSON`, { cause });
  }
  if (isRow(row)) return row;
  throw new InputFileError(`${where} must be a JSON object`);
}

/** The nearest folder above the video that is named like the subset and laid out like it. */
function subsetRoot(subset: OmniInteractSubset, videoPath: string): string {
  for (let folder = dirname(videoPath); folder !== dirname(folder); folder = dirname(folder)) {
    if (basename(folder) !== subset) continue;
    const laidOut =
      subset === '1qna'
        ? isFolder(join(folder, 'videos_bench')) && isFolder(join(folder, 'annotations'))
        : isFile(join(folder, mapFile));
    if (laidOut) return folder;
  }
  throw new InputFileError(`Could not locate OmniInteract subset root for '${subset}' from ${videoPath}`);
}

function benchCase(root: string, videoPath: string, where: string): OmniInteractCase {
  const videos = `${join(root, 'videos_bench')}/`;
  if (!videoPath.startsWith(videos))
    throw new InputFileError(`${where} is outside videos_bench: ${videoPath}`);
  const rel = videoPath.slice(videos.length);
  const annotationPath = join(root, 'annotations', rel.replace(/\.[^./]*$/, '.json'));
  if (!isFile(annotationPath)) throw new InputFileError(`${where} annotation missing: ${annotationPath}`);
  return { subset: '1qna', videoRel: `videos_bench/${rel}`, videoPath, annotationPath, sceneType: '1qna' };
}

function mapCase(
  subset: OmniInteractSubset,
  root: string,
  row: { videoPath: string; where: string; layouts: Map<string, readonly OmniInteractCase[]> },
): OmniInteractCase {
  const known = row.layouts.get(root) ?? mappedCases(subset, root);
  row.layouts.set(root, known);
  const found = known.find(({ videoPath }) => videoPath === row.videoPath);
  if (found) return found;
  throw new InputFileError(`${row.where} is not in ${subset} mapping: ${row.videoPath}`);
}

function checkOutputName(given: unknown, one: OmniInteractCase, where: string): void {
  const official = officialOutputName(one);
  if (given === undefined || given === null || given === official) return;
  throw new InputFileError(`${where} output_name mismatch: '${String(given)}' != '${official}'`);
}
