import type { BenchServeOptions } from '../../bench/serve/options.ts';
import { UsageError } from '../../foundation/errors.ts';

type RampFlags = {
  readonly 'request-rate': number;
  readonly 'ramp-up-strategy': 'linear' | 'exponential' | null;
  readonly 'ramp-up-start-rps': number | null;
  readonly 'ramp-up-end-rps': number | null;
};

/** @throws UsageError with the reference's wording where a ramp and its bounds contradict each other */
export function rampUp(flags: RampFlags): BenchServeOptions['rampUp'] {
  const strategy = flags['ramp-up-strategy'];
  const startRps = flags['ramp-up-start-rps'];
  const endRps = flags['ramp-up-end-rps'];
  if (strategy === null) {
    if (startRps === null && endRps === null) return null;
    throw new UsageError(
      '--ramp-up-start-rps and --ramp-up-end-rps need --ramp-up-strategy linear or exponential.',
    );
  }
  if (Number.isFinite(flags['request-rate']))
    throw new UsageError(
      'When using ramp-up, do not specify --request-rate. The request rate will be controlled by ramp-up parameters. Please remove the --request-rate argument.',
    );
  if (startRps === null || endRps === null)
    throw new UsageError(
      'When using --ramp-up-strategy, both --ramp-up-start-rps and --ramp-up-end-rps must be specified',
    );
  if (startRps < 0 || endRps < 0) throw new UsageError('Ramp-up start and end RPS must be non-negative');
  if (startRps > endRps) throw new UsageError('Ramp-up start RPS must be less than end RPS');
  if (!Number.isFinite(endRps)) throw new UsageError('Ramp-up start and end RPS must be finite.');
  if (startRps === 0) throw new UsageError(zeroStart[strategy]);
  return { strategy, startRps, endRps };
}

const zeroStart = {
  exponential: 'For exponential ramp-up, the start RPS cannot be 0.',
  linear: 'For linear ramp-up, the start RPS cannot be 0: the first request would never be due.',
};

/** @throws UsageError unless above 0 */
export function positiveRate(rate: number): number {
  if (rate > 0) return rate;
  throw new UsageError(`--request-rate must be above 0, got ${rate}. inf sends all requests at once.`);
}

/** @throws UsageError with the reference's wording unless above 0 */
export function positiveBurstiness(burstiness: number): number {
  if (burstiness > 0) return burstiness;
  throw new UsageError(`A positive burstiness factor is expected, but given ${burstiness}.`);
}

/** @throws UsageError unless above 0, where it is given */
export function maxConcurrency(given: number | null): number | null {
  if (given === null || given > 0) return given;
  throw new UsageError(`--max-concurrency: ${given} is too small. Expected at least 1.`);
}

/** @throws UsageError unless a whole number above 0, or `auto` */
export function loadThreads(text: string): number | 'auto' {
  if (text === 'auto') return 'auto';
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new UsageError(`--load-threads: '${text}' is neither a number of threads nor auto.`);
}

/** The reference's six hours: what 0, a negative number and inf stand for. */
const longestTimeoutS = 21_600;

/** Whole-request limit, s. */
export function requestTimeoutS(given: number | null, omni: boolean): number {
  if (given === null) return omni ? 900 : longestTimeoutS;
  return given > 0 && Number.isFinite(given) ? given : longestTimeoutS;
}
