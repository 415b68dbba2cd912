import { requestMetrics, runMetrics, samplesMetrics, stageMetrics } from '../metrics/catalogue.ts';
import { goodputKeys } from '../metrics/goodput.ts';
import type { Metric, MetricEntry } from '../metrics/metric.ts';
import { percentileMetrics } from '../metrics/percentile-metrics.ts';

/** The text of docs/metrics.md, made from the catalogue. Ends with a line end. */
export function renderMetricsDoc(): string {
  return [
    ...introduction,
    '## Per request',
    '',
    'One value per successful request, reported as mean, median, percentiles and (in the JSON) standard deviation.',
    '',
    ...Object.values(requestMetrics).flatMap(metricLines),
    '## Pooled over requests',
    '',
    'Many values per successful request, pooled over the run and reported in the same way.',
    '',
    ...Object.values(samplesMetrics).flatMap(metricLines),
    '## Per run',
    '',
    ...Object.values(runMetrics).flatMap(metricLines),
    '## Per stage',
    '',
    'Figures that the server reports of the stages of its pipeline, printed with `--print-stage`. Zeros mean “none” and are no samples.',
    '',
    ...Object.values(stageMetrics).flatMap(metricLines),
    '## Names of `--percentile-metrics`',
    '',
    ...table(
      ['Name', 'Selects'],
      percentileMetrics.map(({ name, doc }) => [`\`${name}\``, doc]),
    ),
    '## Names of `--goodput`',
    '',
    ...table(
      ['Name', 'Meaning'],
      goodputKeys.map(({ name, doc }) => [`\`${name}\``, doc]),
    ),
  ]
    .join('\n')
    .replace(/\n*$/, '\n');
}

const introduction: readonly string[] = [
  '# Metrics',
  '',
  '<!-- Made from the metric catalogue by `npm run docs`; changes here are overwritten. -->',
  '',
  'Every figure is a pure function of the records of the measured requests; warm-ups, probes and readiness checks enter none, and failed requests count only as failed. What was not observed is `null` and never enters a mean: a metric that no request observed has no block in the report.',
  '',
  'Times are counted from the moment just before the request is written (of the last attempt, where it was repeated) to the network read that completed a message. Percentiles are exact: linear interpolation at rank p/100·(n−1) of the sorted sample, numpy’s default. The standard deviation is that of the population.',
  '',
  'Tokens are laid on messages as follows: the advance of the cumulative usage that a chunk carries; else the length of its `token_ids`; else 1 for a chunk with content and without usage; else the count is not known. The reply’s total comes from usage or stage metrics, else from the tokenizer.',
  '',
];

function metricLines(metric: Metric): string[] {
  const facts = [
    `unit: ${metric.unit}`,
    ...(metric.better === 'neither' ? [] : [`${metric.better} is better`]),
    ...('selectedBy' in metric && metric.selectedBy.length > 0
      ? [`selected by ${metric.selectedBy.map((name) => `\`${name}\``).join(', ')}`]
      : []),
    `source: ${metric.source}`,
  ];
  return [`### \`${metric.key}\`: ${headingOf(metric)}`, '', metric.doc, '', `*${facts.join(' · ')}*`, ''];
}

function headingOf({ label, title }: MetricEntry): string {
  return label.toLowerCase().startsWith(title.toLowerCase()) ? title : `${title} (${label})`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const row = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [row(head), row(head.map(() => '---')), ...rows.map(row), ''];
}
