import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Distribution, Figure, Modality, ReportModel } from '../report/html/report-model.ts';
import { Histogram } from './charts/histogram.tsx';
import { PercentileCurve } from './charts/percentile-curve.tsx';
import { exactQuantity, formatQuantity, unitLabel } from './format.ts';
import { Section } from './section.tsx';

const groups: readonly { readonly modality: Modality; readonly title: string }[] = [
  { modality: 'any', title: 'Whole requests' },
  { modality: 'text', title: 'Text' },
  { modality: 'audio', title: 'Audio' },
  { modality: 'image', title: 'Images' },
  { modality: 'video', title: 'Video' },
];
const views = ['Histogram', 'Percentiles'] as const;

/** The shape of every metric, by what the replies hold. */
export function DistributionsSection({ report }: { report: ReportModel }): JSX.Element | null {
  const [view, setView] = useState<(typeof views)[number]>('Histogram');
  if (report.distributions.length === 0) return null;
  return (
    <Section
      id="distributions"
      title="Distributions"
      lead="Exact over all successful requests. Point at a chart, or focus it and use the arrow keys."
    >
      <fieldset class="segments">
        <legend class="visually-hidden">Kind of chart</legend>
        {views.map((name) => (
          <label key={name}>
            <input
              type="radio"
              name="distribution-view"
              checked={view === name}
              onChange={() => setView(name)}
            />
            <span>{name}</span>
          </label>
        ))}
      </fieldset>
      {groups.map(({ modality, title }) => {
        const distributions = report.distributions.filter((one) => one.modality === modality);
        if (distributions.length === 0) return null;
        const figures = modality === 'any' ? [] : report.figures.filter((one) => one.modality === modality);
        return (
          <div key={modality} class="panel" data-modality={modality}>
            <h3>{title}</h3>
            {figures.length > 0 ? <Figures of={figures} /> : null}
            <div class="grid-cards">
              {distributions.map((one) => (
                <Card key={one.key} of={one} view={view} />
              ))}
            </div>
          </div>
        );
      })}
    </Section>
  );
}

function Card({ of, view }: { of: Distribution; view: (typeof views)[number] }): JSX.Element {
  const unit = unitLabel(of.unit);
  return (
    <div class="card chart-card">
      <h4 title={of.doc}>
        {of.title}
        {unit === '' ? null : <span class="unit"> {unit}</span>}
      </h4>
      {view === 'Histogram' ? <Histogram of={of} /> : <PercentileCurve of={of} />}
      {of.objective === null ? null : (
        <p class="muted">
          Objective: at most <b>{formatQuantity(of.objective, of.unit)}</b>
        </p>
      )}
    </div>
  );
}

function Figures({ of }: { of: readonly Figure[] }): JSX.Element {
  return (
    <dl class="inline-figures">
      {of.map((figure) => {
        const isShare = figure.key.endsWith('_rate');
        return (
          <div key={figure.key} title={figure.doc}>
            <dt>{figure.title}</dt>
            <dd title={exactQuantity(figure.value, figure.unit)}>
              {isShare ? formatQuantity(figure.value * 100, '%') : formatQuantity(figure.value, figure.unit)}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}
