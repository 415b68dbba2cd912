import { randomBytes } from 'node:crypto';
import { createWriteStream, existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

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
 * One model's files on disk, in the layout of the hub's own Python client, so that either finds what the other
 * has downloaded: `refs/main` holds a commit, `snapshots/<commit>/<file>` links into `blobs/<etag>`, and
 * `.no_exist/<commit>/<file>` marks what a commit is known not to have.
 */
export type HubCache = {
  /** The commit that `main` was at when it was last asked for, or `null`. */
  mainCommit(): string | null;
  /** The path of a cached file; `absent` where the commit is known not to have it, `null` where nobody asked. */
  find(commit: string, name: string): string | 'absent' | null;
  /** Writes a file so that no reader ever sees a part of it; returns its path in the snapshot. */
  store(file: {
    readonly commit: string;
    readonly etag: string;
    readonly name: string;
    readonly body: Readable;
  }): Promise<string>;
  markAbsent(commit: string, name: string): Promise<void>;
  setMainCommit(commit: string): Promise<void>;
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

/** @param id `org/name` or `name`, already checked */
export function hubCache(cacheFolder: string, id: string): HubCache {
  const folder = join(cacheFolder, `models--${id.replaceAll('/', '--')}`);
  const pointerTo = (commit: string, name: string): string => join(folder, 'snapshots', commit, name);
  const absenceOf = (commit: string, name: string): string => join(folder, '.no_exist', commit, name);
  return {
    mainCommit: () => {
      try {
        const commit = readFileSync(join(folder, 'refs', 'main'), 'utf8').trim();
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
    store: async ({ commit, etag, name, body }) => {
      const blob = join(folder, 'blobs', etag);
      await appear(blob, (temporary) => pipeline(body, createWriteStream(temporary)));
      const pointer = pointerTo(commit, name);
      await link(blob, pointer);
      return pointer;
    },
    markAbsent: (commit, name) => appear(absenceOf(commit, name), (temporary) => writeFile(temporary, '')),
    setMainCommit: (commit) =>
      appear(join(folder, 'refs', 'main'), (temporary) => writeFile(temporary, commit)),
  };
}
