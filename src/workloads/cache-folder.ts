import { readdir, rm, stat, utimes } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Where something that took long to make is kept for the next run: in `$XDG_CACHE_HOME/omnimeter`, or under
 * `~/.cache`.
 * @returns `null` with `OMNIMETER_CACHE=off`
 */
export function cacheFolder(env: Readonly<Record<string, string | undefined>>, name: string): string | null {
  if (env.OMNIMETER_CACHE === 'off') return null;
  const caches = env.XDG_CACHE_HOME || join(env.HOME || homedir(), '.cache');
  return join(caches, 'omnimeter', name);
}

/** Notes that an entry was of use, so that others make room first. */
export async function markUsed(path: string): Promise<void> {
  const now = new Date();
  await utimes(path, now, now).catch(() => undefined);
}

/** Removes the entries that were not used for longest until those of this ending are within their size. */
export async function makeRoom(folder: string, ending: string, maxBytes: number): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(ending));
  const entries = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      const { size, mtimeMs } = await stat(path);
      return { path, bytes: size, usedMs: mtimeMs };
    }),
  );
  let total = entries.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { path, bytes } of entries.sort((a, b) => a.usedMs - b.usedMs)) {
    if (total <= maxBytes) return;
    await rm(path, { force: true });
    total -= bytes;
  }
}
