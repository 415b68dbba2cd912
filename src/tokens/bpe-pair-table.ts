/** A pair's rank (0 = merged first) and the symbol it becomes, found by its halves. */
export type PairTable = {
  /** A pair that is there already stays as it is: the better rank comes first. */
  add(left: number, right: number, entry: { readonly rank: number; readonly merged: number }): void;
  /** The slot of a pair in `ranks` and `merged`, or −1. Symbols below 0 are in no pair. */
  find(left: number, right: number): number;
  readonly ranks: Int32Array;
  readonly merged: Int32Array;
};

/** Open addressing in plain integers: 150,000 pairs are looked up several times per word. */
export function pairTable(pairs: number): PairTable {
  const size = 2 ** Math.ceil(Math.log2(Math.max(8, pairs * 2)));
  const mask = size - 1;
  const lefts = new Int32Array(size).fill(-1);
  const rights = new Int32Array(size);
  const ranks = new Int32Array(size);
  const merged = new Int32Array(size);
  const slotOf = (left: number, right: number): number => {
    let slot = ((Math.imul(left, 0x9e3779b1) ^ Math.imul(right, 0x85ebca6b)) >>> 7) & mask;
    while (lefts[slot] !== -1 && (lefts[slot] !== left || rights[slot] !== right)) slot = (slot + 1) & mask;
    return slot;
  };
  return {
    add: (left, right, entry) => {
      const slot = slotOf(left, right);
      if (lefts[slot] !== -1) return;
      lefts[slot] = left;
      rights[slot] = right;
      ranks[slot] = entry.rank;
      merged[slot] = entry.merged;
    },
    find: (left, right) => {
      if (left < 0 || right < 0) return -1;
      const slot = slotOf(left, right);
      return lefts[slot] === -1 ? -1 : slot;
    },
    ranks,
    merged,
  };
}
