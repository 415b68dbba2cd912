import type { SampleSummary } from '../foundation/statistics.ts';
import { distributionMetric, stageMetrics } from '../metrics/catalogue.ts';
import type { MetricEntry, MetricUnit } from '../metrics/metric.ts';
import { isSelected } from '../metrics/percentile-metrics.ts';
import type { RunSummary, StageSummary } from '../metrics/summary.ts';
import { baseLayout } from './base-layout.ts';
import { duplexLines } from './duplex-lines.ts';
import type { BlockItem, ServingItem, StageItem } from './layout.ts';
import { omniLayout } from './omni-layout.ts';
import { blockLines, reportWidth, textLine, titleLine, valueLine } from './report-lines.ts';
import { sanitizeForTerminal } from './sanitize-for-terminal.ts';
import { stageDurationLines } from './stage-duration-lines.ts';

/** The report as the original prints it, line by line: values are padded with blanks, no line holds a line end. */
export function renderTerminalReport(summary: RunSummary): string[] {
  const layout = summary.facts.omni ? omniLayout : baseLayout;
  return [
    ...layout.flatMap((item) => servingLines(item, summary)),
    '='.repeat(reportWidth),
    ...duplexLines(' Duplex Per-Response Latency ', summary),
  ];
}

function servingLines(item: ServingItem, summary: RunSummary): string[] {
  const { facts, distributions } = summary;
  switch (item.kind) {
    case 'title':
      return [titleLine(item.text, '=')];
    case 'row':
      return [valueLine(item.label, summary.run[item.metric], item.format)];
    case 'setting': {
      const value = facts[item.setting];
      return value === null ? [] : [valueLine(item.label, value, item.format)];
    }
    case 'mean': {
      const { mean } = distributions[item.metric];
      return mean === null ? [] : [valueLine(item.label, mean, 'fixed')];
    }
    case 'block':
      return blockItemLines(item, distributionMetric(item.metric), distributions[item.metric], summary);
    case 'blocks-as-named':
      return blocksAsNamed(item.metrics, summary);
    case 'section':
      return item.when(summary) ? item.items.flatMap((inner) => servingLines(inner, summary)) : [];
    case 'stage-durations':
      return stageDurationLines(summary.stageDurations, facts.metricPercentiles);
    case 'probe':
      return probeLines(item, summary);
    case 'stages':
      return stagesLines(item, summary);
  }
}

function blocksAsNamed(
  keys: Extract<ServingItem, { kind: 'blocks-as-named' }>['metrics'],
  summary: RunSummary,
): string[] {
  const named = new Set(summary.facts.percentileMetrics);
  const inOrder = [...named].flatMap((name) =>
    keys.filter((key) => distributionMetric(key).selectedBy.includes(name)),
  );
  return inOrder.flatMap((metric) => servingLines({ kind: 'block', metric, when: 'selected' }, summary));
}

function probeLines(item: Extract<ServingItem, { kind: 'probe' }>, { probe }: RunSummary): string[] {
  if (!probe) return [];
  return [
    titleLine(item.title, '-'),
    ...item.rows.map(({ label, field, format }) => valueLine(label, probe[field], format)),
  ];
}

function stagesLines(item: Extract<ServingItem, { kind: 'stages' }>, summary: RunSummary): string[] {
  if (!summary.facts.printStage || summary.stages.length === 0) return [];
  const stageLines = summary.stages.flatMap((stage) => [
    titleLine(` Stage ${sanitizeForTerminal(stage.id, 10)} (${sanitizeForTerminal(stage.name, 40)}) `, '='),
    ...item.layouts[stage.stageClass].flatMap((inner) => stageItemLines(inner, stage, summary)),
  ]);
  return ['', titleLine(item.title, '='), ...stageLines];
}

function stageItemLines(item: StageItem, stage: StageSummary, summary: RunSummary): string[] {
  switch (item.kind) {
    case 'title':
      return [titleLine(item.text, '=')];
    case 'total':
      return [valueLine(item.label, stage.totals[item.metric], item.format)];
    case 'block':
      return blockItemLines(item, stageMetrics[item.metric], stage.distributions[item.metric], summary);
  }
}

const unitSuffixes: Partial<Record<MetricUnit, string>> = { ms: ' (ms)', s: ' (s)', MB: ' (MB)' };

function blockItemLines(
  item: BlockItem<string>,
  metric: MetricEntry & { readonly selectedBy: readonly string[] },
  sample: SampleSummary,
  summary: RunSummary,
): string[] {
  if (item.when === 'selected' && !isSelected(metric, summary.facts.percentileMetrics)) return [];
  if (item.when === 'positive' && (sample.max ?? 0) <= 0) return [];
  if (sample.count === 0) return item.otherwise ? [textLine(item.otherwise.label, item.otherwise.text)] : [];
  return blockLines({
    title: item.title ?? metric.title,
    label: item.label ?? metric.label,
    unit: item.unit ?? unitSuffixes[metric.unit] ?? '',
    sample,
  });
}
