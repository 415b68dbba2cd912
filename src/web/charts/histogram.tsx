import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Distribution } from '../../report/html/report-model.ts';
import { exactQuantity, formatNumber, formatQuantity, unitLabel } from '../format.ts';
import { countScale, linearScale, logScale, roundTop, type Scale } from '../scales.ts';
import { ChartFrame, CursorLine, type Plot, XAxis, YAxis } from './chart-frame.tsx';

const marked = [50, 90, 99] as const;

/** How often each value came, with the percentiles that people ask for. */
export function Histogram({ of }: { of: Distribution }): JSX.Element {
  const [index, setIndex] = useState<number | null>(null);
  const middles = of.counts.map((_, i) => middle(of, i));
  const most = Math.max(...of.counts, 1);
  const describe = (i: number): string =>
    `${exactQuantity(of.edges[i] ?? null, '')} to ${exactQuantity(of.edges[i + 1] ?? null, of.unit)}: ${formatNumber(of.counts[i] ?? 0, 'count')} of ${formatNumber(of.count, 'count')}`;
  return (
    <figure>
      <ChartFrame
        label={`Histogram of ${of.title}`}
        height={178}
        margins={{ top: 20, right: 14, bottom: 26, left: 44 }}
        cursorOf={(plot) => {
          const x = xScale(of, plot);
          return { positions: middles.map((value) => x.at(value)), index, onMove: setIndex, describe };
        }}
      >
        {(plot) => {
          const x = xScale(of, plot);
          const y = countScale([0, roundTop(most, 3)], [plot.bottom, plot.top], 3);
          return (
            <>
              <YAxis scale={y} plot={plot} unit="" />
              {of.counts.map((count, i) => {
                const left = x.at(of.edges[i] ?? 0);
                const width = Math.max(x.at(of.edges[i + 1] ?? 0) - left - 0.75, 0.75);
                const top = count > 0 ? Math.min(y.at(count), plot.bottom - 1.5) : plot.bottom;
                return (
                  <rect
                    key={left}
                    class={index === i ? 'bar on' : 'bar'}
                    x={of.counts.length === 1 ? left - 3 : left}
                    y={top}
                    width={of.counts.length === 1 ? 6 : width}
                    height={plot.bottom - top}
                  />
                );
              })}
              <XAxis scale={x} plot={plot} unit={unitLabel(of.unit)} />
              <Marks of={of} x={x} plot={plot} />
              <CursorLine x={index === null ? undefined : x.at(middles[index] ?? 0)} plot={plot} />
            </>
          );
        }}
      </ChartFrame>
      <figcaption aria-hidden="true">{index === null ? summaryOf(of) : describe(index)}</figcaption>
    </figure>
  );
}

function Marks({ of, x, plot }: { of: Distribution; x: Scale; plot: Plot }): JSX.Element {
  let freeFrom = Number.NEGATIVE_INFINITY;
  return (
    <g class="marks">
      {marked.map((p) => {
        const value = of.quantiles.find(([at]) => at === p)?.[1];
        if (value === undefined) return null;
        const at = x.at(value);
        const hasRoom = at > freeFrom + 30;
        if (hasRoom) freeFrom = at;
        return (
          <g key={p}>
            <line x1={at} x2={at} y1={plot.top - 4} y2={plot.bottom} />
            {hasRoom ? (
              <text x={at} y={plot.top - 8} text-anchor={at > plot.right - 14 ? 'end' : 'middle'}>
                p{p}
              </text>
            ) : null}
            <title>{`p${p}: ${exactQuantity(value, of.unit)}`}</title>
          </g>
        );
      })}
    </g>
  );
}

function summaryOf(of: Distribution): string {
  const scale = of.scale === 'log' ? ' · logarithmic axis' : '';
  return `${formatNumber(of.count, 'count')} values · mean ${formatQuantity(of.mean, of.unit)}${scale}`;
}

function middle(of: Distribution, i: number): number {
  const low = of.edges[i] ?? 0;
  const high = of.edges[i + 1] ?? low;
  return of.scale === 'log' ? Math.sqrt(low * high) : (low + high) / 2;
}

/** A sample of equal values stands in the middle of its axis; zeros at its beginning. */
function xScale(of: Distribution, plot: Plot): Scale {
  const low = of.edges[0] ?? 0;
  const high = of.edges.at(-1) ?? 1;
  const range = [plot.left, plot.right] as const;
  if (low === high) return linearScale([0, low > 0 ? low * 2 : 1], range, 4);
  return of.scale === 'log' ? logScale([low, high], range) : linearScale([low, high], range, 5);
}
