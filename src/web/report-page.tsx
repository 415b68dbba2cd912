import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ReportModel } from '../report/html/report-model.ts';
import { ConfigurationSection, MethodSection } from './about-sections.tsx';
import { DistributionsSection } from './distributions-section.tsx';
import { FailuresSection } from './failures-section.tsx';
import { PageHeader } from './page-header.tsx';
import { RequestsSection } from './requests-section.tsx';
import { StagesSection } from './stages-section.tsx';
import { SummarySection } from './summary-section.tsx';
import { TimelineSection } from './timeline-section.tsx';

/** The whole page. */
export function ReportPage({ report }: { report: ReportModel }): JSX.Element {
  const [chosen, setChosen] = useState(() => firstChoice(report));
  const links = linksOf(report);
  return (
    <>
      <a class="skip" href="#summary">
        Skip to the summary
      </a>
      <PageHeader report={report} />
      <nav class="contents" aria-label="Parts of the report">
        <ul>
          {links.map(([id, name]) => (
            <li key={id}>
              <a href={`#${id}`}>{name}</a>
            </li>
          ))}
        </ul>
      </nav>
      <main>
        <SummarySection report={report} />
        {report.run.completed === 0 ? <FailuresSection report={report} /> : null}
        <TimelineSection report={report} chosen={chosen} onChoose={setChosen} />
        <DistributionsSection report={report} />
        <StagesSection report={report} />
        <RequestsSection report={report} chosen={chosen} onChoose={setChosen} />
        {report.run.completed > 0 ? <FailuresSection report={report} /> : null}
        <MethodSection report={report} />
        <ConfigurationSection report={report} />
      </main>
    </>
  );
}

function linksOf(report: ReportModel): [id: string, name: string][] {
  const hasStages = report.paths.length + report.stages.length + report.stageDurations.length > 0;
  const links: [string, string, boolean][] = [
    ['summary', 'Summary', true],
    ['timeline', 'Timeline', report.timeline !== null],
    ['distributions', 'Distributions', report.distributions.length > 0],
    ['stages', report.stages.length > 0 ? 'Stages' : 'Critical path', hasStages],
    ['requests', 'Requests', report.requests.rows.length > 0],
    ['failures', 'Failures', report.failures.length > 0],
    ['method', 'Method', true],
    ['configuration', 'Configuration', true],
  ];
  return links.flatMap(([id, name, there]) => (there ? [[id, name]] : []));
}

/** The slowest request that can be shown from close up: what one would click on first. */
function firstChoice({ requests, details }: ReportModel): number | null {
  const column = Math.max(
    requests.columns.findIndex(({ key }) => key === 'e2el'),
    0,
  );
  let best: { readonly index: number; readonly value: number } | null = null;
  for (const { index, values } of requests.rows) {
    const value = values[column] ?? -1;
    if (details[String(index)] && (best === null || value > best.value)) best = { index, value };
  }
  return best?.index ?? null;
}
