import type { JSX } from 'preact';
import type { ReportModel } from '../report/html/report-model.ts';
import { ForeignBlock } from './foreign-text.tsx';
import { formatNumber } from './format.ts';
import { Section } from './section.tsx';

/** What went wrong, the most frequent first, with the bytes that prove it. */
export function FailuresSection({ report: { failures } }: { report: ReportModel }): JSX.Element | null {
  if (failures.length === 0) return null;
  return (
    <Section id="failures" title="Failures">
      {failures.map(({ kind, status, count, message, body }, i) => (
        <div key={i} class="card failure">
          <h3>
            <span class="chip bad">{formatNumber(count, 'count')} ×</span> {kind.replaceAll('_', ' ')}
            {status === null ? null : <span class="muted"> status {status}</span>}
          </h3>
          <ForeignBlock of={message} label="Message" />
          {body && body.text !== '' && body.text !== message.text ? (
            <details open={i === 0}>
              <summary>Bytes of the first one</summary>
              <ForeignBlock of={body} label="Bytes received" />
            </details>
          ) : null}
        </div>
      ))}
    </Section>
  );
}
