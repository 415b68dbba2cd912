import type { DatasetRowError } from '../entry-file.ts';

/** A row, or what is wrong with it. */
export type ShardRow = { readonly position: number; readonly row: unknown } | DatasetRowError;

/** A file of rows that is open. */
export type OpenShard = {
  readonly count: number;
  /** Rows at positions, in the order asked for. */
  read(positions: readonly number[]): Promise<readonly ShardRow[]>;
  /** An error about a row, with the file and the line or the number of the row. */
  error(position: number, message: string): Promise<DatasetRowError>;
  close(): Promise<void>;
};
