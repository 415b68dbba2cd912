import { UsageError } from '../../foundation/errors.ts';
import { nearestName } from '../../foundation/nearest-name.ts';
import { goodputKeys } from '../../metrics/goodput.ts';
import { percentileMetricNames } from '../../metrics/percentile-metrics.ts';
import { checkGateKey, type Gate, parseGate } from '../../report/compare/gate.ts';
import type { Pairs } from '../flags/flag.ts';
import { parseNumber } from '../flags/flag-value.ts';

/** @throws UsageError that lists the allowed names and names the nearest */
export function percentileMetrics(names: readonly string[]): string[] {
  for (const name of names) {
    if (percentileMetricNames.includes(name)) continue;
    const nearest = nearestName(name, percentileMetricNames);
    const slip = nearest === null ? '' : ` Did you mean ${nearest}?`;
    throw new UsageError(
      `--percentile-metrics: unknown metric '${name}'.${slip}\nAllowed: ${percentileMetricNames.join(', ')}`,
    );
  }
  return [...new Set(names)];
}

/** @throws UsageError unless numbers from 0 to 100 */
export function metricPercentiles(texts: readonly string[]): number[] {
  const values = texts.map((text) => {
    const value = parseNumber(text);
    if (value !== null && value >= 0 && value <= 100) return value;
    throw new UsageError(`--metric-percentiles: '${text}' is no percentile. Expected numbers from 0 to 100.`);
  });
  return [...new Set(values)];
}

const goodputNames = goodputKeys.map(({ name }) => name);

/** @throws UsageError with the reference's wording */
export function goodput(pairs: Pairs): Record<string, number> {
  const limits: Record<string, number> = {};
  for (const [key, text] of pairs) {
    if (!goodputNames.includes(key)) {
      const nearest = nearestName(key, goodputNames);
      const slip = nearest === null ? '' : ` Did you mean ${nearest}?`;
      const allowed = goodputNames.map((one) => `'${one}'`).join(', ');
      throw new UsageError(
        `Invalid metric name found, ${key}: ${text}. The service level objective name should be one of [${allowed}].${slip}`,
      );
    }
    const value = parseNumber(text);
    if (value === null)
      throw new UsageError(
        `--goodput: '${key}:${text}'. Invalid format found for service level objectives. Specify service level objectives for goodput as "KEY:VALUE" pairs, where the key is a metric name, and the value is a number in milliseconds.`,
      );
    if (value < 0)
      throw new UsageError(
        `Invalid value found, ${key}: ${text}. The service level objective value should be non-negative.`,
      );
    if (Object.hasOwn(limits, key) && limits[key] !== value)
      throw new UsageError(
        `--goodput: ${key} is given twice, as ${limits[key]} and as ${value}. Leave one of them out.`,
      );
    limits[key] = value;
  }
  return limits;
}

/** The last value of each key. */
export function metadata(pairs: Pairs): Record<string, string> {
  return Object.fromEntries(pairs);
}

/** @throws UsageError unless the thresholds of the timeline are two numbers above 0, ascending */
export function plots(flags: {
  readonly 'plot-timeline': boolean;
  readonly 'timeline-itl-thresholds': readonly string[];
  readonly 'plot-dataset-stats': boolean;
}): { readonly plotTimeline: readonly [number, number] | null; readonly plotDatasetStats: boolean } {
  const texts = flags['timeline-itl-thresholds'];
  const [low, high, ...more] = texts.map(parseNumber);
  if (low === undefined || high === undefined || more.length > 0 || !isAscending(low, high))
    throw new UsageError(
      `--timeline-itl-thresholds: '${texts.join(',')}'. Expected two numbers of ms, the smaller first, e.g. 25,50.`,
    );
  const [first, second] = [Number(low), Number(high)];
  return {
    plotTimeline: flags['plot-timeline'] ? [first, second] : null,
    plotDatasetStats: flags['plot-dataset-stats'],
  };
}

function isAscending(low: number | null, high: number | null): boolean {
  return low !== null && high !== null && low > 0 && high > low && Number.isFinite(high);
}

/** @throws UsageError for what is no condition, and for a key that no result has */
export function thresholds(texts: readonly string[]): Gate[] {
  return texts.map((text) => {
    const gate = parseGate('threshold', text);
    checkGateKey(gate, new Set());
    return gate;
  });
}
