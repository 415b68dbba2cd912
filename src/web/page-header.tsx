import type { JSX } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import type { ReportModel } from '../report/html/report-model.ts';
import { Foreign } from './foreign-text.tsx';
import { formatDuration, formatTimestamp, plural } from './format.ts';
import { requestsCsv } from './requests-csv.ts';
import { saveFile } from './save-file.ts';

/** What was measured and when, with what can be done with the page as a whole. */
export function PageHeader({ report }: { report: ReportModel }): JSX.Element {
  const { run } = report;
  return (
    <header class="page-header">
      <div class="identity">
        <p class="mark">
          <svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true">
            <path d="M2 17h16M4 17v-5M8 17V6M12 17v-8M16 17V3" />
          </svg>
          Omnimeter report
        </p>
        <h1>
          <Foreign text={run.model} />
        </h1>
        <p class="subtitle">
          {[
            run.label === null ? null : <Foreign key="label" text={run.label} />,
            <Foreign key="endpoint" text={run.endpoint} />,
            <Foreign key="dataset" text={`${run.dataset} dataset`} />,
            plural(run.completed + run.failed + run.aborted, 'request'),
            formatDuration(run.durationS),
            <Foreign key="started" text={formatTimestamp(run.startedAt)} />,
          ]
            .filter((part) => part !== null)
            .map((part, i) => (
              <span key={i}>{part}</span>
            ))}
        </p>
      </div>
      <div class="actions">
        <ThemeChoice />
        <button
          type="button"
          onClick={() => saveFile('omnimeter-requests.csv', 'text/csv', requestsCsv(report.requests))}
        >
          Download CSV
        </button>
        <button
          type="button"
          onClick={() =>
            saveFile('omnimeter-report.json', 'application/json', JSON.stringify(report, null, 1))
          }
        >
          Download JSON
        </button>
      </div>
    </header>
  );
}

const themes = ['auto', 'light', 'dark'] as const;

function ThemeChoice(): JSX.Element {
  const [theme, setTheme] = useState<(typeof themes)[number]>('auto');
  useLayoutEffect(() => {
    if (theme === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }, [theme]);
  return (
    <fieldset class="segments">
      <legend class="visually-hidden">Theme</legend>
      {themes.map((name) => (
        <label key={name}>
          <input type="radio" name="theme" checked={theme === name} onChange={() => setTheme(name)} />
          <span>{name}</span>
        </label>
      ))}
    </fieldset>
  );
}
