import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { ReportModel, RequestRowModel, RowReason } from '../report/html/report-model.ts';
import { DataTable, type TableColumn } from './data-table.tsx';
import { absent, formatNumber, plural } from './format.ts';
import { numberColumn } from './metric-columns.tsx';
import { RequestCloseUp } from './request-close-up.tsx';
import { Section } from './section.tsx';
import { visibleText } from './visible-text.ts';

type Props = {
  readonly report: ReportModel;
  readonly chosen: number | null;
  readonly onChoose: (request: number) => void;
};

const reasons: Record<RowReason, string> = {
  all: 'all',
  slow: 'slowest',
  failed: 'failed',
  sample: 'random sample',
};
const filters = ['all', 'ok', 'failed', 'slow', 'sample'] as const;
const filterNames = {
  all: 'All',
  ok: 'Succeeded',
  failed: 'Failed',
  slow: 'Slowest',
  sample: 'Random sample',
} as const;
type Filter = (typeof filters)[number];

/** The page's requests, and one of them from close up. */
export function RequestsSection({ report, chosen, onChoose }: Props): JSX.Element | null {
  const [query, setQuery] = useState('');
  const [filter, setFilter] = useState<Filter>('all');
  const { requests: table, details } = report;
  const texts = useMemo(() => searchTexts(report), [report]);
  if (table.rows.length === 0) return null;
  const wanted = query.trim().toLowerCase();
  const rows = table.rows.filter(
    (row) => passes(row, filter) && (wanted === '' || texts.get(row.index)?.includes(wanted)),
  );
  const isSome = table.rows.length < table.total;
  const row = table.rows.find(({ index }) => index === chosen);
  return (
    <Section
      id="requests"
      title="Requests"
      lead={isSome ? selectionText(report) : `All ${plural(table.total, 'request')}.`}
    >
      {row ? <RequestCloseUp table={table} row={row} detail={details[String(row.index)]} /> : null}
      <div class="card">
        <div class="table-tools">
          <label>
            Search{' '}
            <input
              type="search"
              value={query}
              placeholder="number, id, outcome, message"
              onInput={(event) => setQuery(event.currentTarget.value)}
            />
          </label>
          <fieldset class="segments">
            <legend class="visually-hidden">Requests shown</legend>
            {filters
              .filter((name) => name === 'all' || table.rows.some((one) => passes(one, name)))
              .map((name) => (
                <label key={name}>
                  <input
                    type="radio"
                    name="request-filter"
                    checked={filter === name}
                    onChange={() => setFilter(name)}
                  />
                  <span>{filterNames[name]}</span>
                </label>
              ))}
          </fieldset>
          <output class="muted">{plural(rows.length, 'request')} shown</output>
        </div>
        <DataTable
          caption="Table of requests"
          columns={columnsOf(report, onChoose)}
          rows={rows}
          keyOf={({ index }) => String(index)}
          pageSize={50}
          chosenKey={chosen === null ? null : String(chosen)}
        />
      </div>
    </Section>
  );
}

function passes(row: RequestRowModel, filter: Filter): boolean {
  if (filter === 'all') return true;
  if (filter === 'ok') return row.outcome === 'ok';
  return filter === 'failed' ? row.outcome !== 'ok' : row.reason === filter;
}

function selectionText({ requests: { rows, total, failedTotal } }: ReportModel): string {
  const count = (reason: RowReason): number => rows.filter((row) => row.reason === reason).length;
  const failed = count('failed');
  const failedText =
    failedTotal === 0
      ? ''
      : failed < failedTotal
        ? `, ${formatNumber(failed, 'count')} of the ${formatNumber(failedTotal, 'count')} that failed`
        : `, all ${formatNumber(failedTotal, 'count')} that failed`;
  return `The page holds ${formatNumber(rows.length, 'count')} of ${plural(total, 'request')}: the ${formatNumber(count('slow'), 'count')} slowest${failedText}, and ${formatNumber(count('sample'), 'count')} of the others at random. The figures and distributions above are of all of them. The command line writes every request: omnimeter report DIR --save-result --save-detailed.`;
}

/** What a search looks through, in lower case. */
function searchTexts({ requests, details }: ReportModel): Map<number, string> {
  return new Map(
    requests.rows.map(({ index, outcome, reason }) => {
      const detail = details[String(index)];
      const parts = [
        String(index),
        outcome,
        reasons[reason],
        detail?.requestId,
        detail?.responseId,
        detail?.finishReason,
        detail?.failure?.message.text,
        detail?.failure?.body?.text,
        detail?.text.text,
      ];
      return [
        index,
        parts
          .filter((part) => part != null)
          .join('\n')
          .toLowerCase(),
      ];
    }),
  );
}

function columnsOf(report: ReportModel, onChoose: Props['onChoose']): TableColumn<RequestRowModel>[] {
  const { columns, rows, total } = report.requests;
  const hasDetail = (row: RequestRowModel): boolean => report.details[String(row.index)] !== undefined;
  return [
    {
      name: '#',
      numeric: true,
      value: (row) => row.index,
      show: (row) => (
        <button
          type="button"
          class={hasDetail(row) ? 'open' : 'open few'}
          aria-label={`Open request ${row.index}`}
          onClick={() => {
            onChoose(row.index);
            document.getElementById('request')?.scrollIntoView({ block: 'start' });
          }}
        >
          {row.index}
        </button>
      ),
    },
    {
      name: 'Outcome',
      value: (row) => row.outcome,
      show: (row) => <span class={row.outcome === 'ok' ? '' : 'chip bad'}>{visibleText(row.outcome)}</span>,
    },
    ...(rows.length < total
      ? [
          {
            name: 'Here as',
            value: (row: RequestRowModel) => reasons[row.reason],
            show: (row: RequestRowModel) => <span class="muted">{reasons[row.reason]}</span>,
          },
        ]
      : []),
    numberColumn('Start', 's', (row) => row.startS, 'When it was sent, after the run’s start'),
    numberColumn('In', 'tokens', (row) => row.inputTokens),
    numberColumn('Out', 'tokens', (row) => row.outputTokens),
    ...columns.map(({ label, title, unit }, i) =>
      numberColumn<RequestRowModel>(shortLabel(label), unit, (row) => row.values[i] ?? null, title),
    ),
  ];
}

/** Labels of the text report are shouted. */
function shortLabel(label: string): string {
  if (!label.includes('_')) return label || absent;
  const words = label.toLowerCase().split('_');
  const [first = '', ...rest] = words.map((word) =>
    /^(ttfp|rtf|ttft|e2el)$/.test(word) ? word.toUpperCase() : word,
  );
  return [first.charAt(0).toUpperCase() + first.slice(1), ...rest].join(' ');
}
