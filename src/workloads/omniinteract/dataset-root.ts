import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { InputFileError, UsageError } from '../../foundation/errors.ts';
import { isFile, isFolder, isThere } from './dataset-files.ts';
import { omniInteractSubsets } from './omniinteract-case.ts';
import { unpackArchive } from './unpack-archive.ts';

/** Where the dataset is published. */
export const officialDataset = 'lucky-lance/OmniInteract';

/** In the order in which they are looked for. */
export const archiveNames = ['data.tar.gz', 'data.tar'];
const archiveEnding = /\.(tar|tar\.gz|tgz)$/i;

export type RootSearch = {
  readonly note: (line: string) => void;
  /** Fetches the archive of a hub dataset, and says where it may be unpacked. */
  readonly download: (id: string) => Promise<{ readonly archive: string; readonly unpackInto: string }>;
};

/**
 * The folder that holds the subsets: itself, or its `data`, or what is in its archive; or the archive of a dataset on
 * the hub.
 * @returns an absolute path
 * @param path a folder, an archive or a hub id, with `@revision` where it matters; `null` = the official dataset
 * @throws UsageError for a path that does not exist, InputFileError where the dataset is not in it
 */
export async function datasetRoot(path: string | null, search: RootSearch): Promise<string> {
  if (path !== null && (isAbsolute(path) || isThere(path))) return await localRoot(resolve(path), search);
  if (path !== null && isPathLike(path)) throw new UsageError(`--dataset-path does not exist: ${path}`);
  const { archive, unpackInto } = await search.download(path ?? officialDataset);
  return await unpacked(archive, unpackInto, search);
}

/** `./data`, `../data` and archives can't be ids of a hub. */
function isPathLike(path: string): boolean {
  const id = path.replace(/@.*$/, '');
  return /^(\.{1,2}|~)(\/|$)/.test(id) || archiveEnding.test(id) || id.split('/').length > 2;
}

async function localRoot(path: string, search: RootSearch): Promise<string> {
  if (!isThere(path)) throw new UsageError(`--dataset-path does not exist: ${path}`);
  if (isFile(path)) {
    if (!archiveEnding.test(path))
      throw new UsageError(
        `--dataset-path ${path} is neither a folder nor an archive. Expected a folder with 1q1a, 1q1a_math or 1qna in it, or a .tar or .tar.gz of one.`,
      );
    const stem = basename(path).replace(archiveEnding, '');
    return await unpacked(path, join(dirname(path), `.${stem}.vllm_omni_extracted`), search);
  }
  const found = subsetsIn(path);
  if (found !== null) return found;
  const archive = archiveNames.map((name) => join(path, name)).find(isFile);
  if (archive !== undefined) return await unpacked(archive, join(path, '.vllm_omni_extracted'), search);
  throw notFound(path);
}

async function unpacked(archive: string, into: string, { note }: RootSearch): Promise<string> {
  const folder = await unpackArchive(archive, {
    into,
    note,
    check: (staging) => {
      if (subsetsIn(staging) === null) throw notFound(archive);
    },
  });
  const root = subsetsIn(folder);
  if (root === null) throw notFound(folder);
  return root;
}

function subsetsIn(folder: string): string | null {
  const holds = (path: string): boolean => omniInteractSubsets.some((subset) => isFolder(join(path, subset)));
  return [folder, join(folder, 'data')].find(holds) ?? null;
}

function notFound(root: string): InputFileError {
  return new InputFileError(
    `OmniInteract data not found under ${root}. Expected 1q1a, 1q1a_math or 1qna in it or in its data folder, or a data.tar.gz or data.tar.`,
  );
}
