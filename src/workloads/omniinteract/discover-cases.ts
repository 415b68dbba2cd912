import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { InputFileError, messageOf, UsageError } from '../../foundation/errors.ts';
import { isRow, type Row, shown } from '../row-value.ts';
import { filesBelow, isFile, isFolder, textIn } from './dataset-files.ts';
import { isSubset, type OmniInteractCase, type OmniInteractSubset } from './omniinteract-case.ts';

export const mapFile = 'video_json_map.json';

/**
 * The cases of the subsets asked for, in the dataset's own order.
 * @param root the folder that holds the subsets
 * @throws UsageError for subsets that can't be asked for, InputFileError for a dataset that is not in its form
 */
export function discoverCases(root: string, subsets: readonly string[]): OmniInteractCase[] {
  const cases = checkedSubsets(subsets).flatMap((subset) => {
    const found = casesOf(subset, join(root, subset));
    if (found.length > 0) return found;
    throw new InputFileError(
      `No OmniInteract sessions found for requested subset '${subset}' under ${root}. Leave it out of --omniinteract-subsets, or complete the dataset.`,
    );
  });
  const paths = new Set(cases.map(({ videoPath }) => videoPath));
  if (paths.size < cases.length)
    throw new InputFileError(
      `OmniInteract dataset contains duplicate video paths under ${root}. Each video belongs to one case.`,
    );
  return cases;
}

function checkedSubsets(subsets: readonly string[]): OmniInteractSubset[] {
  const unknown = subsets.filter((subset) => !isSubset(subset));
  if (unknown.length > 0)
    throw new UsageError(
      `Unsupported OmniInteract subsets: [${unknown.map((name) => `'${name}'`).join(', ')}]. Choose from 1q1a, 1q1a_math, 1qna.`,
    );
  if (subsets.length === 0) throw new UsageError('At least one OmniInteract subset is required');
  if (new Set(subsets).size < subsets.length)
    throw new UsageError('OmniInteract subsets must not contain duplicates');
  return subsets.filter(isSubset);
}

function casesOf(subset: OmniInteractSubset, root: string): OmniInteractCase[] {
  return subset === '1qna' ? benchCases(root) : mappedCases(subset, root);
}

/** The entries of a subset's map, in its order. */
export function mappedCases(subset: OmniInteractSubset, root: string): OmniInteractCase[] {
  const path = join(root, mapFile);
  return mapEntries(path).map((entry) => {
    if (!isRow(entry)) throw badMapRow(path, entry);
    const videoRel = confined(root, entry.video, 'video', () => badMapRow(path, entry));
    const annotationRel = confined(root, entry.annotation, 'annotation', () => badMapRow(path, entry));
    const { scene_type: scene = null } = entry;
    if (scene !== null && typeof scene !== 'string') throw badMapRow(path, entry);
    const videoPath = join(root, videoRel);
    const annotationPath = join(root, annotationRel);
    const missing = [videoPath, annotationPath].filter((file) => !isFile(file));
    if (missing.length > 0)
      throw new InputFileError(
        `OmniInteract mapping references missing files: ${missing.map((file) => `'${file}'`).join(', ')} (${path}). Complete the dataset.`,
      );
    return { subset, videoRel, videoPath, annotationPath, sceneType: (scene || 'multi_turn').toLowerCase() };
  });
}

function mapEntries(path: string): readonly unknown[] {
  if (!isFile(path)) throw new InputFileError(`Missing OmniInteract mapping: ${path}`);
  let value: unknown;
  try {
    value = JSON.parse(textIn(path));
  } catch (cause) {
    throw new InputFileError(`Invalid OmniInteract mapping: ${path} (${messageOf(cause)})`, { cause });
  }
  if (isRow(value) && Array.isArray(value.entries)) return value.entries;
  throw new InputFileError(
    `Invalid OmniInteract mapping: ${path} (expected an object with "entries", a list)`,
  );
}

function badMapRow(path: string, entry: unknown): InputFileError {
  return new InputFileError(
    `Invalid OmniInteract mapping row in ${path}: ${shown(entry)}. Expected {"video", "annotation", "scene_type"?} with paths from the subset's folder.`,
  );
}

/**
 * A path that stays in its folder. Only its text is judged: files of a hub's cache are links to elsewhere, and archives
 * with links are refused when they are unpacked.
 */
function confined(root: string, text: Row[string], field: string, malformed: () => Error): string {
  if (typeof text !== 'string' || text === '' || text.includes('\0')) throw malformed();
  const rel = text.replaceAll('\\', '/');
  const inside = relative(root, resolve(root, rel));
  if (isAbsolute(rel) || /^[a-z]:/i.test(rel) || inside === '' || inside.split(sep)[0] === '..')
    throw new InputFileError(`Unsafe OmniInteract ${field} path: '${text}'. Expected a path inside ${root}.`);
  return inside.split(sep).join('/');
}

/** Every video of the 1qna layout, sorted by path. */
function benchCases(root: string): OmniInteractCase[] {
  const videos = join(root, 'videos_bench');
  const annotations = join(root, 'annotations');
  if (!isFolder(videos) || !isFolder(annotations))
    throw new InputFileError(
      `Invalid OmniInteract 1qna layout under ${root}. Expected the folders videos_bench and annotations.`,
    );
  return videosUnder(videos).map((rel) => benchCase(root, rel));
}

/** @param rel path of the video from `videos_bench` */
function benchCase(root: string, rel: string): OmniInteractCase {
  const annotationPath = join(root, 'annotations', rel.replace(/\.mp4$/i, '.json'));
  if (!isFile(annotationPath)) throw new InputFileError(`Missing OmniInteract annotation: ${annotationPath}`);
  const videoRel = `videos_bench/${rel}`;
  return { subset: '1qna', videoRel, videoPath: join(root, videoRel), annotationPath, sceneType: '1qna' };
}

function videosUnder(folder: string): string[] {
  return filesBelow(folder)
    .filter((path) => path.endsWith('.mp4'))
    .sort(byFolderAndName);
}

/** As Python sorts paths: part by part, so that a folder's files stand before those of `folder-2`. */
function byFolderAndName(a: string, b: string): number {
  const [as, bs] = [a.split('/'), b.split('/')];
  for (let i = 0; i < Math.min(as.length, bs.length); i += 1) {
    const [one = '', other = ''] = [as[i], bs[i]];
    if (one !== other) return one < other ? -1 : 1;
  }
  return as.length - bs.length;
}
