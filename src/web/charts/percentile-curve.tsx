import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Distribution } from '../../report/html/report-model.ts';
import { exactQuantity, percentileLabel, unitLabel } from '../format.ts';
import { linearScale, logScale, roundTop } from '../scales.ts';
import { ChartFrame, CursorLine, type Plot, YAxis } from './chart-frame.tsx';

/** Every percentile, the tail drawn out: each further nine takes as much room as the one before. */
export function PercentileCurve({ of }: { of: Distribution }): JSX.Element {
  const [index, setIndex] = useState<number | null>(null);
  const points = of.quantiles;
  const tail = tailOf(points);
  const describe = (i: number): string => {
    const [p, value] = points[i] ?? [0, null];
    return `${percentileLabel(p)}: ${exactQuantity(value, of.unit)}`;
  };
  const at = (plot: Plot, p: number): number =>
    plot.left + (Math.min(nines(p), tail) / tail) * (plot.right - plot.left);
  return (
    <figure>
      <ChartFrame
        label={`Percentiles of ${of.title}`}
        height={178}
        margins={{ top: 20, right: 16, bottom: 26, left: 58 }}
        cursorOf={(plot) => ({
          positions: points.map(([p]) => at(plot, p)),
          index,
          onMove: setIndex,
          describe,
        })}
      >
        {(plot) => {
          const values = points.map(([, value]) => value);
          const [low, high] = [values[0] ?? 0, values.at(-1) ?? 1];
          const y =
            of.scale === 'log' && low > 0
              ? logScale([low, high], [plot.bottom, plot.top])
              : linearScale([0, roundTop(high)], [plot.bottom, plot.top], 4);
          const line = points
            .map(([p, value]) => `${at(plot, p).toFixed(1)},${y.at(value).toFixed(1)}`)
            .join(' ');
          return (
            <>
              <YAxis scale={y} plot={plot} unit={unitLabel(of.unit)} />
              <g class="axis">
                <line class="base" x1={plot.left} x2={plot.right} y1={plot.bottom} y2={plot.bottom} />
                {shownPercentiles
                  .filter((p) => nines(p) <= tail)
                  .map((p) => (
                    <g key={p}>
                      <line class="grid" x1={at(plot, p)} x2={at(plot, p)} y1={plot.top} y2={plot.bottom} />
                      <text x={at(plot, p)} y={plot.bottom + 17} text-anchor={p === 0 ? 'start' : 'middle'}>
                        {p === 0 ? 'min' : `p${p}`}
                      </text>
                    </g>
                  ))}
              </g>
              <polyline class="line s0" points={line} />
              <CursorLine x={index === null ? undefined : at(plot, points[index]?.[0] ?? 0)} plot={plot} />
              {index === null ? null : (
                <circle
                  class="dot"
                  cx={at(plot, points[index]?.[0] ?? 0)}
                  cy={y.at(points[index]?.[1] ?? 0)}
                  r="3.5"
                />
              )}
            </>
          );
        }}
      </ChartFrame>
      <figcaption aria-hidden="true">
        {index === null
          ? [50, 90, 99].map((p) => describe(points.findIndex(([q]) => q === p))).join(' · ')
          : describe(index)}
      </figcaption>
    </figure>
  );
}

const shownPercentiles = [0, 50, 90, 99, 99.9, 99.99, 99.999];

/** 0 for the minimum, 1 for p90, 2 for p99. */
function nines(p: number): number {
  return p >= 100 ? Number.POSITIVE_INFINITY : -Math.log10(1 - p / 100);
}

/** The axis ends a little beyond the last percentile that the sample has; the maximum stands there. */
function tailOf(points: Distribution['quantiles']): number {
  const last = points.filter(([p]) => p < 100).at(-1)?.[0] ?? 99;
  return nines(last) + 0.3;
}
