/** Where each entry of a file stands: byte offsets, end exclusive. */
export type EntrySpan = { readonly start: number; readonly end: number };

/** Finds entries in a file that is given piece by piece, so that a file of any size can be indexed. */
export type EntryIndexer = {
  /** Takes the next bytes of the file. The buffer may be reused afterwards. */
  take(bytes: Buffer): void;
  /** @throws EntryIndexError where the file ends too early */
  finish(): EntrySpan[];
};

/** The file is not a list of entries; `offset` is where that shows. */
export class EntryIndexError extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

const quote = 0x22;
const backslash = 0x5c;
const newline = 0x0a;
const byteOrderMark = [0xef, 0xbb, 0xbf];

/** Blanks, and the bytes of a byte order mark, which may stand at the very beginning. */
function isBlank(byte: number, offset: number): boolean {
  return byte === 0x20 || (byte >= 0x09 && byte <= 0x0d) || (offset < 3 && byte === byteOrderMark[offset]);
}

/** One entry per line that is not blank (JSONL). */
export function lineIndexer(): EntryIndexer {
  const spans: EntrySpan[] = [];
  let offset = 0;
  let lineStart = 0;
  let blank = true;
  const endLine = (end: number): void => {
    if (!blank) spans.push({ start: lineStart, end });
    blank = true;
  };
  return {
    take: (bytes) => {
      for (let at = 0; at < bytes.length; ) {
        const found = bytes.indexOf(newline, at);
        const end = found < 0 ? bytes.length : found;
        for (let i = at; blank && i < end; i += 1) blank = isBlank(bytes[i] as number, offset + i);
        if (found < 0) break;
        endLine(offset + found);
        lineStart = offset + found + 1;
        at = found + 1;
      }
      offset += bytes.length;
    },
    finish: () => {
      endLine(offset);
      return spans;
    },
  };
}

/**
 * One entry per element of a top-level JSON array. Only brackets and strings are looked at, and strings are
 * skipped by a native search, so that hundreds of MB take a second; each entry is parsed when it is read.
 */
export function arrayIndexer(): EntryIndexer {
  const spans: EntrySpan[] = [];
  let offset = 0;
  /** 0 before the array and after it, 1 between entries, more within one. */
  let depth = 0;
  let ended = false;
  let inString = false;
  /** Backslashes in a row at the end of the last piece. */
  let carriedBackslashes = 0;
  let start = 0;

  /** The index after the string's closing quote, or the piece's length where it does not end in it. */
  const skipString = (bytes: Buffer, from: number): number => {
    for (let at = from; at < bytes.length; ) {
      const found = bytes.indexOf(quote, at);
      const end = found < 0 ? bytes.length : found;
      let first = end;
      while (first > from && bytes[first - 1] === backslash) first -= 1;
      const before = first === from ? carriedBackslashes : 0;
      const backslashes = end - first + before;
      if (found < 0) {
        carriedBackslashes = backslashes % 2;
        return bytes.length;
      }
      if (backslashes % 2 === 0) {
        inString = false;
        carriedBackslashes = 0;
        return found + 1;
      }
      at = found + 1;
    }
    // An escaped quote was the last byte: nothing is carried over to the next piece.
    carriedBackslashes = 0;
    return bytes.length;
  };

  const open = (at: number): void => {
    if (depth === 1) start = at;
    depth += 1;
  };
  const close = (at: number): void => {
    depth -= 1;
    if (depth === 1) spans.push({ start, end: at + 1 });
    if (depth === 0) ended = true;
  };
  const structure = (byte: number, at: number): void => {
    if (ended && !isBlank(byte, at)) throw new EntryIndexError('there is more after the end of the list', at);
    switch (byte) {
      case 0x7b: // {
      case 0x5b: // [
        open(at);
        break;
      case 0x7d: // }
      case 0x5d: // ]
        close(at);
        break;
      default:
        if (depth <= 1 && byte !== 0x2c && !isBlank(byte, at))
          throw new EntryIndexError(`entry ${spans.length + 1} is not an object`, at);
        inString = byte === quote;
    }
  };

  return {
    take: (bytes) => {
      for (let at = 0; at < bytes.length; ) {
        if (inString) at = skipString(bytes, at);
        else {
          structure(bytes[at] as number, offset + at);
          at += 1;
        }
      }
      offset += bytes.length;
    },
    finish: () => {
      if (!ended)
        throw new EntryIndexError(`the file ends within the list, after ${spans.length} entries`, offset);
      return spans;
    },
  };
}
