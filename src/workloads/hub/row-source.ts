import { readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { InputFileError, messageOf } from '../../foundation/errors.ts';
import type { DatasetOptions, LoadContext } from '../dataset.ts';
import { chooseConverted, chooseFiles, isConverted, type Part } from './choose-files.ts';
import { parseDatasetReference } from './dataset-reference.ts';
import { type HubDataset, openHubDataset } from './hub-dataset.ts';
import type { OpenShard } from './open-shard.ts';
import { openRowShard } from './row-shard.ts';

/** Files of rows, each fetched when it is opened. */
export type RowSource = {
  /** How messages call the whole. */
  readonly name: string;
  readonly shards: readonly { open(columns?: readonly string[]): Promise<OpenShard> }[];
  /** The path of a file that a row names. */
  file(name: string): Promise<string>;
  close(): Promise<void>;
};

export type RowSourceRequest = {
  /** A data set's id on the hub, with a revision or not, or a path of this machine. */
  readonly from: string;
  readonly part: Part;
  /** Picks the files itself, where a data set does not follow the usual names; an empty list = as usual. */
  pick?(files: readonly string[]): readonly string[];
};

/** What is needed of a load: `options.name` is how notes call it. */
export type RowSourceTools = Pick<LoadContext, 'env' | 'note'> & {
  readonly options: Pick<DatasetOptions, 'name'>;
};

async function isPath(from: string): Promise<boolean> {
  return await stat(from).then(
    () => true,
    () => false,
  );
}

/** A file, or a folder with files, of this machine. */
async function localSource({ from, part, pick }: RowSourceRequest): Promise<RowSource> {
  const isFolder = (await stat(from)).isDirectory();
  const entries = isFolder ? await readdir(from, { recursive: true, withFileTypes: true }) : [];
  const found = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(from, join(entry.parentPath, entry.name)));
  const picked = pick?.(found) ?? [];
  const chosen = isFolder ? (picked.length > 0 ? picked : chooseFiles(found, part, from)) : [''];
  return {
    name: from,
    shards: chosen.map((name) => {
      const path = isFolder ? join(from, name) : from;
      return {
        open: (columns) => openRowShard({ path, name: path, ...(columns === undefined ? {} : { columns }) }),
      };
    }),
    file: async (name) => {
      const path = join(isFolder ? from : join(from, '..'), name);
      await stat(path).catch((cause) => {
        throw new InputFileError(`${path}: ${messageOf(cause)}.`, { cause });
      });
      return path;
    },
    close: async () => undefined,
  };
}

function hubShards(dataset: HubDataset, names: readonly string[]): RowSource['shards'] {
  return names.map((name) => ({
    open: async (columns) =>
      openRowShard({
        path: await dataset.file(name),
        name: `${dataset.id}@${dataset.commit.slice(0, 12)}:${name}`,
        ...(columns === undefined ? {} : { columns }),
      }),
  }));
}

/** Which files of the hub hold the rows, and in which of its branches. */
async function hubFiles(
  dataset: HubDataset,
  { part, pick }: RowSourceRequest,
  note: (line: string) => void,
): Promise<RowSource['shards']> {
  const source = `data set "${dataset.id}"`;
  const own = async () => (await dataset.files()).map(({ name }) => name);
  const picked = pick === undefined ? [] : pick(await own());
  if (picked.length > 0) return hubShards(dataset, picked);
  const converted = await dataset.parquet();
  const files = ((await converted?.files()) ?? []).flatMap(({ name }) => (isConverted(name) ? [name] : []));
  if (converted === null || files.length === 0)
    return hubShards(dataset, chooseFiles(await own(), part, source));
  const { names, partial } = chooseConverted(files, part, source);
  if (partial)
    note(`${dataset.id}: only the first part of its rows is used, which the hub keeps as Parquet.`);
  return hubShards(converted, names);
}

async function hubSource(request: RowSourceRequest, context: RowSourceTools): Promise<RowSource> {
  let shownAt = Date.now();
  const dataset = await openHubDataset(request.from, {
    env: context.env ?? process.env,
    note: context.note,
    progress: (name, bytes, total) => {
      if (Date.now() - shownAt < 5_000) return;
      shownAt = Date.now();
      const size = total === null ? '' : ` of ${Math.round(total / 1e6)}`;
      context.note(`fetching ${name}: ${Math.round(bytes / 1e6)}${size} MB`);
    },
  });
  try {
    const shards = await hubFiles(dataset, request, context.note);
    context.note(`${context.options.name}: ${dataset.id} at commit ${dataset.commit}.`);
    return { name: dataset.id, shards, file: (name) => dataset.file(name), close: () => dataset.close() };
  } catch (error) {
    await dataset.close();
    throw error;
  }
}

/**
 * Opens the rows of a data set: a path of this machine where there is one, else an id on the hub.
 * @throws InputFileError, UsageError where there is neither, or no such subset or split
 */
export async function openRowSource(request: RowSourceRequest, context: RowSourceTools): Promise<RowSource> {
  if (await isPath(request.from)) return await localSource(request);
  if (parseDatasetReference(request.from) === null)
    throw new InputFileError(
      `--dataset-path ${request.from}: no such file or folder, and not a data set's id of the form org/name or ` +
        'org/name@revision.',
    );
  return await hubSource(request, context);
}
