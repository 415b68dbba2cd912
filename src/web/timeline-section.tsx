import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ReportModel, RequestTable } from '../report/html/report-model.ts';
import { tickLabel } from './charts/chart-frame.tsx';
import { Scatter, type ScatterPoint } from './charts/scatter.tsx';
import { type Series, TimeChart } from './charts/time-chart.tsx';
import { plural } from './format.ts';
import { Section } from './section.tsx';

type Props = {
  readonly report: ReportModel;
  readonly chosen: number | null;
  readonly onChoose: (request: number) => void;
};

/** The run from its first to its last second. */
export function TimelineSection({ report, chosen, onChoose }: Props): JSX.Element | null {
  const [index, setIndex] = useState<number | null>(null);
  const { timeline } = report;
  if (!timeline) return null;
  const { stepS } = timeline;
  const perS = (values: readonly number[]): number[] => values.map((value) => value / stepS);
  const has = (values: readonly number[]): boolean => values.some((value) => value > 0);
  const line = (
    name: string,
    values: readonly number[],
    colour: number,
    look: Series['look'] = 'line',
  ): Series[] => (has(values) ? [{ name, values, colour, look }] : []);
  const charts = [
    {
      title: 'Requests',
      unit: 'requests/s',
      series: [
        ...line('due', perS(timeline.due), 3, 'dashed'),
        ...line('sent', perS(timeline.sent), 1),
        ...line('succeeded', perS(timeline.succeeded), 0),
        ...line('failed', perS(timeline.failed), 2, 'bad'),
      ],
    },
    {
      title: 'Requests under way',
      unit: 'count',
      series: line('most at once', timeline.inFlight, 0, 'area'),
    },
    {
      title: 'Output tokens',
      unit: 'tokens/s',
      series: line('received', perS(timeline.outputTokens), 0, 'area'),
    },
    { title: 'Audio', unit: 's/s', series: line('received', perS(timeline.audioS), 0, 'area') },
  ].filter(({ series }) => series.length > 0);
  return (
    <Section
      id="timeline"
      title="Timeline"
      lead={`In steps of ${tickLabel(stepS, 's')}. All charts share one axis.`}
    >
      <div class="card stack">
        {charts.map((chart) => (
          <TimeChart key={chart.title} {...chart} stepS={stepS} index={index} onMove={setIndex} />
        ))}
        <OverTime
          table={report.requests}
          endS={timeline.sent.length * stepS}
          chosen={chosen}
          onChoose={onChoose}
        />
      </div>
    </Section>
  );
}

/** One metric of the page's requests by when they were sent. */
function OverTime({
  table,
  endS,
  chosen,
  onChoose,
}: {
  table: RequestTable;
  endS: number;
  chosen: number | null;
  onChoose: (request: number) => void;
}): JSX.Element | null {
  const first = Math.max(
    table.columns.findIndex(({ key }) => key === 'e2el'),
    0,
  );
  const [column, setColumn] = useState(first);
  const metric = table.columns[column];
  if (!metric) return null;
  const points: ScatterPoint[] = table.rows
    .flatMap(({ index, startS, reason, values }) => {
      const y = values[column] ?? null;
      return y === null || startS === null
        ? []
        : [{ request: index, x: startS, y, marked: reason === 'slow' }];
    })
    .sort((a, b) => a.x - b.x);
  const isSome = table.rows.length < table.total;
  return (
    <figure class="time-chart">
      <figcaption>
        <h3>
          <label for="over-time-metric">By start time</label>
        </h3>
        <select
          id="over-time-metric"
          value={column}
          onChange={(event) => setColumn(Number(event.currentTarget.value))}
        >
          {table.columns.map(({ key, title }, i) => (
            <option key={key} value={i}>
              {title}
            </option>
          ))}
        </select>
        {isSome ? (
          <span class="muted">the page’s {plural(points.length, 'request')}; the slowest stand out</span>
        ) : null}
      </figcaption>
      <Scatter
        title={`${metric.title} by start time`}
        unit={metric.unit}
        points={points}
        endX={endS}
        chosen={chosen}
        onChoose={onChoose}
      />
    </figure>
  );
}
