import { randomBytes } from 'node:crypto';

/** Id of the message, this part's index, number of parts. */
const headerBytes = 16;
/** Messages of which parts are missing that are kept: a part may come to nobody's use. */
const mostIncomplete = 64;

const origin = randomBytes(4).readUInt32LE(0);
let sent = 0;

/**
 * Cuts a message into parts that a broker takes, each of which says which it is.
 * @param mostBytes largest part, its header included
 */
export function messageParts(message: Uint8Array, mostBytes: number): Uint8Array[] {
  const room = mostBytes - headerBytes;
  const count = Math.max(1, Math.ceil(message.length / room));
  sent = (sent + 1) >>> 0;
  return Array.from({ length: count }, (_, index) => {
    const content = message.subarray(index * room, (index + 1) * room);
    const part = Buffer.allocUnsafe(headerBytes + content.length);
    part.writeUInt32LE(origin, 0);
    part.writeUInt32LE(sent, 4);
    part.writeUInt32LE(index, 8);
    part.writeUInt32LE(count, 12);
    part.set(content, headerBytes);
    return part;
  });
}

type Incomplete = { readonly parts: (Uint8Array | undefined)[]; missing: number };

/** Puts the parts of messages together. */
export class PartAssembler {
  readonly #incomplete = new Map<string, Incomplete>();

  /**
   * @returns the message that this part completes, or `null` while others are missing
   * @throws Error for bytes that are no part
   */
  push(part: Uint8Array): Uint8Array | null {
    const bytes = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
    if (bytes.length < headerBytes) throw new Error('a part of a message is too short');
    const [index, count] = [bytes.readUInt32LE(8), bytes.readUInt32LE(12)];
    if (index >= count || count > 1_000_000) throw new Error('a part of a message has no place in it');
    const content = bytes.subarray(headerBytes);
    if (count === 1) return content;
    const id = bytes.toString('latin1', 0, 8);
    const known = this.#incomplete.get(id) ?? { parts: new Array(count), missing: count };
    this.#incomplete.set(id, known);
    if (known.parts.length !== count || known.parts[index] !== undefined) return null;
    known.parts[index] = content;
    known.missing -= 1;
    if (known.missing > 0) {
      this.#forgetOldest();
      return null;
    }
    this.#incomplete.delete(id);
    return Buffer.concat(known.parts.flatMap((each) => each ?? []));
  }

  #forgetOldest(): void {
    if (this.#incomplete.size <= mostIncomplete) return;
    const [oldest] = this.#incomplete.keys();
    if (oldest !== undefined) this.#incomplete.delete(oldest);
  }
}
