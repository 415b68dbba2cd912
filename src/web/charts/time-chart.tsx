import type { JSX } from 'preact';
import { exactQuantity } from '../format.ts';
import { countScale, linearScale, roundTop } from '../scales.ts';
import { ChartFrame, CursorLine, type Plot, XAxis, YAxis } from './chart-frame.tsx';

export type Series = {
  readonly name: string;
  /** One value a step. */
  readonly values: readonly number[];
  /** `area`: filled to the axis. */
  readonly look: 'line' | 'area' | 'dashed' | 'bad';
  readonly colour: number;
};

type Props = {
  readonly title: string;
  readonly unit: string;
  readonly stepS: number;
  readonly series: readonly Series[];
  /** Shared by charts one below the other. */
  readonly index: number | null;
  readonly onMove: (index: number | null) => void;
};

/** Columns of equal time steps as stairs; what stands at the pointer is said in the legend. */
export function TimeChart({ title, unit, stepS, series, index, onMove }: Props): JSX.Element {
  const steps = series[0]?.values.length ?? 0;
  const top = roundTop(Math.max(...series.flatMap(({ values }) => values), 0));
  const xOf = (plot: Plot) => linearScale([0, steps * stepS], [plot.left, plot.right], 8);
  const describe = (i: number): string =>
    `${exactQuantity(i * stepS, 's')}: ${series.map(({ name, values }) => `${name} ${exactQuantity(values[i] ?? null, unit)}`).join(', ')}`;
  return (
    <figure class="time-chart">
      <figcaption>
        <h3>{title}</h3>
        <span class="legend">
          {series.map(({ name, values, colour, look }) => (
            <span key={name} class="key">
              <i class={`swatch s${colour} ${look}`} />
              {name}
              {index === null ? null : <b>{exactQuantity(values[index] ?? null, unit)}</b>}
            </span>
          ))}
          {index === null ? null : <span class="at">at {exactQuantity(index * stepS, 's')}</span>}
        </span>
      </figcaption>
      <ChartFrame
        label={`${title} over time`}
        height={132}
        cursorOf={(plot) => {
          const x = xOf(plot);
          return {
            positions: Array.from({ length: steps }, (_, i) => x.at((i + 0.5) * stepS)),
            index,
            onMove,
            describe,
          };
        }}
      >
        {(plot) => {
          const x = xOf(plot);
          const y = (unit === 'count' ? countScale : linearScale)([0, top], [plot.bottom, plot.top], 4);
          return (
            <>
              <YAxis scale={y} plot={plot} unit="" />
              {series.map(({ name, values, look, colour }) => {
                const stairs = stairsOf(values, stepS, x.at, y.at);
                return (
                  <g key={name}>
                    {look === 'area' ? (
                      <path class={`fill s${colour}`} d={`${stairs}V${plot.bottom}H${x.at(0).toFixed(1)}Z`} />
                    ) : null}
                    <path class={`line s${colour} ${look}`} d={stairs} />
                  </g>
                );
              })}
              <XAxis scale={x} plot={plot} unit="s" />
              <CursorLine x={index === null ? undefined : x.at((index + 0.5) * stepS)} plot={plot} />
            </>
          );
        }}
      </ChartFrame>
    </figure>
  );
}

function stairsOf(
  values: readonly number[],
  stepS: number,
  x: (value: number) => number,
  y: (value: number) => number,
): string {
  return values
    .map(
      (value, i) =>
        `${i === 0 ? 'M' : 'L'}${x(i * stepS).toFixed(1)} ${y(value).toFixed(1)}H${x((i + 1) * stepS).toFixed(1)}`,
    )
    .join('');
}
