import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { exactQuantity, unitLabel } from '../format.ts';
import { countScale, linearScale, roundTop } from '../scales.ts';
import { ChartFrame, CursorLine, type Plot, XAxis, YAxis } from './chart-frame.tsx';

type Props = {
  readonly title: string;
  readonly unit: string;
  /** Ascending, ms. */
  readonly timesMs: readonly number[];
  readonly values: readonly number[];
  readonly stairs: boolean;
  /** Stretches to be pointed out, ms. */
  readonly gaps?: readonly { readonly startMs: number; readonly lengthMs: number }[];
  readonly note: string;
};

/** One course over one request's time. */
export function LineChart({ title, unit, timesMs, values, stairs, gaps = [], note }: Props): JSX.Element {
  const [index, setIndex] = useState<number | null>(null);
  const endMs = Math.max(timesMs.at(-1) ?? 1, 0.001);
  const [per, timeUnit] = endMs >= 10_000 ? [1000, 's'] : [1, 'ms'];
  const xOf = (plot: Plot) =>
    linearScale([0, endMs / per], [plot.left, plot.right], plot.width < 420 ? 3 : 6);
  const describe = (i: number): string =>
    `${exactQuantity((timesMs[i] ?? 0) / per, timeUnit)}: ${exactQuantity(values[i] ?? null, unit)}`;
  return (
    <figure>
      <ChartFrame
        label={title}
        height={150}
        margins={{ top: 8, right: 14, bottom: 26, left: 58 }}
        cursorOf={(plot) => {
          const x = xOf(plot);
          return {
            positions: timesMs.map((timeMs) => x.at(timeMs / per)),
            index,
            onMove: setIndex,
            describe,
          };
        }}
      >
        {(plot) => {
          const x = xOf(plot);
          const y = (unit === 'tokens' ? countScale : linearScale)(
            [0, roundTop(Math.max(...values, 0))],
            [plot.bottom, plot.top],
            3,
          );
          const course = timesMs
            .map((timeMs, i) => {
              const [px, py] = [x.at(timeMs / per).toFixed(1), y.at(values[i] ?? 0).toFixed(1)];
              if (i === 0) return `M${px} ${py}`;
              return stairs ? `H${px}V${py}` : `L${px} ${py}`;
            })
            .join('');
          return (
            <>
              <YAxis scale={y} plot={plot} unit={unitLabel(unit)} />
              {gaps.map(({ startMs, lengthMs }) => (
                <rect
                  key={startMs}
                  class="gap"
                  x={x.at(startMs / per)}
                  y={plot.top}
                  width={Math.max(x.at((startMs + lengthMs) / per) - x.at(startMs / per), 1.5)}
                  height={plot.bottom - plot.top}
                />
              ))}
              <path class="line s0" d={course} />
              <XAxis scale={x} plot={plot} unit={timeUnit} />
              <CursorLine x={index === null ? undefined : x.at((timesMs[index] ?? 0) / per)} plot={plot} />
            </>
          );
        }}
      </ChartFrame>
      <figcaption aria-hidden="true">{index === null ? note : describe(index)}</figcaption>
    </figure>
  );
}
