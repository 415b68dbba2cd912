import { randomBytes } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { crc32 } from 'node:zlib';

/** Where an item stands, and a checksum of it. */
type Place = readonly [start: number, length: number, checksum: number];
/** Length and checksum of the table of places, 32 bits each, at the very end: sizes are known last. */
const trailerBytes = 8;

async function readAt(file: FileHandle, start: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  const { bytesRead } = await file.read(bytes, 0, length, start);
  if (bytesRead !== length) throw new Error('the file is too short');
  return bytes;
}

async function placesOf(file: FileHandle): Promise<(Place | null)[]> {
  const { size } = await file.stat();
  const trailer = await readAt(file, size - trailerBytes, trailerBytes);
  const tableBytes = trailer.readUInt32LE(0);
  const table = await readAt(file, size - trailerBytes - tableBytes, tableBytes);
  if (crc32(table) !== trailer.readUInt32LE(4)) throw new Error('the table is damaged');
  // The checksum proves that the table is what was written, so that its form needs no check of its own.
  return JSON.parse(table.toString());
}

/**
 * Reads a file of media.
 * @throws Error where it is missing, damaged, or has another number of items; some may have been given by then
 */
export async function readMediaEntry(
  path: string,
  count: number,
  onItem: (index: number, bytes: Uint8Array) => void,
): Promise<void> {
  const file = await open(path);
  try {
    const places = await placesOf(file);
    if (places.length !== count) throw new Error('it has another number of items');
    for (const [index, place] of places.entries()) {
      if (place === null) throw new Error('an item is missing');
      const bytes = await readAt(file, place[0], place[1]);
      if (crc32(bytes) !== place[2]) throw new Error('an item is damaged');
      onItem(index, bytes);
    }
  } finally {
    await file.close();
  }
}

/**
 * Writes a file of media beside its place and moves it there when it is whole. What fails is told once, and the
 * rest is then not written: a cache must not stop a run.
 */
export class MediaEntryWriter {
  readonly #path: string;
  readonly #temporary: string;
  readonly #maxBytes: number;
  readonly #onFailure: (cause: unknown) => void;
  readonly #places: (Place | null)[] = [];
  #file: FileHandle | null = null;
  #size = 0;

  constructor(options: { path: string; maxBytes: number; onFailure: (cause: unknown) => void }) {
    this.#path = options.path;
    this.#maxBytes = options.maxBytes;
    this.#onFailure = options.onFailure;
    this.#temporary = `${options.path}.${process.pid}.${randomBytes(4).toString('hex')}.incomplete`;
  }

  async begin(): Promise<void> {
    await this.#trying(async () => {
      this.#file = await open(this.#temporary, 'wx');
    });
  }

  async add(index: number, bytes: Uint8Array): Promise<void> {
    const file = this.#file;
    if (file === null) return;
    const start = this.#size;
    this.#size += bytes.length;
    while (this.#places.length <= index) this.#places.push(null);
    await this.#trying(async () => {
      if (this.#size > this.#maxBytes)
        throw new Error(`they take more than ${Number((this.#maxBytes / 1e6).toPrecision(3))} MB`);
      this.#places[index] = [start, bytes.length, crc32(bytes)];
      await file.write(bytes, 0, bytes.length, start);
    });
  }

  /** @returns whether the entry is now in its place */
  async finish(): Promise<boolean> {
    const file = this.#file;
    if (file === null) return false;
    const table = Buffer.from(JSON.stringify(this.#places));
    const trailer = Buffer.alloc(trailerBytes);
    trailer.writeUInt32LE(table.length, 0);
    trailer.writeUInt32LE(crc32(table), 4);
    return await this.#trying(async () => {
      await file.write(Buffer.concat([table, trailer]), 0, table.length + trailerBytes, this.#size);
      await file.close();
      await rename(this.#temporary, this.#path);
      this.#file = null;
    });
  }

  /** Leaves nothing behind of an entry that is not finished. */
  async discard(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    if (file === null) return;
    await file.close().catch(() => undefined);
    await rm(this.#temporary, { force: true }).catch(() => undefined);
  }

  async #trying(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (cause) {
      this.#onFailure(cause);
      await this.discard();
      return false;
    }
  }
}
