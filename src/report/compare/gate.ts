import { UsageError } from '../../foundation/errors.ts';
import { formatGeneral } from '../../foundation/python-format.ts';
import { isCatalogueKey, nearestKey } from './compare-key.ts';

const operators = ['<=', '>=', '==', '<', '>'] as const;
type Operator = (typeof operators)[number];

/** A condition on one key, as a flag states it. */
export type Gate = {
  /** `threshold`: what must hold of a value. `fail-on`: what must not hold of a change against the baseline. */
  readonly kind: 'threshold' | 'fail-on';
  /** As written. */
  readonly text: string;
  readonly key: string;
  readonly operator: Operator;
  readonly limit: number;
  /** The limit is a ratio of the baseline (written with `%`); of `fail-on` only. */
  readonly relative: boolean;
};

/** How a gate came out. */
export type GateResult = {
  readonly gate: Gate;
  readonly passed: boolean;
  /** The value or change that was judged; `null` = not observed. */
  readonly observed: number | null;
  /** A sentence for people. */
  readonly detail: string;
};

const pattern =
  /^\s*([A-Za-z][\w.-]*)\s*(<=|>=|==|<|>)\s*([+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)\s*(%?)\s*$/i;

/**
 * Reads `p99_ttft_ms<500` (threshold) or `p99_ttft_ms>+5%` (fail-on: a change against the baseline, relative with %,
 * else in the metric's unit).
 * @throws UsageError for anything else
 */
export function parseGate(kind: Gate['kind'], text: string): Gate {
  const found = pattern.exec(text);
  const [, key = '', operatorText = '', limitText = '', percent = ''] = found ?? [];
  const operator = operators.find((each) => each === operatorText);
  if (!found || operator === undefined) throw badGate(kind, text, 'it is not KEY, an operator and a number');
  if (kind === 'threshold' && percent !== '')
    throw badGate(kind, text, 'a threshold is a value, not a change; --fail-on of compare takes changes');
  const relative = percent !== '';
  const limit = Number(limitText) / (relative ? 100 : 1);
  return { kind, text: text.trim(), key: key.replaceAll('-', '_'), operator, limit, relative };
}

function badGate(kind: Gate['kind'], text: string, why: string): UsageError {
  const example = kind === 'threshold' ? "'p99_ttft_ms<500'" : "'p99_ttft_ms>+5%'";
  return new UsageError(
    `--${kind}: '${text}' cannot be judged: ${why}. Write it like ${example}; operators: < <= > >= ==.`,
  );
}

/**
 * @param observed keys that the compared results hold beside those of the catalogue
 * @throws UsageError for a key that no result can have, naming the nearest
 */
export function checkGateKey(gate: Gate, observed: ReadonlySet<string>): void {
  if (isCatalogueKey(gate.key) || observed.has(gate.key)) return;
  const nearest = nearestKey(gate.key, observed);
  const slip = nearest === null ? '' : ` Did you mean ${nearest}?`;
  throw new UsageError(
    `--${gate.kind}: '${gate.text}': unknown key '${gate.key}'.${slip} Keys are those of the result JSON, such as mean_ttft_ms, p99_e2el_ms, request_throughput.`,
  );
}

function holds(value: number, { operator, limit }: Gate): boolean {
  switch (operator) {
    case '<':
      return value < limit;
    case '<=':
      return value <= limit;
    case '>':
      return value > limit;
    case '>=':
      return value >= limit;
    case '==':
      return value === limit;
  }
}

/** @param value `null` = not observed, which never passes */
export function judgeThreshold(gate: Gate, value: number | null): GateResult {
  if (value === null || Number.isNaN(value))
    return { gate, passed: false, observed: null, detail: `${gate.key} was not observed` };
  return {
    gate,
    passed: holds(value, gate),
    observed: value,
    detail: `${gate.key} = ${formatGeneral(value)}`,
  };
}

/**
 * @param baseline `null` = not observed, which never passes
 * @param excused the change is no more than scatter, and the user lets that pass
 */
export function judgeChange(
  gate: Gate,
  baseline: number | null,
  candidate: number | null,
  excused = false,
): GateResult {
  if (baseline === null || candidate === null) {
    const side = baseline === null ? 'the baseline' : 'the candidate';
    return { gate, passed: false, observed: null, detail: `${gate.key} was not observed in ${side}` };
  }
  const change = candidate - baseline;
  const observed = gate.relative ? relativeChange(baseline, change) : change;
  const broken = holds(observed, gate);
  const shown = gate.relative ? `${signed(observed * 100)} %` : signed(observed);
  const why = broken && excused ? ', no more than scatter' : '';
  return {
    gate,
    passed: !broken || excused,
    observed: Number.isFinite(observed) ? observed : null,
    detail: `${gate.key} changed by ${shown} (${formatGeneral(baseline)} to ${formatGeneral(candidate)})${why}`,
  };
}

function relativeChange(baseline: number, change: number): number {
  if (change === 0) return 0;
  return baseline === 0 ? change * Number.POSITIVE_INFINITY : change / Math.abs(baseline);
}

function signed(value: number): string {
  return `${value > 0 ? '+' : ''}${formatGeneral(value, 4)}`;
}
