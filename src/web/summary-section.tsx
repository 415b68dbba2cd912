import type { JSX } from 'preact';
import type { Distribution, Fact, Figure, ReportModel } from '../report/html/report-model.ts';
import { DataTable, type TableColumn } from './data-table.tsx';
import { Foreign } from './foreign-text.tsx';
import { exactQuantity, formatNumber, formatQuantity, plural, unitLabel } from './format.ts';
import { mixedColumn } from './metric-columns.tsx';
import { Section } from './section.tsx';

/** The figures that answer "how did it go?", most asked for first. */
const headlines = [
  'request_throughput',
  'request_goodput',
  'output_throughput',
  'audio_throughput',
  'audio_continuity_ok_rate',
  'image_throughput',
  'video_throughput',
  'total_token_throughput',
  'total_audio_duration_s',
  'total_images',
  'total_video_duration_s',
  'average_pixels_per_image',
  'max_concurrent_requests_exact',
] as const;
const mostTiles = 8;

/** What matters at one glance. */
export function SummarySection({ report }: { report: ReportModel }): JSX.Element {
  const byKey = new Map(report.figures.map((figure) => [figure.key, figure]));
  const tiles = headlines.flatMap((key) => byKey.get(key) ?? []).slice(0, mostTiles);
  return (
    <Section id="summary" title="Summary">
      {report.notes.length > 0 ? (
        <ul class="notes">
          {report.notes.map((note) => (
            <li key={note}>
              <Foreign text={note} />
            </li>
          ))}
        </ul>
      ) : null}
      <Outcome report={report} />
      {report.run.completed > 0 ? (
        <div class="tiles">
          {tiles.map((figure) => (
            <Tile key={figure.key} of={figure} />
          ))}
        </div>
      ) : null}
      {report.distributions.length > 0 ? <LatencyTable of={report.distributions} /> : null}
      <Method of={report.method} durationS={report.run.durationS} />
      {report.figures.length > 0 ? <AllFigures of={report.figures} /> : null}
    </Section>
  );
}

function Outcome({ report: { run } }: { report: ReportModel }): JSX.Element {
  const { completed, failed, aborted, planned } = run;
  const seen = completed + failed + aborted;
  const parts = [
    { look: 'good', count: completed, name: 'succeeded' },
    { look: 'bad', count: failed, name: 'failed' },
    { look: 'stopped', count: aborted, name: 'aborted' },
    { look: 'missing', count: Math.max(planned - seen, 0), name: 'not sent or not finished' },
  ].filter(({ count }) => count > 0);
  return (
    <div class="outcome">
      <p>
        <strong>{formatNumber(completed, 'count')}</strong> of {plural(Math.max(planned, seen), 'request')}{' '}
        succeeded
        {parts
          .filter(({ look }) => look !== 'good')
          .map(({ look, count, name }) => (
            <span key={name} class={`chip ${look}`}>
              {formatNumber(count, 'count')} {name}
            </span>
          ))}
      </p>
      <div class="outcome-bar" aria-hidden="true">
        {parts.map(({ look, count, name }) => (
          <span key={name} class={look} style={{ flexGrow: count }} />
        ))}
      </div>
    </div>
  );
}

function Tile({ of }: { of: Figure }): JSX.Element {
  // Rates of 0 to 1 are read as percentages where their name says so.
  const isShare = of.key.endsWith('_rate');
  const [value, unit] = isShare ? [of.value * 100, '%'] : [of.value, unitLabel(of.unit)];
  return (
    <div class="tile" title={of.doc}>
      <span class="name">{of.title}</span>
      <span class="value" title={exactQuantity(of.value, of.unit)}>
        {formatNumber(value, isShare ? '' : of.unit)}
        {unit === '' ? null : <small> {unit}</small>}
      </span>
    </div>
  );
}

const quantile = (of: Distribution, p: number): number | null =>
  of.quantiles.find(([at]) => at === p)?.[1] ?? null;

function LatencyTable({ of }: { of: readonly Distribution[] }): JSX.Element {
  const columns: TableColumn<Distribution>[] = [
    {
      name: 'Metric',
      value: (row) => row.title,
      show: (row) => (
        <>
          {row.title}
          {unitLabel(row.unit) === '' ? null : <span class="unit"> {unitLabel(row.unit)}</span>}
        </>
      ),
      exact: (row) => row.doc,
    },
    {
      name: 'Shape',
      value: (row) => row.std / (row.mean || 1),
      show: (row) => <Spark of={row} />,
      title: 'Sorts by spread: deviation over mean',
    },
    mixedColumn('Mean', (row) => row.mean),
    mixedColumn('Median', (row) => quantile(row, 50)),
    mixedColumn('P90', (row) => quantile(row, 90)),
    mixedColumn('P95', (row) => quantile(row, 95)),
    mixedColumn('P99', (row) => quantile(row, 99)),
    mixedColumn('Max', (row) => quantile(row, 100)),
    {
      name: 'Count',
      numeric: true,
      value: (row) => row.count,
      show: (row) => formatNumber(row.count, 'count'),
    },
  ];
  return (
    <div class="card">
      <h3>Latencies and sizes per request</h3>
      <DataTable
        caption="Latencies and sizes per request"
        columns={columns}
        rows={of}
        keyOf={(row) => row.key}
      />
    </div>
  );
}

function Spark({ of }: { of: Distribution }): JSX.Element {
  const most = Math.max(...of.counts, 1);
  const width = 96 / Math.max(of.counts.length, 24);
  return (
    <svg class="spark" viewBox="0 0 96 20" width="96" height="20" aria-hidden="true">
      {of.counts.map((count, i) => {
        const height = count > 0 ? Math.max((count / most) * 19, 1) : 0;
        return (
          <rect key={i} x={i * width} y={20 - height} width={Math.max(width - 0.3, 0.5)} height={height} />
        );
      })}
    </svg>
  );
}

/** Until a verdict can be given, the reader gets what it would be made from. */
function Method({ of, durationS }: { of: readonly Fact[]; durationS: number | null }): JSX.Element | null {
  if (of.length === 0) return null;
  const shown = ['Send lag, p99', 'Loop delay, p99', 'Busiest load thread', 'Client CPU']
    .map((name) => of.find((fact) => fact.name === name))
    .filter((fact) => fact !== undefined);
  return (
    <p class="method">
      <b>How these numbers were got</b>
      {shown.map(({ name, value, unit, doc }) => (
        <span key={name} title={doc}>
          {name} <b>{typeof value === 'number' ? formatQuantity(value, unit) : value}</b>
          {name === 'Client CPU' && typeof value === 'number' && durationS !== null && durationS > 0
            ? ` of ${formatQuantity(durationS, 's')}`
            : ''}
        </span>
      ))}
      <a href="#method">all of the client’s own measurements</a>
    </p>
  );
}

function AllFigures({ of }: { of: readonly Figure[] }): JSX.Element {
  const columns: TableColumn<Figure>[] = [
    { name: 'Figure', value: (row) => row.title, show: (row) => row.title },
    {
      name: 'Value',
      numeric: true,
      value: (row) => row.value,
      show: (row) => formatQuantity(row.value, row.unit),
      exact: (row) => exactQuantity(row.value, row.unit),
    },
    { name: 'Meaning', value: (row) => row.doc, show: (row) => <span class="doc">{row.doc}</span> },
  ];
  return (
    <details class="card">
      <summary>All {of.length} figures of the run, and what they mean</summary>
      <DataTable caption="All figures of the run" columns={columns} rows={of} keyOf={(row) => row.key} />
    </details>
  );
}
