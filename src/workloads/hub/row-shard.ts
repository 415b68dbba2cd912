import { DatasetRowError, openEntryFile } from '../entry-file.ts';
import type { OpenShard, ShardRow } from './open-shard.ts';
import { openParquetShard } from './parquet-shard.ts';

/** Ends of names of files that hold rows. */
export const rowFile = /\.(parquet|jsonl|json|ndjson)$/i;

/** JSON Lines, or one JSON list. */
async function openJsonShard(path: string, name: string): Promise<OpenShard> {
  const file = await openEntryFile(path);
  const error = async (position: number, message: string): Promise<DatasetRowError> => {
    const { message: told } = await file.error(position, message);
    return new DatasetRowError(told.startsWith(path) ? name + told.slice(path.length) : told);
  };
  return {
    count: file.count,
    read: async (positions) => {
      const rows: ShardRow[] = [];
      for (const position of positions) {
        try {
          rows.push({ position, row: await file.read(position) });
        } catch (cause) {
          if (!(cause instanceof DatasetRowError)) throw cause;
          rows.push(new DatasetRowError(cause.message.replace(path, name), { cause }));
        }
      }
      return rows;
    },
    error,
    close: () => file.close(),
  };
}

/**
 * Opens a file of rows.
 * @param file.name how messages call it
 * @param file.columns the columns to read of a Parquet file; absent = all
 */
export async function openRowShard(file: {
  readonly path: string;
  readonly name: string;
  readonly columns?: readonly string[];
}): Promise<OpenShard> {
  return /\.parquet$/i.test(file.name)
    ? await openParquetShard(file.path, file)
    : await openJsonShard(file.path, file.name);
}
