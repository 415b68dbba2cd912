import { type PairTable, pairTable } from './bpe-pair-table.ts';

/** Splits one word into tokens by byte-pair encoding. */
export type BpeMerger = (word: string) => string[];

/** Most words of a text come again; a few megabytes remember them. */
const maxRememberedWords = 20_000;
const maxRememberedLength = 64;

/**
 * A word while it is merged: symbols in a doubly linked list over fixed places, and the possible merges in a
 * heap, best rank first and leftmost among equals. Kept between words, because most are a few letters long.
 */
class MergeList {
  readonly #pairs: PairTable;
  #symbols = new Int32Array(64);
  #next = new Int32Array(64);
  #previous = new Int32Array(64);
  /** A word of n symbols offers at most n−1 merges, and each merge two more. */
  #heapRanks = new Int32Array(192);
  #heapPlaces = new Int32Array(192);
  #heapSize = 0;
  #length = 0;

  constructor(pairs: PairTable) {
    this.#pairs = pairs;
  }

  /** @param symbols −1 for a character that is in no pair */
  fill(symbols: readonly number[]): void {
    this.#length = symbols.length;
    if (symbols.length > this.#symbols.length) this.#grow(symbols.length);
    this.#heapSize = 0;
    for (let i = 0; i < symbols.length; i += 1) {
      this.#symbols[i] = symbols[i] as number;
      this.#next[i] = i + 1;
      this.#previous[i] = i - 1;
    }
    for (let i = 0; i + 1 < symbols.length; i += 1) this.#offer(i);
  }

  merge(): void {
    while (this.#heapSize > 0) {
      const rank = this.#heapRanks[0] as number;
      const place = this.#heapPlaces[0] as number;
      this.#dropTop();
      const slot = this.#slotAt(place);
      // The pair that was offered may have been merged away by now.
      if (slot < 0 || this.#pairs.ranks[slot] !== rank) continue;
      this.#join(place, this.#pairs.merged[slot] as number);
    }
  }

  /** Calls back for each symbol left, with the place of its first character. */
  each(visit: (symbol: number, place: number) => void): void {
    for (let i = 0; i < this.#length; i = this.#next[i] as number) visit(this.#symbols[i] as number, i);
  }

  #join(place: number, merged: number): void {
    const gone = this.#next[place] as number;
    const after = this.#next[gone] as number;
    this.#symbols[place] = merged;
    this.#symbols[gone] = -1;
    this.#next[place] = after;
    if (after < this.#length) this.#previous[after] = place;
    const before = this.#previous[place] as number;
    if (before >= 0) this.#offer(before);
    this.#offer(place);
  }

  #slotAt(place: number): number {
    const right = this.#next[place] as number;
    if (right >= this.#length) return -1;
    return this.#pairs.find(this.#symbols[place] as number, this.#symbols[right] as number);
  }

  #offer(place: number): void {
    const slot = this.#slotAt(place);
    if (slot < 0) return;
    const rank = this.#pairs.ranks[slot] as number;
    let hole = this.#heapSize;
    this.#heapSize += 1;
    while (hole > 0) {
      const parent = (hole - 1) >> 1;
      if (!this.#isBefore(rank, place, parent)) break;
      this.#move(parent, hole);
      hole = parent;
    }
    this.#heapRanks[hole] = rank;
    this.#heapPlaces[hole] = place;
  }

  #dropTop(): void {
    this.#heapSize -= 1;
    const size = this.#heapSize;
    const rank = this.#heapRanks[size] as number;
    const place = this.#heapPlaces[size] as number;
    let hole = 0;
    for (;;) {
      let child = 2 * hole + 1;
      if (child >= size) break;
      const other = child + 1;
      if (
        other < size &&
        this.#isBefore(this.#heapRanks[other] as number, this.#heapPlaces[other] as number, child)
      )
        child = other;
      if (this.#isBefore(rank, place, child)) break;
      this.#move(child, hole);
      hole = child;
    }
    this.#heapRanks[hole] = rank;
    this.#heapPlaces[hole] = place;
  }

  #isBefore(rank: number, place: number, other: number): boolean {
    const otherRank = this.#heapRanks[other] as number;
    return rank < otherRank || (rank === otherRank && place < (this.#heapPlaces[other] as number));
  }

  #move(from: number, to: number): void {
    this.#heapRanks[to] = this.#heapRanks[from] as number;
    this.#heapPlaces[to] = this.#heapPlaces[from] as number;
  }

  #grow(length: number): void {
    const size = 2 ** Math.ceil(Math.log2(length));
    this.#symbols = new Int32Array(size);
    this.#next = new Int32Array(size);
    this.#previous = new Int32Array(size);
    this.#heapRanks = new Int32Array(3 * size);
    this.#heapPlaces = new Int32Array(3 * size);
  }
}

/**
 * Byte-pair encoding over integers: the same result as the engine's own, which spells each pair as JSON to look
 * it up, at a fraction of the time.
 * @param merges pairs of halves, best first
 */
export function bpeMerger(merges: readonly (readonly [left: string, right: string])[]): BpeMerger {
  const symbols = new Map<string, number>();
  const texts: string[] = [];
  const symbolOf = (text: string): number => {
    const known = symbols.get(text);
    if (known !== undefined) return known;
    symbols.set(text, texts.length);
    return texts.push(text) - 1;
  };
  const pairs = pairTable(merges.length);
  for (const [rank, [left, right]] of merges.entries())
    pairs.add(symbolOf(left), symbolOf(right), { rank, merged: symbolOf(left + right) });
  const list = new MergeList(pairs);

  const merged = (word: string): string[] => {
    const characters = Array.from(word);
    if (characters.length < 2) return characters;
    list.fill(characters.map((character) => symbols.get(character) ?? -1));
    list.merge();
    const tokens: string[] = [];
    list.each((symbol, place) => tokens.push(texts[symbol] ?? characters[place] ?? ''));
    return tokens;
  };

  const known = new Map<string, string[]>();
  return (word) => {
    if (word.length > maxRememberedLength) return merged(word);
    let tokens = known.get(word);
    if (tokens === undefined) {
      if (known.size >= maxRememberedWords) known.clear();
      tokens = merged(word);
      known.set(word, tokens);
    }
    return tokens;
  };
}
