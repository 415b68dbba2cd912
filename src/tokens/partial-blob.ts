import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, truncate } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** A download that lives writes more often than this, since it gives up on a silent hub sooner. */
const abandonedAfterMs = 120_000;

/**
 * A blob while it arrives. It has a name of its own process until it is complete, so that two downloads never write
 * into one file; what breaks off is left as `<etag>.incomplete`, from where the next download goes on.
 */
export class PartialBlob {
  readonly #blob: string;
  readonly #temporary: string;
  #bytes: number;

  private constructor(blob: string, temporary: string, bytes: number) {
    this.#blob = blob;
    this.#temporary = temporary;
    this.#bytes = bytes;
  }

  /** Takes up what an earlier download of the blob has left, or begins anew. */
  static async open(blob: string): Promise<PartialBlob> {
    await mkdir(dirname(blob), { recursive: true });
    const temporary = `${blob}.${process.pid}.${randomBytes(4).toString('hex')}.incomplete`;
    for (const left of await leftovers(blob)) {
      try {
        // Renaming is the claim: of two that try, one gets it.
        await rename(left, temporary);
        return new PartialBlob(blob, temporary, (await stat(temporary)).size);
      } catch {
        // Another process was faster.
      }
    }
    return new PartialBlob(blob, temporary, 0);
  }

  /** Bytes that are here. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Writes a body that starts at a byte of the file, at most the one after those that are here. */
  async append(body: Readable, fromByte: number): Promise<void> {
    if (fromByte < this.#bytes) await truncate(this.#temporary, fromByte);
    const sink = createWriteStream(this.#temporary, { flags: 'a' });
    try {
      await pipeline(body, sink);
    } finally {
      this.#bytes = await stat(this.#temporary).then(
        ({ size }) => size,
        () => 0,
      );
    }
  }

  /** The SHA-256 of what is here. */
  async sha256(): Promise<string> {
    const hash = createHash('sha256');
    await pipeline(createReadStream(this.#temporary), hash);
    return hash.digest('hex');
  }

  /** The blob is complete and appears under its name. */
  async complete(): Promise<void> {
    await rename(this.#temporary, this.#blob);
  }

  /** Keeps what is here for the next download. */
  async leave(): Promise<void> {
    if (this.#bytes > 0) await rename(this.#temporary, `${this.#blob}.incomplete`).catch(() => undefined);
    else await this.discard();
  }

  async discard(): Promise<void> {
    this.#bytes = 0;
    await rm(this.#temporary, { force: true });
  }
}

/** What broke off, and what a killed process has left. */
async function leftovers(blob: string): Promise<string[]> {
  const folder = dirname(blob);
  const name = basename(blob);
  const found: string[] = [];
  for (const entry of await readdir(folder)) {
    if (!entry.startsWith(`${name}.`) || !entry.endsWith('.incomplete')) continue;
    const path = join(folder, entry);
    const isLeft = entry === `${name}.incomplete`;
    const age = isLeft
      ? null
      : await stat(path).then(
          ({ mtimeMs }) => Date.now() - mtimeMs,
          () => 0,
        );
    if (age === null || age > abandonedAfterMs) found.push(path);
  }
  return found;
}
