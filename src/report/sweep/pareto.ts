import { formatGeneral } from '../../foundation/python-format.ts';
import type { Chart, ChartPoint } from '../plot/chart-svg.ts';
import { type PlotRow, plotNumber } from './plot-rows.ts';

export type ParetoOptions = {
  readonly userCountVar: string | null;
  readonly gpuCountVar: string | null;
};

/** A run on the plane of what a user gets and what a GPU gives. */
export type ParetoPoint = {
  readonly combination: string;
  /** Output tokens per second and user. */
  readonly perUser: number;
  /** Output tokens per second and GPU. */
  readonly perGpu: number;
  readonly onFront: boolean;
};

/** A difference below this is none. */
const epsilon = 1e-9;

/**
 * Places runs by output tokens per second and user over those per GPU. Users are the given key, else the request rate,
 * else the most requests at once; GPUs are the given key, else the product of the parallel sizes.
 * @returns the points, and how many runs have no users or no throughput
 */
export function paretoPoints(
  rows: readonly PlotRow[],
  options: ParetoOptions,
): { readonly points: readonly ParetoPoint[]; readonly skipped: number } {
  const placed = rows.flatMap((row) => {
    const throughput = plotNumber(row, 'output_throughput');
    const users = usersOf(row, options.userCountVar);
    if (throughput === null || users === null) return [];
    return [
      {
        combination: row.combination,
        perUser: throughput / users,
        perGpu: throughput / gpusOf(row, options.gpuCountVar),
      },
    ];
  });
  const front = frontOf(placed);
  return {
    points: placed.map((point) => ({ ...point, onFront: front.has(point) })),
    skipped: rows.length - placed.length,
  };
}

function positive(row: PlotRow, key: string): number | null {
  const value = plotNumber(row, key);
  return value !== null && value > 0 && Number.isFinite(value) ? value : null;
}

function usersOf(row: PlotRow, key: string | null): number | null {
  for (const name of [...(key === null ? [] : [key]), 'request_rate', 'max_concurrent_requests']) {
    const value = positive(row, name);
    if (value !== null) return value;
  }
  return null;
}

function gpusOf(row: PlotRow, key: string | null): number {
  const given = key === null ? null : positive(row, key);
  if (given !== null) return given;
  const sizes = [
    ['tensor_parallel_size', 'tp'],
    ['pipeline_parallel_size', 'pp'],
    ['data_parallel_size', 'dp'],
  ];
  return sizes.reduce(
    (product, names) =>
      product * (names.map((name) => positive(row, name)).find((size) => size !== null) ?? 1),
    1,
  );
}

/** Points that none beats in both directions. */
function frontOf<T extends { readonly perUser: number; readonly perGpu: number }>(
  points: readonly T[],
): Set<T> {
  const front = new Set<T>();
  let best = Number.NEGATIVE_INFINITY;
  for (const point of points.toSorted((a, b) => b.perUser - a.perUser || b.perGpu - a.perGpu)) {
    if (point.perGpu < best - epsilon) continue;
    front.add(point);
    best = Math.max(best, point.perGpu);
  }
  return front;
}

/** All runs, and the line through those on the front. */
export function paretoChart(points: readonly ParetoPoint[]): Chart {
  const shown = (point: ParetoPoint): ChartPoint => ({
    x: point.perUser,
    y: point.perGpu,
    label: `${point.combination}: ${formatGeneral(point.perUser, 5)} tokens/s/user, ${formatGeneral(point.perGpu, 5)} tokens/s/GPU`,
    runs: [],
  });
  const front = points.filter(({ onFront }) => onFront).toSorted((a, b) => a.perUser - b.perUser);
  return {
    title: 'Throughput against interactivity',
    xTitle: 'Tokens/s/user',
    yTitle: 'Tokens/s/GPU',
    xScale: 'linear',
    yScale: 'linear',
    rows: [
      [
        {
          title: '',
          series: [
            { name: 'All runs', points: points.map(shown), colour: null, dash: 0, width: 1, line: false },
            { name: 'Pareto frontier', points: front.map(shown), colour: 0, dash: 0, width: 1.8, line: true },
          ],
        },
      ],
    ],
  };
}
