import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { exactQuantity, formatNumber, unitLabel } from '../format.ts';
import { linearScale, logScale, roundTop, type Scale } from '../scales.ts';
import { ChartFrame, CursorLine, type Plot, XAxis, YAxis } from './chart-frame.tsx';

export type ScatterPoint = {
  readonly request: number;
  readonly x: number;
  readonly y: number;
  readonly marked: boolean;
};

type Props = {
  readonly title: string;
  readonly unit: string;
  /** Ascending in x. */
  readonly points: readonly ScatterPoint[];
  readonly endX: number;
  readonly chosen: number | null;
  readonly onChoose: (request: number) => void;
};

/** One dot a request; a click or Enter opens it. */
export function Scatter({ title, unit, points, endX, chosen, onChoose }: Props): JSX.Element {
  const [index, setIndex] = useState<number | null>(null);
  const xOf = (plot: Plot): Scale => linearScale([0, endX], [plot.left, plot.right], 8);
  const values = points.map(({ y }) => y).sort((a, b) => a - b);
  const highest = values.at(-1) ?? 1;
  const lowest = values[0] ?? 0;
  const isLong = lowest > 0 && highest > 20 * (values[values.length >> 1] ?? 1);
  const yOf = (plot: Plot): Scale =>
    isLong
      ? logScale([lowest, highest], [plot.bottom, plot.top])
      : linearScale([0, roundTop(highest)], [plot.bottom, plot.top], 4);
  const describe = (i: number): string => {
    const point = points[i];
    return point
      ? `request ${point.request} at ${exactQuantity(point.x, 's')}: ${exactQuantity(point.y, unit)}`
      : 'no request';
  };
  const open = (): void => {
    const point = index === null ? undefined : points[index];
    if (point) onChoose(point.request);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the slider inside takes the keyboard; this hears what bubbles from it.
    <div class="scatter" onClick={open} onKeyDown={(event) => event.key === 'Enter' && open()}>
      <ChartFrame
        label={title}
        height={190}
        margins={{ top: 10, right: 12, bottom: 26, left: 62 }}
        cursorOf={(plot) => {
          const x = xOf(plot);
          return { positions: points.map((point) => x.at(point.x)), index, onMove: setIndex, describe };
        }}
      >
        {(plot) => {
          const x = xOf(plot);
          const y = yOf(plot);
          const at = index === null ? undefined : points[index];
          const shown = points.find(({ request }) => request === chosen);
          return (
            <>
              <YAxis scale={y} plot={plot} unit={unitLabel(unit)} />
              <path class="dots" d={dots(points, x, y, false)} />
              <path class="dots marked" d={dots(points, x, y, true)} />
              <XAxis scale={x} plot={plot} unit="s" />
              {shown ? <circle class="ring" cx={x.at(shown.x)} cy={y.at(shown.y)} r="5" /> : null}
              <CursorLine x={at && x.at(at.x)} plot={plot} />
              {at ? <circle class="dot" cx={x.at(at.x)} cy={y.at(at.y)} r="4" /> : null}
            </>
          );
        }}
      </ChartFrame>
      <p class="readout" aria-hidden="true">
        {index === null
          ? `${formatNumber(points.length, 'count')} requests${isLong ? ' · logarithmic axis' : ''}`
          : describe(index)}
      </p>
    </div>
  );
}

function dots(points: readonly ScatterPoint[], x: Scale, y: Scale, marked: boolean): string {
  return points
    .filter((point) => point.marked === marked)
    .map((point) => `M${x.at(point.x).toFixed(1)} ${y.at(point.y).toFixed(1)}h0`)
    .join('');
}
