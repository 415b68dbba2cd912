import { open } from 'node:fs/promises';
import type { AsyncBuffer, FileMetaData } from 'hyparquet';
import { InputFileError, messageOf } from '../../foundation/errors.ts';
import { DatasetRowError } from '../entry-file.ts';
import type { OpenShard, ShardRow } from './open-shard.ts';

type RowGroup = { readonly start: number; readonly end: number };

/** Parquet's 64-bit numbers as the numbers that other formats have; bytes stay bytes. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Uint8Array || value instanceof Date) return value;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, plain(field)]));
  return value;
}

function rowGroups(metadata: FileMetaData): RowGroup[] {
  let start = 0;
  return metadata.row_groups.map(({ num_rows: rows }) => {
    const group = { start, end: start + Number(rows) };
    start = group.end;
    return group;
  });
}

function topColumns(metadata: FileMetaData): string[] {
  const [root, ...rest] = metadata.schema;
  const names: string[] = [];
  let at = 0;
  for (let child = 0; child < (root?.num_children ?? 0); child += 1) {
    const element = rest[at];
    if (element === undefined) break;
    names.push(element.name);
    at += subtreeSize(rest, at);
  }
  return names;
}

function subtreeSize(elements: FileMetaData['schema'], at: number): number {
  let size = 1;
  for (let child = 0; child < (elements[at]?.num_children ?? 0); child += 1)
    size += subtreeSize(elements, at + size);
  return size;
}

/**
 * Opens a Parquet file. A row group is decoded at a time, and only the columns and rows that are asked for are kept.
 * @throws InputFileError for a file that is not Parquet
 */
export async function openParquetShard(
  path: string,
  { name, columns }: { readonly name: string; readonly columns?: readonly string[] },
): Promise<OpenShard> {
  // Lazy, because only data sets that are Parquet need them.
  const [{ parquetMetadataAsync, parquetReadObjects }, { compressors }] = await Promise.all([
    import('hyparquet'),
    import('hyparquet-compressors'),
  ]);
  const handle = await open(path);
  const { size } = await handle.stat();
  const file: AsyncBuffer = {
    byteLength: size,
    slice: async (start, end = size) => {
      const bytes = new Uint8Array(Math.max(0, end - start));
      const { bytesRead } = await handle.read(bytes, 0, bytes.length, start);
      return bytes.buffer.slice(0, bytesRead);
    },
  };
  let metadata: FileMetaData;
  try {
    metadata = await parquetMetadataAsync(file);
  } catch (cause) {
    await handle.close();
    throw new InputFileError(`${name}: not a Parquet file that can be read (${messageOf(cause)}).`, {
      cause,
    });
  }
  const groups = rowGroups(metadata);
  const present = topColumns(metadata);
  const wanted = columns?.filter((column) => present.includes(column)) ?? present;

  const readGroup = async (group: RowGroup, positions: ReadonlySet<number>, found: Map<number, unknown>) => {
    const rows = await parquetReadObjects({
      file,
      metadata,
      columns: wanted,
      compressors,
      utf8: false,
      rowStart: group.start,
      rowEnd: group.end,
    });
    for (const [index, row] of rows.entries())
      if (positions.has(group.start + index)) found.set(group.start + index, plain(row));
  };

  return {
    count: Number(metadata.num_rows),
    read: async (positions) => {
      const asked = new Set(positions);
      const found = new Map<number, unknown>();
      try {
        for (const group of groups)
          if (positions.some((at) => at >= group.start && at < group.end))
            await readGroup(group, asked, found);
      } catch (cause) {
        throw new InputFileError(`${name}: its rows can't be read (${messageOf(cause)}).`, { cause });
      }
      return positions.map((position): ShardRow => ({ position, row: found.get(position) }));
    },
    error: async (position, message) => new DatasetRowError(`${name}: row ${position + 1}: ${message}`),
    close: () => handle.close(),
  };
}
