import type { JSX } from 'preact';
import type {
  PathSummary,
  ReportModel,
  StageDurationModel,
  StageRowModel,
} from '../report/html/report-model.ts';
import { PathBar } from './charts/path-bar.tsx';
import { DataTable, type TableColumn } from './data-table.tsx';
import { Foreign } from './foreign-text.tsx';
import { formatNumber, percentileLabel, plural, unitLabel } from './format.ts';
import { mixedColumn, numberColumn } from './metric-columns.tsx';
import { Section } from './section.tsx';

const goals = { audio: 'first audio', text: 'first text', reply: 'the whole reply' } as const;

/** Where the time goes, and what each stage of the pipeline says of itself. */
export function StagesSection({ report }: { report: ReportModel }): JSX.Element | null {
  const { paths, stages, stageDurations, stagePercentiles } = report;
  if (paths.length + stages.length + stageDurations.length === 0) return null;
  return (
    <Section
      id="stages"
      title={stages.length > 0 ? 'Stages and critical path' : 'Critical path'}
      lead="A step is the time that a request waited for it alone: a stage counts from the first output of the stage before to its own."
    >
      {paths.map((path) => (
        <Path key={path.goal} of={path} />
      ))}
      {stages.length > 0 ? <StageTable rows={stages} percentiles={stagePercentiles} /> : null}
      {stageDurations.length > 0 ? <DurationTable rows={stageDurations} /> : null}
    </Section>
  );
}

function Path({ of }: { of: PathSummary }): JSX.Element {
  const columns: TableColumn<PathSummary['steps'][number]>[] = [
    { name: 'Step', value: (step) => step.name, show: (step) => <Foreign text={step.name} /> },
    { name: 'Whose', value: (step) => step.kind, show: (step) => step.kind },
    numberColumn('Mean', 'ms', (step) => step.meanMs),
    numberColumn('Median', 'ms', (step) => step.medianMs),
    numberColumn('P99', 'ms', (step) => step.p99Ms),
  ];
  const toGoal = of.steps.filter(({ kind }) => kind !== 'stream');
  const title = `Mean path to ${goals[of.goal]}`;
  return (
    <div class="card">
      <h3>
        {title} <span class="muted">over {plural(of.requests, 'request')}</span>
      </h3>
      <PathBar label={title} steps={toGoal.map(({ kind, name, meanMs }) => ({ kind, name, ms: meanMs }))} />
      <details>
        <summary>Every step, the rest of the reply too</summary>
        <DataTable
          caption={`Critical path to ${goals[of.goal]}`}
          columns={columns}
          rows={of.steps}
          keyOf={(step) => step.name}
        />
      </details>
    </div>
  );
}

function StageTable({
  rows,
  percentiles,
}: {
  rows: readonly StageRowModel[];
  percentiles: readonly number[];
}): JSX.Element {
  const columns: TableColumn<StageRowModel>[] = [
    {
      name: 'Stage',
      value: (row) => `${row.stage} ${row.name}`,
      show: (row) => (
        <>
          <span class="muted">{row.stage} </span>
          <Foreign text={row.name} />
        </>
      ),
    },
    {
      name: 'Metric',
      value: (row) => row.metric,
      show: (row) => (
        <>
          {row.metric.replaceAll('_', ' ')}
          {unitLabel(row.unit) === '' ? null : <span class="unit"> {unitLabel(row.unit)}</span>}
        </>
      ),
      exact: (row) => row.doc,
    },
    mixedColumn('Mean', (row) => row.mean),
    mixedColumn('Median', (row) => row.median),
    ...percentiles.flatMap((p, i) =>
      p === 50 ? [] : [mixedColumn<StageRowModel>(percentileLabel(p), (row) => row.percentiles[i] ?? null)],
    ),
    mixedColumn('Max', (row) => row.max),
    {
      name: 'Count',
      numeric: true,
      value: (row) => row.count,
      show: (row) => formatNumber(row.count, 'count'),
    },
  ];
  return (
    <div class="card">
      <h3>What the stages report</h3>
      <DataTable
        caption="Stage metrics"
        columns={columns}
        rows={rows}
        keyOf={(row) => `${row.stage} ${row.metric}`}
      />
    </div>
  );
}

function DurationTable({ rows }: { rows: readonly StageDurationModel[] }): JSX.Element {
  const columns: TableColumn<StageDurationModel>[] = [
    { name: 'Key', value: (row) => row.key, show: (row) => <Foreign text={row.key} /> },
    numberColumn('Mean', '', (row) => row.mean),
    numberColumn('Median', '', (row) => row.median),
    numberColumn('P99', '', (row) => row.p99),
  ];
  return (
    <div class="card">
      <h3>
        The server’s profiler <span class="muted">in the unit of each key</span>
      </h3>
      <DataTable caption="Profiler durations" columns={columns} rows={rows} keyOf={(row) => row.key} />
    </div>
  );
}
