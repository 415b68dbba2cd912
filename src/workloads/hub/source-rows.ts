import { type Random, randomStream, shuffled } from '../../foundation/random.ts';
import { DatasetRowError } from '../entry-file.ts';
import type { OpenShard } from './open-shard.ts';
import type { RowSource } from './row-source.ts';

/** A row, what is wrong with it, and how an error about it is made. */
export type SourceRow = {
  /** Absent where it could not be read. */
  readonly row?: unknown;
  readonly problem?: DatasetRowError;
  error(message: string): Promise<DatasetRowError>;
};

export type RowOrder = {
  readonly seed: number;
  /** Names the random stream. */
  readonly purpose: string;
  readonly shuffle: boolean;
  /** Choose among the rows of all files; else file after file, each only if it is needed. */
  readonly allFiles: boolean;
  /** Takes one row of each file in turn. */
  readonly interleave?: true;
  readonly columns?: readonly string[];
  /** About how many rows will be taken. */
  readonly wanted: number;
};

/** Rows that are read at once: media of a row may be megabytes. */
const windowRows = 256;

type Place = { readonly shard: number; readonly position: number };

class Shards {
  readonly #source: RowSource;
  readonly #columns: readonly string[] | undefined;
  readonly #open = new Map<number, OpenShard>();

  constructor(source: RowSource, columns: readonly string[] | undefined) {
    this.#source = source;
    this.#columns = columns;
  }

  async at(index: number): Promise<OpenShard> {
    const known = this.#open.get(index);
    if (known !== undefined) return known;
    const shard = this.#source.shards[index];
    if (shard === undefined) throw new Error(`no file ${index}`);
    const open = await shard.open(this.#columns);
    this.#open.set(index, open);
    return open;
  }

  async close(): Promise<void> {
    for (const shard of this.#open.values()) await shard.close();
    this.#open.clear();
  }
}

/** Reads a window's rows, each file once, and gives them in the window's order. */
async function readWindow(shards: Shards, places: readonly Place[]): Promise<SourceRow[]> {
  const rows = new Map<Place, SourceRow>();
  for (const shard of new Set(places.map((place) => place.shard))) {
    const here = places.filter((place) => place.shard === shard);
    const open = await shards.at(shard);
    const read = await open.read(here.map(({ position }) => position));
    for (const [index, place] of here.entries()) {
      const found = read[index];
      const error = (message: string) => open.error(place.position, message);
      rows.set(
        place,
        found instanceof DatasetRowError ? { problem: found, error } : { row: found?.row, error },
      );
    }
  }
  return places.flatMap((place) => rows.get(place) ?? []);
}

async function placesOf(shards: Shards, shard: number): Promise<Place[]> {
  const { count } = await shards.at(shard);
  return Array.from({ length: count }, (_, position) => ({ shard, position }));
}

function interleaved(lists: readonly (readonly Place[])[]): Place[] {
  const longest = lists.reduce((most, { length }) => Math.max(most, length), 0);
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list[at] ?? [])).flat();
}

/** Lists of places that are gone through one after the other; each is made when it is reached. */
async function* orderedPlaces(
  shards: Shards,
  count: number,
  order: RowOrder,
  random: Random,
): AsyncGenerator<Place[]> {
  const indices = Array.from({ length: count }, (_, index) => index);
  const mixed = <T>(items: T[]): T[] => (order.shuffle ? shuffled(random, items) : items);
  if (order.interleave) {
    const lists: Place[][] = [];
    for (const index of indices) lists.push(mixed(await placesOf(shards, index)));
    yield interleaved(lists);
  } else if (order.allFiles) {
    const all: Place[] = [];
    for (const index of indices) all.push(...(await placesOf(shards, index)));
    yield mixed(all);
  } else {
    for (const index of mixed(indices)) yield mixed(await placesOf(shards, index));
  }
}

/**
 * The rows of a source in the order of a seed. File after file, unless all are asked for, and no file is fetched before
 * it is needed; the same seed gives the same rows, however many are taken.
 */
export async function* sourceRows(source: RowSource, order: RowOrder): AsyncGenerator<SourceRow> {
  const shards = new Shards(source, order.columns);
  const random = randomStream(order.seed, order.purpose);
  const size = Math.max(1, Math.min(windowRows, order.wanted > 0 ? order.wanted : windowRows));
  try {
    for await (const places of orderedPlaces(shards, source.shards.length, order, random))
      for (let from = 0; from < places.length; from += size)
        yield* await readWindow(shards, places.slice(from, from + size));
  } finally {
    await shards.close();
  }
}
