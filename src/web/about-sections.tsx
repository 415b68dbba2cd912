import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ReportModel } from '../report/html/report-model.ts';
import { Facts } from './facts.tsx';
import { Foreign, ForeignBlock } from './foreign-text.tsx';
import { Section } from './section.tsx';

/** How the client saw itself while it measured. */
export function MethodSection({ report }: { report: ReportModel }): JSX.Element {
  return (
    <Section
      id="method"
      title="How the numbers were got"
      lead="The client measures itself during a run. Times can be off by about its send lag and loop delay; small ones are what makes the others worth reading."
    >
      <div class="card">
        {report.method.length > 0 ? (
          <Facts of={report.method} />
        ) : (
          <p>The client’s own measurements are not in this run: it was cut off before they were written.</p>
        )}
        {report.probes.length > 0 ? (
          <>
            <h3>Probes beside the load</h3>
            <Facts of={report.probes} />
          </>
        ) : null}
      </div>
    </Section>
  );
}

/** What was asked for, where it ran, and the command that repeats it. */
export function ConfigurationSection({ report }: { report: ReportModel }): JSX.Element {
  return (
    <Section id="configuration" title="Configuration and environment">
      <div class="grid-cards">
        {report.configuration.map(({ title, facts }) => (
          <div key={title} class="card">
            <h3>{title}</h3>
            <Facts of={facts} />
          </div>
        ))}
      </div>
      <div class="card command">
        <h3>
          Command <CopyButton text={report.command} />
        </h3>
        <ForeignBlock of={{ text: report.command, more: 0 }} label="Command" />
      </div>
      <p class="muted">
        Written by omnimeter <Foreign text={report.omnimeterVersion} />. This file needs no network and sends
        nothing.
      </p>
    </Section>
  );
}

function CopyButton({ text }: { text: string }): JSX.Element {
  const [said, setSaid] = useState('Copy');
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid('Copied');
    } catch {
      setSaid('Select it and copy');
    }
  };
  return (
    <button type="button" onClick={() => void copy()}>
      {said}
    </button>
  );
}
