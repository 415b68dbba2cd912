import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** Payloads that can be told apart as taken or not; more do not wait at once. */
const flags = 65_536;
const flagsBytes = flags * 4;
const namePrefix = 'omnimeter-';
const ringName = 'ring';

/** Memory that all processes of a host can name; a disk's folder where there is none. */
function sharedFolder(): string {
  return existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
}

/** Where a payload lies: in a ring's file at an offset, or in a file of its own. */
export type SharedLocation = {
  readonly file: string;
  readonly offset: number;
  readonly length: number;
  /** Counts the payloads of a ring; -1 = a file of its own. */
  readonly sequence: number;
};

type Slot = SharedLocation & { readonly requestId: string; abandoned: boolean };

/** Files of rings whose process is gone: it was killed before it could remove them. */
function removeOrphans(folder: string): void {
  for (const name of readdirSync(folder)) {
    const pid = Number(/^omnimeter-(\d+)-/.exec(name)?.[1]);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    try {
      process.kill(pid, 0);
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ESRCH')
        rmSync(join(folder, name), { recursive: true, force: true });
    }
  }
}

/**
 * The producer's side of a ring of payloads in memory that other processes of the host can read. A reader marks a
 * payload as taken in a table at the file's beginning, which the producer looks at when it needs room, so that the two
 * share nothing but the file. What does not fit the ring gets a file of its own.
 */
export class SharedMemoryRing {
  readonly #folder: string;
  readonly #file: string;
  readonly #descriptor: number;
  readonly #capacity: number;
  /** Payloads that may still be read, oldest first. */
  #slots: Slot[] = [];
  readonly #ownFiles = new Map<string, Slot>();
  #head = 0;
  #sequence = 0;
  #closed = false;

  /** @throws a system error where the memory cannot be had */
  constructor(capacityBytes: number, folder = sharedFolder()) {
    removeOrphans(folder);
    this.#folder = mkdtempSync(join(folder, `${namePrefix}${process.pid}-`));
    this.#file = join(this.#folder, ringName);
    this.#capacity = capacityBytes;
    this.#descriptor = openSync(this.#file, 'wx+', 0o600);
    writeSync(this.#descriptor, Buffer.alloc(flagsBytes), 0, flagsBytes, 0);
  }

  /** Writes a payload. @throws a system error where there is no memory left */
  put(requestId: string, bytes: Buffer): SharedLocation {
    this.#reclaim();
    const offset = this.#place(bytes.length);
    if (offset === null) return this.#ownFile(requestId, bytes);
    const sequence = this.#sequence + 1;
    writeSync(this.#descriptor, bytes, 0, bytes.length, flagsBytes + offset);
    this.#sequence = sequence;
    this.#head = offset + bytes.length;
    const slot = { file: this.#file, offset: flagsBytes + offset, length: bytes.length, sequence };
    this.#slots.push({ ...slot, requestId, abandoned: false });
    return slot;
  }

  /** Frees what was put for a request and not taken. */
  abandon(requestId: string): void {
    for (const slot of this.#slots) if (slot.requestId === requestId) slot.abandoned = true;
    for (const [file, slot] of this.#ownFiles) {
      if (slot.requestId !== requestId) continue;
      this.#ownFiles.delete(file);
      rmSync(file, { force: true });
    }
    this.#reclaim();
  }

  /** Payloads that were not taken, and their bytes. */
  held(): { readonly payloads: number; readonly bytes: number } {
    if (this.#closed) return { payloads: 0, bytes: 0 };
    for (const file of this.#ownFiles.keys()) if (!existsSync(file)) this.#ownFiles.delete(file);
    const slots = this.#slots.filter((slot) => !slot.abandoned && !this.#isTaken(slot));
    const held = [...slots, ...this.#ownFiles.values()];
    return { payloads: held.length, bytes: held.reduce((sum, { length }) => sum + length, 0) };
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#slots = [];
    closeSync(this.#descriptor);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #ownFile(requestId: string, bytes: Buffer): SharedLocation {
    this.#sequence += 1;
    const file = join(this.#folder, `payload-${this.#sequence}`);
    writeFileSync(file, bytes, { mode: 0o600 });
    const location = { file, offset: 0, length: bytes.length, sequence: -1 };
    this.#ownFiles.set(file, { ...location, requestId, abandoned: false });
    return location;
  }

  #isTaken({ sequence }: Slot): boolean {
    const word = Buffer.allocUnsafe(4);
    readSync(this.#descriptor, word, 0, 4, (sequence % flags) * 4);
    return word.readUInt32LE(0) === sequence >>> 0;
  }

  #reclaim(): void {
    let gone = 0;
    for (const slot of this.#slots) {
      if (!slot.abandoned && !this.#isTaken(slot)) break;
      gone += 1;
    }
    if (gone > 0) this.#slots.splice(0, gone);
    if (this.#slots.length === 0) this.#head = 0;
  }

  /** A place for so many bytes, from the ring's beginning; `null` = there is none. */
  #place(length: number): number | null {
    const [oldest] = this.#slots;
    if (this.#slots.length >= flags - 1 || length > this.#capacity) return null;
    if (oldest === undefined) return 0;
    const tail = oldest.offset - flagsBytes;
    const wrapped = (this.#slots.at(-1)?.offset ?? 0) - flagsBytes < tail;
    if (wrapped) return this.#head + length <= tail ? this.#head : null;
    if (this.#head + length <= this.#capacity) return this.#head;
    return length <= tail ? 0 : null;
  }
}

/** The consumer's side of the rings of a host. */
export class SharedMemoryReader {
  readonly #descriptors = new Map<string, number>();

  /**
   * Reads a payload, and marks it as taken.
   * @throws Error for a place that is no ring's, a system error where it is gone
   */
  take({ file, offset, length, sequence }: SharedLocation): Buffer {
    // The location came from another process: it must not name any file that this one can read.
    const folder = dirname(file);
    if (dirname(folder) !== sharedFolder() || !basename(folder).startsWith(namePrefix))
      throw new Error(`${file} is no place of shared payloads`);
    if (sequence < 0) {
      const bytes = readFileSync(file);
      unlinkSync(file);
      return bytes;
    }
    const descriptor = this.#open(file);
    const bytes = Buffer.allocUnsafe(length);
    const read = readSync(descriptor, bytes, 0, length, offset);
    if (read !== length) throw new Error(`${read} of ${length} bytes could be read from ${file}`);
    const word = Buffer.allocUnsafe(4);
    word.writeUInt32LE(sequence >>> 0, 0);
    writeSync(descriptor, word, 0, 4, (sequence % flags) * 4);
    return bytes;
  }

  close(): void {
    for (const descriptor of this.#descriptors.values()) closeSync(descriptor);
    this.#descriptors.clear();
  }

  #open(file: string): number {
    const known = this.#descriptors.get(file);
    if (known !== undefined) return known;
    const descriptor = openSync(file, 'r+');
    this.#descriptors.set(file, descriptor);
    return descriptor;
  }
}
