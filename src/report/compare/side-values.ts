import { mean } from '../../foundation/statistics.ts';
import { percentileName } from '../report-lines.ts';
import { type CompareKey, compareKey, distributionStems, isCatalogueKey, runKeys } from './compare-key.ts';
import { type Side, sortedColumn, statisticOfSorted } from './compared-run.ts';

/**
 * The numbers of a side. Statistics come from its pooled requests where every run has them, so that several runs make
 * one sample; else from the mean of what the files state.
 */
export class SideValues {
  readonly side: Side;
  readonly #sorted = new Map<string, Float64Array | null>();

  constructor(side: Side) {
    this.side = side;
  }

  /** `null` = not observed. */
  of(key: string): number | null {
    const { stem, statistic } = compareKey(key);
    const sorted = stem === null ? null : this.#pooled(stem);
    if (sorted !== null && statistic !== null) return statisticOfSorted(sorted, statistic);
    return mean(this.side.runs.flatMap(({ values }) => values.get(key) ?? []));
  }

  /** Keys that the side can state, in no order. */
  keys(): Set<string> {
    const keys = new Set(this.side.runs.flatMap(({ values }) => [...values.keys()]));
    const named = [...keys].flatMap((key) => {
      const { statistic } = compareKey(key);
      return typeof statistic === 'object' && statistic !== null ? [statistic.percentile] : [];
    });
    const percentiles = [...new Set([...named, 99])];
    for (const stem of distributionStems) {
      if (this.#pooled(stem) === null) continue;
      for (const statistic of ['mean', 'median', 'std', ...percentiles.map((p) => `p${percentileName(p)}`)])
        keys.add(`${statistic}_${stem}`);
    }
    return keys;
  }

  #pooled(stem: string): Float64Array | null {
    let sorted = this.#sorted.get(stem);
    if (sorted === undefined) {
      const columns = this.side.runs.map(({ records }) => records?.columns.get(stem));
      const all = columns.flatMap((column) => column ?? []);
      sorted = columns.includes(undefined) || all.length === 0 ? null : sortedColumn(all);
      if (sorted?.length === 0) sorted = null;
      this.#sorted.set(stem, sorted);
    }
    return sorted;
  }
}

/** Numbers of a result that say how it was made, not what came out. */
const settings = new Set([
  'num_prompts',
  'request_rate',
  'burstiness',
  'max_concurrency',
  'ramp_up_start_rps',
  'ramp_up_end_rps',
  'seed',
  'temperature',
  'run_number',
]);

const statisticOrder = (key: CompareKey): number => {
  if (key.statistic === 'mean') return 0;
  if (key.statistic === 'median') return 1;
  if (key.statistic === 'std') return 2;
  return 3 + (key.statistic?.percentile ?? 0);
};

/** The keys to compare: aggregates and statistics in the order of the catalogue, then what it does not know. */
export function comparedKeys(sides: readonly SideValues[], asked: readonly string[]): CompareKey[] {
  const keys = [...new Set([...sides.flatMap((side) => [...side.keys()]), ...asked])]
    .filter((key) => !settings.has(key))
    .map(compareKey);
  const rank = (key: CompareKey): number => {
    if (key.stem !== null) return runKeys.length + distributionStems.indexOf(key.stem);
    return isCatalogueKey(key.key) ? runKeys.indexOf(key.key) : runKeys.length + distributionStems.length;
  };
  return keys.sort((a, b) => rank(a) - rank(b) || statisticOrder(a) - statisticOrder(b));
}
