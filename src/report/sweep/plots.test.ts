import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageError } from '../../foundation/errors.ts';
import { property } from '../../foundation/property.suite.ts';
import { axisOf } from '../plot/axis.ts';
import { chartSvg } from '../plot/chart-svg.ts';
import { curveChart } from './curve-figure.ts';
import { paretoPoints } from './pareto.ts';
import { binned, groupRows, type PlotRow, parseBins, parseFilters } from './plot-rows.ts';

const row = (combination: string, data: Record<string, unknown>): PlotRow => ({ combination, data });
const rows = [
  row('a', { max_concurrency: 1, request_rate: 'inf', kind: 'x', y: 5 }),
  row('b', { max_concurrency: 130, request_rate: 2.5, kind: 'y', y: 7 }),
];

describe('runs of a plot', () => {
  it.each([
    ['', ['a', 'b']],
    ['max_concurrency<100', ['a']],
    ['max-concurrency>=1,kind==y', ['b']],
    ["kind!='x'", ['b']],
    ['request_rate==inf', ['a']],
    ['request_rate<3', ['b']],
    ['request_rate>3', ['a']],
  ])('filtered by %j', (text, kept) => {
    const filters = parseFilters(text, rows);
    expect(
      rows.filter((each) => filters.every((holds) => holds(each))).map((each) => each.combination),
    ).toEqual(kept);
  });

  it.each(['max_concurrency', 'max_concurency<1', '<3'])('no filter: %s', (text) => {
    expect(() => parseFilters(text, rows)).toThrow(UsageError);
  });

  it('are binned down to multiples', () => {
    const bins = parseBins('max_concurrency%100', rows);
    expect(rows.map((each) => binned(each, bins).data.max_concurrency)).toEqual([0, 100]);
    expect(() => parseBins('max_concurrency%0', rows)).toThrow(UsageError);
  });

  it('are grouped by values', () => {
    expect([...groupRows(rows, ['kind', 'request_rate']).keys()]).toEqual([
      'kind=x-request_rate=inf',
      'kind=y-request_rate=2.5',
    ]);
    expect([...groupRows(rows, []).keys()]).toEqual(['']);
  });
});

describe('the Pareto front', () => {
  const pareto = (more: Record<string, unknown>) =>
    paretoPoints([row('a', { output_throughput: 80, ...more })], {
      userCountVar: 'max_concurrency',
      gpuCountVar: 'gpus',
    });

  it.each([
    [{ max_concurrency: 4 }, [20, 80]],
    [{ max_concurrency: null, request_rate: 8 }, [10, 80]],
    [{ request_rate: 'inf', max_concurrent_requests: 16 }, [5, 80]],
    [{ max_concurrency: 4, tensor_parallel_size: 2, pp: 2 }, [20, 20]],
    [{ max_concurrency: 4, gpus: 8, tp: 2 }, [20, 10]],
  ])('places a run with %j', (more, [perUser, perGpu]) => {
    expect(pareto(more).points[0]).toMatchObject({ perUser, perGpu, onFront: true });
  });

  it('skips runs without users', () => {
    expect(pareto({ max_concurrency: 0 })).toEqual({ points: [], skipped: 1 });
  });

  property([
    fc.array(fc.tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 9 })), { maxLength: 20 }),
  ])('holds exactly what nothing beats in both', (pairs) => {
    // Throughput t with u users on one GPU lies at (t/u, t).
    const runs = pairs.map(([throughput, users], i) =>
      row(String(i), { output_throughput: throughput, max_concurrency: users }),
    );
    const { points } = paretoPoints(runs, { userCountVar: 'max_concurrency', gpuCountVar: null });
    for (const point of points) {
      const beaten = points.some(
        (other) =>
          (other.perUser > point.perUser && other.perGpu >= point.perGpu + 1e-6) ||
          (other.perUser === point.perUser && other.perGpu > point.perGpu + 1e-6),
      );
      expect(point.onFront).toBe(!beaten);
    }
  });
});

describe('axes', () => {
  property([
    fc.array(fc.double({ min: 1e-6, max: 1e9, noNaN: true }), { minLength: 1 }),
    fc.constantFrom('linear' as const, 'log' as const),
    fc.boolean(),
  ])('hold every value and a few ticks in order', (values, scale, infinite) => {
    const axis = axisOf(infinite ? [...values, Number.POSITIVE_INFINITY] : values, scale);
    for (const value of values) {
      expect(axis.place(value)).toBeGreaterThanOrEqual(0);
      expect(axis.place(value)).toBeLessThanOrEqual(1);
    }
    const places = axis.ticks.map(({ value }) => axis.place(value));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(axis.ticks.length).toBeLessThan(20);
  });

  it('have round ticks from 0', () => {
    expect(axisOf([3, 47], 'linear').ticks.map(({ label }) => label)).toEqual(['0', '10', '20', '30', '40']);
    expect(axisOf([1, 1000], 'log').ticks.map(({ label }) => label)).toEqual(['1', '10', '100', '1000']);
  });
});

describe('a figure', () => {
  it('has a point per combination, the runs beside it, and no foreign markup', () => {
    const runs = [1, 2, 4].flatMap((max_concurrency) =>
      [0, 1].map((k) =>
        row(`c${max_concurrency}`, { max_concurrency, x: max_concurrency + k, y: 10 + k, model: '<b>"m"' }),
      ),
    );
    const chart = curveChart('t <script>', runs, {
      ...{ rowBy: [], colBy: [], curveBy: ['model'], varX: 'x', varY: 'y', binnedKeys: [] },
      ...{ scaleX: 'linear', scaleY: 'linear' },
    });
    const [series] = chart.rows[0]?.[0]?.series ?? [];
    expect(series?.points.map(({ x, y }) => [x, y])).toEqual([
      [1.5, 10.5],
      [2.5, 10.5],
      [4.5, 10.5],
    ]);
    const svg = chartSvg(chart);
    expect(svg.match(/r="3.5"/g)).toHaveLength(4);
    expect(svg.match(/r="2"/g)).toHaveLength(6);
    expect(svg).not.toMatch(/<script|<b>|NaN|undefined/);
  });
});
