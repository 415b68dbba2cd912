import { closeSync, openSync, readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { InputFileError, messageOf } from '../foundation/errors.ts';
import {
  arrayIndexer,
  EntryIndexError,
  type EntryIndexer,
  type EntrySpan,
  lineIndexer,
} from './entry-index.ts';

/** A row of a dataset that does not say what it must; `path:line` stands in the message. */
export class DatasetRowError extends InputFileError {
  override readonly code: string = 'DATASET_ROW_INVALID';
}

/** A file of JSON entries, of which only the wanted ones are ever parsed. */
export type EntryFile = {
  readonly path: string;
  readonly count: number;
  /**
   * The entry at a position, parsed.
   * @throws DatasetRowError where it is not JSON
   */
  read(index: number): Promise<unknown>;
  /**
   * Reads the entry at a position later, and again each time: for entries that are too large to keep all of.
   * Works after `close`.
   */
  again(index: number): () => unknown;
  /** An error about the entry, with the file and the line that it starts in. */
  error(index: number, message: string): Promise<DatasetRowError>;
  close(): Promise<void>;
};

const pieceBytes = 4 * 1024 * 1024;
/** Enough for a few neighbours, little enough to be wasted on one. */
const windowBytes = 64 * 1024;

/** Calls back with each piece of the file; the buffer is reused. */
async function eachPiece(file: FileHandle, untilByte: number, take: (bytes: Buffer) => void): Promise<void> {
  const buffer = Buffer.allocUnsafe(pieceBytes);
  for (let offset = 0; offset < untilByte; ) {
    const length = Math.min(pieceBytes, untilByte - offset);
    const { bytesRead } = await file.read(buffer, 0, length, offset);
    if (bytesRead === 0) return;
    take(buffer.subarray(0, bytesRead));
    offset += bytesRead;
  }
}

async function lineAt(file: FileHandle, offset: number): Promise<number> {
  let line = 1;
  await eachPiece(file, offset, (bytes) => {
    for (let at = bytes.indexOf(0x0a); at >= 0; at = bytes.indexOf(0x0a, at + 1)) line += 1;
  });
  return line;
}

async function headOf(file: FileHandle): Promise<string> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(windowBytes), 0, windowBytes, 0);
  return buffer.toString('utf8', 0, bytesRead);
}

/** A file whose first visible character is `[` is one JSON array; any other has an entry per line. */
function indexerFor(head: string): EntryIndexer {
  // A byte order mark counts as blank for trimming.
  return head.trimStart().startsWith('[') ? arrayIndexer() : lineIndexer();
}

async function spansOf(file: FileHandle, path: string): Promise<EntrySpan[]> {
  const indexer = indexerFor(await headOf(file));
  try {
    await eachPiece(file, Number.POSITIVE_INFINITY, (bytes) => indexer.take(bytes));
    return indexer.finish();
  } catch (cause) {
    if (!(cause instanceof EntryIndexError)) throw cause;
    throw new InputFileError(
      `${path}:${await lineAt(file, cause.offset)}: ${cause.message}. Expected a JSON list of objects, or one ` +
        'JSON object per line. Is the download complete?',
      { cause },
    );
  }
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    const file = await open(path);
    if ((await file.stat()).isFile()) return file;
    await file.close();
  } catch (cause) {
    throw new InputFileError(`--dataset-path ${path}: ${messageOf(cause)}.`, { cause });
  }
  throw new InputFileError(`--dataset-path ${path}: not a file. Give the dataset's file itself.`);
}

function bytesNow(path: string, { start, end }: EntrySpan): Buffer {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.allocUnsafe(end - start);
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, start));
  } finally {
    closeSync(file);
  }
}

/** Text without the byte order mark that some editors put first. */
function textOf(bytes: Buffer): string {
  return bytes.toString('utf8').replace(/^\uFEFF/, '');
}

/**
 * Opens a JSON array or JSONL file of any size and finds its entries, without holding them.
 * @throws InputFileError for a file that cannot be read or is not a list of entries
 */
export async function openEntryFile(path: string): Promise<EntryFile> {
  const file = await openFile(path);
  let spans: EntrySpan[];
  try {
    spans = await spansOf(file, path);
  } catch (error) {
    await file.close();
    throw error;
  }
  const spanAt = (index: number): EntrySpan => spans[index] ?? { start: 0, end: 0 };
  let held = Buffer.alloc(0);
  let heldFrom = 0;
  const bytesOf = async ({ start, end }: EntrySpan): Promise<Buffer> => {
    if (start < heldFrom || end > heldFrom + held.length) {
      const wanted = Buffer.allocUnsafe(Math.max(end - start, windowBytes));
      const { bytesRead } = await file.read(wanted, 0, wanted.length, start);
      held = wanted.subarray(0, bytesRead);
      heldFrom = start;
    }
    return held.subarray(start - heldFrom, end - heldFrom);
  };
  const errorAt = async (index: number, message: string): Promise<DatasetRowError> =>
    new DatasetRowError(`${path}:${await lineAt(file, spanAt(index).start)}: ${message}`);
  return {
    path,
    count: spans.length,
    read: async (index) => {
      const text = textOf(await bytesOf(spanAt(index)));
      try {
        return JSON.parse(text);
      } catch (cause) {
        throw await errorAt(
          index,
          `not valid JSON (${messageOf(cause)}). Fix the row or pass --skip-invalid.`,
        );
      }
    },
    again: (index) => () => JSON.parse(textOf(bytesNow(path, spanAt(index)))),
    error: errorAt,
    close: () => file.close(),
  };
}
