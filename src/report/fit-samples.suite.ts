// Samples fitted to printed figures: the inverse of a report, for tests that print published reports again.

/** The printed statistics of one metric. */
export type PrintedStatistics = { readonly mean: number; readonly median: number; readonly p99: number };

/** The figures of a report by label; those of the stage part under `Stage 0 (thinker)/label`. */
export function parseReport(text: string): ReadonlyMap<string, number> {
  const figures = new Map<string, number>();
  let stage = '';
  for (const line of text.split('\n')) {
    const title = /^=+ (Stage \d+ \(.*\)) =+$/.exec(line);
    if (title) stage = `${title[1]}/`;
    const row = /^(.*?):\s+([\d.]+)%?$/.exec(line);
    if (row?.[1] !== undefined) figures.set(stage + row[1], Number(row[2]));
  }
  return figures;
}

/** The three lines of a block, by what stands between the statistic and the colon: `TTFT (ms)`. */
export function statisticsOf(
  figures: ReadonlyMap<string, number>,
  name: string,
  stage = '',
): PrintedStatistics {
  const find = (statistic: string): number => {
    const value = figures.get(`${stage}${statistic} ${name}`);
    if (value === undefined) throw new Error(`the report has no ${stage}${statistic} ${name}`);
    return value;
  };
  return { mean: find('Mean'), median: find('Median'), p99: find('P99') };
}

/** One to three values, rising, with the given mean, median and P99 (interpolated at rank 0.99·(n−1)). */
export function fitValues(count: number, { mean, median, p99 }: PrintedStatistics): number[] {
  if (count === 1) return [mean];
  if (count === 2) {
    const apart = (p99 - mean) / 0.49;
    return [mean - apart / 2, mean + apart / 2];
  }
  const largest = median + (p99 - median) / 0.98;
  return [3 * mean - median - largest, median, largest];
}

/** A number of equal gaps. */
export type GapGroup = readonly [count: number, gapMs: number];

/**
 * Gaps of one reply with the given sum, such that many such replies pooled have the given median and P99: 2 % at the
 * P99, half at the median, and as many below as above it. `low` is how far those below lie under the median, as a
 * share of it, where the sum does not decide it.
 */
export function fitGaps(
  count: number,
  sumMs: number,
  { median, p99 }: PrintedStatistics,
  low = 0,
): { high: GapGroup; middle: GapGroup; below: GapGroup; above: GapGroup } {
  const high = Math.ceil(count * 0.02);
  const middle = Math.floor(count * 0.5);
  const below = Math.floor((count - high - middle) / 2);
  const above = count - high - middle - below;
  const rest = sumMs - high * p99 - middle * median;
  const excess = rest - (below + above) * median;
  const belowMs = excess < 0 ? median + excess / below : median * (1 - low);
  const aboveMs = excess < 0 ? median : (rest - below * belowMs) / above;
  if (belowMs < 0 || aboveMs > p99) throw new Error(`no gaps of sum ${sumMs} have these statistics`);
  return {
    high: [high, p99],
    middle: [middle, median],
    below: [below, belowMs],
    above: [above, aboveMs],
  };
}

/** The gaps of several groups, each group spread evenly over the whole. */
export function interleave(groups: readonly GapGroup[]): number[] {
  return groups
    .flatMap(([count, gapMs]) => Array.from({ length: count }, (_, i) => ({ at: (i + 0.5) / count, gapMs })))
    .sort((a, b) => a.at - b.at)
    .map(({ gapMs }) => gapMs);
}

/** The most times in one of the whole seconds counted from `originMs`. */
export function busiestSecond(timesMs: readonly number[], originMs: number): number {
  const seconds = new Map<number, number>();
  for (const timeMs of timesMs) {
    const second = Math.floor((timeMs - originMs) / 1000);
    seconds.set(second, (seconds.get(second) ?? 0) + 1);
  }
  return Math.max(...seconds.values());
}

/** The first candidate that passes. */
export function firstFit<T>(candidates: Iterable<T>, fits: (candidate: T) => boolean): T {
  for (const candidate of candidates) if (fits(candidate)) return candidate;
  throw new Error('no candidate fits');
}

/** Times of events whose first is given and whose gaps follow. */
export function timesOf(firstMs: number, gapsMs: readonly number[]): number[] {
  const times = [firstMs];
  for (const gapMs of gapsMs) times.push((times.at(-1) ?? firstMs) + gapMs);
  return times;
}
