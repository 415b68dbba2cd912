import type { JSX } from 'preact';
import type { RequestDetail, RequestRowModel, RequestTable } from '../report/html/report-model.ts';
import { LineChart } from './charts/line-chart.tsx';
import { PathBar } from './charts/path-bar.tsx';
import { Waterfall } from './charts/waterfall.tsx';
import { Facts } from './facts.tsx';
import { ForeignBlock } from './foreign-text.tsx';
import { exactQuantity, formatQuantity, plural } from './format.ts';

type Props = {
  readonly table: RequestTable;
  readonly row: RequestRowModel;
  readonly detail: RequestDetail | undefined;
};

/** One request: what it waited for, when its output came, how its audio would have played. */
export function RequestCloseUp({ table, row, detail }: Props): JSX.Element {
  const title = `Request ${row.index}`;
  return (
    <section class="card close-up" id="request" aria-label={title} aria-live="polite">
      <h3>
        {title} <span class={row.outcome === 'ok' ? 'chip good' : 'chip bad'}>{row.outcome}</span>
      </h3>
      <dl class="inline-figures">
        {table.columns.map(({ key, title: name, unit }, i) => {
          const value = row.values[i] ?? null;
          return value === null ? null : (
            <div key={key}>
              <dt>{name}</dt>
              <dd title={exactQuantity(value, unit)}>{formatQuantity(value, unit)}</dd>
            </div>
          );
        })}
      </dl>
      {detail ? (
        <Detail of={detail} row={row} />
      ) : (
        <p class="muted">
          This request’s events are in the run folder only: a page has room for some requests from close up.
        </p>
      )}
    </section>
  );
}

const goals = { audio: 'first audio', text: 'first text', reply: 'the whole reply' } as const;

function Detail({ of, row }: { of: RequestDetail; row: RequestRowModel }): JSX.Element {
  const toGoal = of.path?.steps.filter(({ kind }) => kind !== 'stream') ?? [];
  return (
    <>
      {of.failure ? <Failure of={of.failure} /> : null}
      {of.path && toGoal.length > 0 ? (
        <>
          <h4>Critical path to {goals[of.path.goal]}</h4>
          <PathBar label={`Critical path of request ${row.index}`} steps={toGoal} />
        </>
      ) : null}
      {of.spans.length > 0 ? (
        <>
          <h4>Waterfall</h4>
          <Waterfall spans={of.spans} request={row.index} />
        </>
      ) : null}
      <div class="grid-cards plain">
        {of.playback ? <PlaybackChart of={of.playback} request={row.index} /> : null}
        {of.tokens ? (
          <div>
            <h4>Tokens received</h4>
            <LineChart
              title={`Tokens of request ${row.index} over time`}
              unit="tokens"
              timesMs={of.tokens.timesMs}
              values={of.tokens.counts}
              stairs
              note={`${plural(of.tokens.counts.at(-1) ?? 0, 'token')}, ms since the request was due`}
            />
          </div>
        ) : null}
      </div>
      {of.media.length > 0 ? <Facts of={of.media} /> : null}
      <Facts of={identity(of)} />
      {of.text.text === '' ? null : (
        <details>
          <summary>Beginning of the reply’s text</summary>
          <ForeignBlock of={of.text} label="Text of the reply" />
        </details>
      )}
    </>
  );
}

function PlaybackChart({
  of,
  request,
}: {
  of: NonNullable<RequestDetail['playback']>;
  request: number;
}): JSX.Element {
  const hidden = of.underrunCount - of.underruns.length;
  const note =
    of.underrunCount === 0
      ? 'never ran dry'
      : `${plural(of.underrunCount, 'underrun')}, ${formatQuantity(of.waitedMs, 'ms')} of silence in all${hidden > 0 ? `; the longest ${of.underruns.length} are marked` : ''}`;
  return (
    <div>
      <h4>
        Playback buffer{' '}
        <span class={of.underrunCount > 0 ? 'chip bad' : 'chip good'}>
          {of.underrunCount > 0 ? plural(of.underrunCount, 'underrun') : 'no underrun'}
        </span>
      </h4>
      <LineChart
        title={`Playback buffer of request ${request} over time`}
        unit="s"
        timesMs={of.timesMs}
        values={of.bufferS}
        stairs={false}
        gaps={of.underruns}
        note={`A player that starts with the first chunk: ${note}`}
      />
    </div>
  );
}

function Failure({ of }: { of: NonNullable<RequestDetail['failure']> }): JSX.Element {
  return (
    <>
      <h4>Failure</h4>
      <ForeignBlock of={of.message} label="Message" />
      {of.body && of.body.text !== '' ? <ForeignBlock of={of.body} label="Bytes received" /> : null}
    </>
  );
}

function identity(of: RequestDetail) {
  const row = (name: string, value: string | number | null) =>
    value === null ? [] : [{ name, value, unit: '', doc: '' }];
  return [
    ...row('Request id', of.requestId),
    ...row('Response id', of.responseId),
    ...row('Finish reason', of.finishReason),
    ...row('HTTP status', of.status === null ? null : String(of.status)),
    ...(of.attempts > 1 ? row('Attempts', of.attempts) : []),
  ];
}
