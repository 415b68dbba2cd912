import type { Environment } from '../flags/environment.ts';
import { parseNumber } from '../flags/flag-value.ts';

const continuityVariable = 'VLLM_OMNI_BENCH_AUDIO_CONTINUITY_THRESHOLD_S';
const defaultContinuityS = 0.1;

/** Longest gap of playback that counts as continuous, s; a value below 0 is 0. */
export function continuityThresholdS(env: Environment, note: (line: string) => void): number {
  const raw = env[continuityVariable];
  if (raw === undefined || raw === '') return defaultContinuityS;
  const value = parseNumber(raw);
  if (value !== null) return Math.max(0, value);
  note(`Invalid ${continuityVariable}=${raw}; using default ${defaultContinuityS}`);
  return defaultContinuityS;
}
