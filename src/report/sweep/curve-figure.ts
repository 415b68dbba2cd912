import { formatGeneral } from '../../foundation/python-format.ts';
import { mean } from '../../foundation/statistics.ts';
import type { AxisScale } from '../plot/axis.ts';
import type { Chart, ChartPanel, ChartPoint, ChartSeries } from '../plot/chart-svg.ts';
import { groupRows, type PlotRow, plotNumber } from './plot-rows.ts';

export type CurveOptions = {
  readonly rowBy: readonly string[];
  readonly colBy: readonly string[];
  readonly curveBy: readonly string[];
  readonly varX: string;
  readonly varY: string;
  readonly scaleX: AxisScale;
  readonly scaleY: AxisScale;
  /** Keys whose values were binned: runs in one bin make one point. */
  readonly binnedKeys: readonly string[];
};

/** A figure of curves: panels by row and column, curves by colour, dash and width. Runs without both numbers are left out. */
export function curveChart(title: string, rows: readonly PlotRow[], options: CurveOptions): Chart {
  const byRow = [...groupRows(rows, options.rowBy)];
  const columns = [...groupRows(rows, options.colBy).keys()];
  return {
    title,
    xTitle: options.varX,
    yTitle: options.varY,
    xScale: options.scaleX,
    yScale: options.scaleY,
    rows: byRow.map(([rowName, ofRow]) => {
      const byColumn = groupRows(ofRow, options.colBy);
      return columns.map(
        (columnName): ChartPanel => ({
          title: [rowName, columnName].filter((part) => part !== '').join(', '),
          series: seriesOf(byColumn.get(columnName) ?? [], rows, options),
        }),
      );
    }),
  };
}

/** @param all rows of the figure, so that a curve looks the same in every panel */
function seriesOf(rows: readonly PlotRow[], all: readonly PlotRow[], options: CurveOptions): ChartSeries[] {
  const { curveBy } = options;
  const few = curveBy.length <= 3;
  return [...groupRows(rows, curveBy)].map(([name, ofCurve]) => {
    const rank = (keys: readonly string[]): number => {
      const [own = ''] = groupRows(ofCurve, keys).keys();
      return [...groupRows(all, keys).keys()].indexOf(own);
    };
    return {
      name,
      points: pointsOf(ofCurve, options),
      colour: rank(few ? curveBy.slice(0, 1) : curveBy),
      dash: few ? rank(curveBy.slice(1, 2)) : 0,
      width: 1.8 + 1.2 * (few ? rank(curveBy.slice(2, 3)) : 0),
      line: true,
    };
  });
}

/** One point per combination, or per value of a binned x: the means of its runs. */
function pointsOf(rows: readonly PlotRow[], options: CurveOptions): ChartPoint[] {
  const { varX, varY } = options;
  const groups = new Map<string, PlotRow[]>();
  for (const row of rows) {
    const name = options.binnedKeys.includes(varX) ? String(plotNumber(row, varX)) : row.combination;
    groups.set(name, [...(groups.get(name) ?? []), row]);
  }
  const points = [...groups].flatMap(([name, group]) => {
    const runs = group.flatMap((row) => {
      const x = plotNumber(row, varX);
      const y = plotNumber(row, varY);
      return x === null || y === null || !Number.isFinite(y) ? [] : [{ x, y }];
    });
    const x = mean(runs.map((run) => run.x));
    const y = mean(runs.map((run) => run.y));
    if (x === null || y === null) return [];
    const label = `${name}: ${varX} ${formatGeneral(x, 5)}, ${varY} ${formatGeneral(y, 5)}`;
    return [{ point: { x, y, label, runs }, load: loadOf(group) }];
  });
  // A curve of latency over throughput bends back where the server is full: it follows the load, not x.
  const loads = points.map(({ load }) => load);
  const byLoad = new Set(loads).size === loads.length && !loads.includes(null);
  return points
    .sort((a, b) => (byLoad ? (a.load ?? 0) - (b.load ?? 0) : a.point.x - b.point.x))
    .map(({ point }) => point);
}

function loadOf([row]: readonly PlotRow[]): number | null {
  if (row === undefined) return null;
  const rate = plotNumber(row, 'request_rate');
  return rate !== null && Number.isFinite(rate) ? rate : plotNumber(row, 'max_concurrency');
}
