import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { HubRepository } from './hub-repository.ts';
import { PartialBlob } from './partial-blob.ts';

const commitPattern = /^[0-9a-f]{5,64}$/i;
const etagPattern = /^[\w-][\w.-]{0,127}$/;

/** Whether a header's value may become a folder name. */
export function isCommit(value: string): boolean {
  return commitPattern.test(value);
}

/** Whether a header's value may become a file name. */
export function isEtag(value: string): boolean {
  return etagPattern.test(value);
}

/**
 * One repository's files on disk, in the layout of the hub's own Python client, so that either finds what the other
 * has downloaded: `refs/<revision>` holds a commit, `snapshots/<commit>/<file>` links into `blobs/<etag>`, and
 * `.no_exist/<commit>/<file>` marks what a commit is known not to have.
 */
export type HubCache = {
  /** The commit that a branch, tag or ref was at when it was last asked for, or `null`. */
  commitOf(revision: string): string | null;
  /** The path of a cached file; `absent` where the commit is known not to have it, `null` where nobody asked. */
  find(commit: string, name: string): string | 'absent' | null;
  /** The names of all files of a commit that are here. */
  names(commit: string): readonly string[];
  /** Begins or goes on with the download of a blob; what an earlier one has left is taken up. */
  partial(etag: string): Promise<PartialBlob>;
  /** Makes a blob that is complete, or was here already, appear under its name; returns its path in the snapshot. */
  publish(file: { readonly commit: string; readonly etag: string; readonly name: string }): Promise<string>;
  /** Whether the blob is here, whatever its name in a commit. */
  has(etag: string): boolean;
  markAbsent(commit: string, name: string): Promise<void>;
  setCommit(revision: string, commit: string): Promise<void>;
};

function temporaryName(path: string): string {
  return `${path}.${process.pid}.${randomBytes(4).toString('hex')}.incomplete`;
}

/** Makes a path appear whole or not at all. */
async function appear(path: string, write: (temporary: string) => Promise<void>): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = temporaryName(path);
  try {
    await write(temporary);
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Links as the hub's client does; copies on file systems without links, as it does too. */
async function link(blob: string, pointer: string): Promise<void> {
  await appear(pointer, async (temporary) => {
    try {
      await symlink(relative(dirname(pointer), blob), temporary);
    } catch {
      await copyFile(blob, temporary);
    }
  });
}

function namesUnder(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
      .sort();
  } catch {
    return [];
  }
}

/** @param repository its id is `org/name` or `name`, already checked */
export function hubCache(cacheFolder: string, repository: HubRepository): HubCache {
  const folder = join(cacheFolder, `${repository.kind}s--${repository.id.replaceAll('/', '--')}`);
  const pointerTo = (commit: string, name: string): string => join(folder, 'snapshots', commit, name);
  const absenceOf = (commit: string, name: string): string => join(folder, '.no_exist', commit, name);
  const blobOf = (etag: string): string => join(folder, 'blobs', etag);
  return {
    commitOf: (revision) => {
      try {
        const commit = readFileSync(join(folder, 'refs', revision), 'utf8').trim();
        return isCommit(commit) ? commit : null;
      } catch {
        return null;
      }
    },
    find: (commit, name) => {
      const pointer = pointerTo(commit, name);
      if (existsSync(pointer)) return pointer;
      return existsSync(absenceOf(commit, name)) ? 'absent' : null;
    },
    names: (commit) => namesUnder(join(folder, 'snapshots', commit)),
    partial: (etag) => PartialBlob.open(blobOf(etag)),
    has: (etag) => existsSync(blobOf(etag)),
    publish: async ({ commit, etag, name }) => {
      const pointer = pointerTo(commit, name);
      await link(blobOf(etag), pointer);
      return pointer;
    },
    markAbsent: (commit, name) => appear(absenceOf(commit, name), (temporary) => writeFile(temporary, '')),
    setCommit: (revision, commit) =>
      appear(join(folder, 'refs', revision), (temporary) => writeFile(temporary, commit)),
  };
}
