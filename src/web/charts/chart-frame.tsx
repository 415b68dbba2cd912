import type { ComponentChildren, JSX, TargetedPointerEvent } from 'preact';
import { formatNumber } from '../format.ts';
import type { Scale } from '../scales.ts';
import { useWidth } from './use-width.ts';

/** Free room around the plot, px. */
export type Margins = {
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
  readonly left: number;
};
export type Plot = {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
};

/** What a reader points at, by mouse or by keyboard. */
export type Cursor = {
  /** Positions along the x axis, px, ascending. */
  readonly positions: readonly number[];
  readonly index: number | null;
  readonly onMove: (index: number | null) => void;
  /** What stands at a position, in words. */
  readonly describe: (index: number) => string;
};

type Props = {
  readonly label: string;
  readonly height: number;
  readonly margins?: Margins;
  readonly cursorOf?: (plot: Plot) => Cursor;
  readonly children: (plot: Plot) => ComponentChildren;
};

const usualMargins: Margins = { top: 8, right: 12, bottom: 26, left: 52 };

/** An SVG as wide as its place. With a cursor it is a slider: arrow keys walk over the data, and values are spoken. */
export function ChartFrame({
  label,
  height,
  margins = usualMargins,
  cursorOf,
  children,
}: Props): JSX.Element {
  const [element, width] = useWidth<HTMLDivElement>();
  const plot: Plot = {
    width,
    height,
    left: margins.left,
    right: Math.max(width - margins.right, margins.left + 10),
    top: margins.top,
    bottom: height - margins.bottom,
  };
  const cursor = cursorOf?.(plot);
  const drawing = (
    <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="img" aria-label={label}>
      {children(plot)}
    </svg>
  );
  if (!cursor || cursor.positions.length === 0)
    return (
      <div class="chart" ref={element}>
        {drawing}
      </div>
    );
  const { positions, index, onMove, describe } = cursor;
  const last = positions.length - 1;
  return (
    <div
      class="chart"
      ref={element}
      role="slider"
      tabIndex={0}
      aria-label={`${label}: values`}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={index ?? 0}
      aria-valuetext={describe(index ?? 0)}
      onPointerMove={(event) => onMove(nearestTo(positions, xOf(event, width)))}
      onPointerLeave={() => onMove(null)}
      onBlur={() => onMove(null)}
      onKeyDown={(event) => {
        const next = keyTarget(event.key, index ?? -1, last);
        if (next === null) return;
        event.preventDefault();
        onMove(next);
      }}
    >
      {drawing}
    </div>
  );
}

function xOf(event: TargetedPointerEvent<HTMLElement>, width: number): number {
  const box = event.currentTarget.getBoundingClientRect();
  return ((event.clientX - box.left) / (box.width || 1)) * width;
}

function nearestTo(positions: readonly number[], x: number): number {
  let best = 0;
  for (let i = 1; i < positions.length; i += 1)
    if (Math.abs((positions[i] ?? 0) - x) < Math.abs((positions[best] ?? 0) - x)) best = i;
  return best;
}

function keyTarget(key: string, index: number, last: number): number | null {
  const far = Math.max(1, Math.round(last / 10));
  const steps: Record<string, number> = {
    ArrowRight: index + 1,
    ArrowUp: index + 1,
    ArrowLeft: index - 1,
    ArrowDown: index - 1,
    PageUp: index + far,
    PageDown: index - far,
    Home: 0,
    End: last,
  };
  const wanted = steps[key];
  return wanted === undefined ? null : Math.min(Math.max(wanted, 0), last);
}

/** Horizontal grid lines with their values. */
export function YAxis({ scale, plot, unit }: { scale: Scale; plot: Plot; unit: string }): JSX.Element {
  return (
    <g class="axis">
      {scale.ticks.map((tick, i) => (
        <g key={tick}>
          <line class="grid" x1={plot.left} x2={plot.right} y1={scale.at(tick)} y2={scale.at(tick)} />
          <text x={plot.left - 8} y={scale.at(tick)} dy="0.32em" text-anchor="end">
            {tickLabel(tick, i === scale.ticks.length - 1 ? unit : '')}
          </text>
        </g>
      ))}
    </g>
  );
}

/** Values below the plot; the unit stands with the last one. */
export function XAxis({ scale, plot, unit }: { scale: Scale; plot: Plot; unit: string }): JSX.Element {
  const ticks = scale.ticks.filter((tick) => scale.at(tick) <= plot.right + 1);
  return (
    <g class="axis">
      <line class="base" x1={plot.left} x2={plot.right} y1={plot.bottom} y2={plot.bottom} />
      {ticks.map((tick, i) => {
        const x = scale.at(tick);
        const isLast = i === ticks.length - 1;
        return (
          <g key={tick}>
            <line class="tick" x1={x} x2={x} y1={plot.bottom} y2={plot.bottom + 4} />
            <text x={x} y={plot.bottom + 17} text-anchor={isLast && x > plot.right - 24 ? 'end' : 'middle'}>
              {tickLabel(tick, '')}
              {isLast && unit !== '' ? ` ${unit}` : ''}
            </text>
          </g>
        );
      })}
    </g>
  );
}

/** Ticks are round, so they need few digits. */
export function tickLabel(value: number, unit: string): string {
  const size = Math.abs(value);
  const suffix = unit === '' ? '' : ` ${unit}`;
  if (size >= 1e9) return `${Number((value / 1e9).toPrecision(4))} G${suffix.trim()}`;
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(4))} M${suffix.trim()}`;
  if (size >= 1e5) return `${Number((value / 1e3).toPrecision(4))} k${suffix.trim()}`;
  if (Number.isInteger(value)) return `${formatNumber(value, 'count')}${suffix}`;
  return `${Number(value.toPrecision(6))}${suffix}`;
}

/** The line under the pointer. */
export function CursorLine({ x, plot }: { x: number | undefined; plot: Plot }): JSX.Element | null {
  return x === undefined ? null : <line class="cursor" x1={x} x2={x} y1={plot.top} y2={plot.bottom} />;
}
