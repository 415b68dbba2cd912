import { formatFloat } from '../foundation/python-format.ts';
import type { RunFacts } from '../records/run-facts.ts';

/** `YYYYMMDD-HHMMSS` in local time, as result files are dated. */
export function dateLabelOf(date: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}${two(date.getMonth() + 1)}${two(date.getDate())}`;
  return `${day}-${two(date.getHours())}${two(date.getMinutes())}${two(date.getSeconds())}`;
}

/**
 * The name a result is saved under where none is given: label or backend, rate, concurrency, model, date.
 * @param dateLabel of {@link dateLabelOf}
 */
export function resultFileName(facts: RunFacts, dateLabel: string): string {
  // Backends may be named by a path: its slashes would lead out of the result folder.
  const label = (facts.label || facts.endpoint.name).replace(/^\/+/, '').replaceAll('/', '-');
  const { rampUp, maxConcurrency } = facts;
  const rate = rampUp
    ? `ramp-up-${rampUp.strategy}-${rampUp.startRps}qps-${rampUp.endRps}qps`
    : `${formatFloat(facts.requestRate ?? Number.POSITIVE_INFINITY)}qps`;
  const concurrency = maxConcurrency === null ? '' : `-concurrency${maxConcurrency}`;
  const model = facts.modelId.split('/').findLast((segment) => segment !== '') ?? '';
  return `${label}-${rate}${concurrency}-${model}-${dateLabel}.json`;
}
