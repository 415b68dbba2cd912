import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../foundation/errors.ts';
import { cacheFolder, makeRoom, markUsed } from './cache-folder.ts';
import { makeRandomMedia, mediaGeneratorVersion, type RandomMediaJob } from './random-media.ts';
import { MediaEntryWriter, readMediaEntry } from './random-media-entry.ts';

/** Older entries make room beyond this. */
const maxFolderBytes = 2 * 1024 ** 3;
const ending = '.media';

/** Names a job's result by everything that it depends on. */
export function randomMediaKey(job: RandomMediaJob): string {
  const { videoEncoder, ...rest } = job;
  const hasVideo = job.items.some(({ kind }) => kind === 'video');
  const parts = { mediaGeneratorVersion, ...rest, videoEncoder: hasVideo ? videoEncoder : null };
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

export type MediaKeeping = {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Gets one line when the media cannot be kept. */
  readonly note: (line: string) => void;
  /** Called with each item, in any order; twice where an entry turned out to be damaged. */
  readonly onItem: (index: number, bytes: Uint8Array) => void;
  readonly maxBytes?: number;
};

async function tryCache(path: string, count: number, onItem: MediaKeeping['onItem']): Promise<boolean> {
  try {
    await readMediaEntry(path, count, onItem);
    await markUsed(path);
    return true;
  } catch {
    // Nothing there, or nothing that can be trusted: media are made again.
    return false;
  }
}

/** Where media came from: an earlier run, or this one. */
export type MediaOrigin = 'kept' | 'made';

/**
 * The media of a job: those of an earlier run, or made now and kept for the next, in `random-media` under the
 * folder of caches.
 */
export async function obtainRandomMedia(job: RandomMediaJob, keeping: MediaKeeping): Promise<MediaOrigin> {
  const { env, note, onItem, maxBytes = maxFolderBytes } = keeping;
  const folder = cacheFolder(env, 'random-media');
  if (folder === null) {
    await makeRandomMedia(job, onItem);
    return 'made';
  }
  const path = join(folder, `${randomMediaKey(job)}${ending}`);
  if (await tryCache(path, job.items.length, onItem)) return 'kept';
  const onFailure = (cause: unknown): void =>
    note(
      `random-mm: the media could not be kept in ${folder} for the next run (${messageOf(cause)}). ` +
        'OMNIMETER_CACHE=off turns this cache off.',
    );
  await mkdir(folder, { recursive: true }).catch(() => undefined);
  const writer = new MediaEntryWriter({ path, maxBytes, onFailure });
  await writer.begin();
  try {
    await makeRandomMedia(job, async (index, bytes) => {
      onItem(index, bytes);
      await writer.add(index, bytes);
    });
    if (await writer.finish()) await makeRoom(folder, ending, maxBytes).catch(() => undefined);
  } finally {
    await writer.discard();
  }
  return 'made';
}
