import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { startTicks } from '../sweep/process-group.ts';

const lockFile = '.omniinteract.lock';
const pollMs = 250;

const ownerSchema = z.object({
  host: z.string(),
  pid: z.number().int().positive(),
  /** When the process started, in ticks of its kernel: tells it from a later one of its number. */
  ticks: z.string().nullable(),
  token: z.string(),
});
type Owner = z.infer<typeof ownerSchema>;

/**
 * Keeps a folder for one run: a file that says who has it, made at once with its content. Node has no locks of the
 * system's, so a process that was killed leaves its file, and the next one sees that nobody stands behind it.
 */
export class FolderLock {
  readonly #path: string;
  readonly #text: string;

  private constructor(path: string, text: string) {
    this.#path = path;
    this.#text = text;
  }

  /**
   * Waits until the folder is free.
   * @param dir exists
   * @param stopped asked between two looks; `null` is returned once it is true
   * @param note says for whom it waits
   */
  static async take(
    dir: string,
    { stopped, note }: { readonly stopped: () => boolean; readonly note: (line: string) => void },
  ): Promise<FolderLock | null> {
    const path = join(dir, lockFile);
    const token = randomBytes(8).toString('hex');
    const owner: Owner = { host: hostname(), pid: process.pid, ticks: startTicks(process.pid), token };
    const text = `${JSON.stringify(owner)}\n`;
    const own = `${path}.${token}.tmp`;
    let said = false;
    writeFileSync(own, text);
    try {
      while (!stopped()) {
        if (placed(own, path)) return new FolderLock(path, text);
        const found = ownerOf(path);
        if (found === 'gone') continue;
        if (found === 'nobody') {
          removeStale(path, `${own}.stale`);
          continue;
        }
        if (!said) note(`waiting for process ${found.pid} on ${found.host}, which writes into ${dir}.`);
        said = true;
        await new Promise((resolve) => setTimeout(resolve, pollMs));
      }
      return null;
    } finally {
      rmSync(own, { force: true });
    }
  }

  release(): void {
    if (textOf(this.#path) === this.#text) rmSync(this.#path, { force: true });
  }
}

/** A link appears whole or not at all, and never over another file. */
function placed(own: string, path: string): boolean {
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

function ownerOf(path: string): Owner | 'nobody' | 'gone' {
  const text = textOf(path);
  if (text === null) return 'gone';
  const owner = parsedOwner(text);
  // What cannot be asked about, on another host, is taken for alive: two runs in one folder would spoil both.
  if (owner === null) return 'nobody';
  return owner.host === hostname() && !isAlive(owner) ? 'nobody' : owner;
}

function parsedOwner(text: string): Owner | null {
  try {
    return ownerSchema.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}

function isAlive({ pid, ticks }: Owner): boolean {
  const now = startTicks(pid);
  if (ticks !== null && now !== null) return now === ticks;
  if (ticks !== null && startTicks(process.pid) !== null) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Moved away first: of several that find it stale, only one can, and what it moved must still be stale. */
function removeStale(path: string, aside: string): void {
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  const owner = ownerOf(aside);
  if (owner !== 'nobody' && owner !== 'gone') placed(aside, path);
  rmSync(aside, { force: true });
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
