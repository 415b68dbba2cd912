import type { Environment } from '../flags/environment.ts';
import { parseNumber } from '../flags/flag-value.ts';

const continuityVariable = 'VLLM_OMNI_BENCH_AUDIO_CONTINUITY_THRESHOLD_S';
const defaultContinuityS = 0.1;

/** Whole numbers from 1 that say how bare PCM is read where the server does not; the adapters read them. */
const pcmVariables = {
  VLLM_OMNI_BENCH_AUDIO_SAMPLE_RATE: 24_000,
  VLLM_OMNI_BENCH_AUDIO_CHANNELS: 1,
} as const;

/** Says of each PCM setting that is none. */
export function checkPcmSettings(env: Environment, note: (line: string) => void): void {
  for (const [name, fallback] of Object.entries(pcmVariables)) {
    const raw = env[name];
    if (raw === undefined || raw === '') continue;
    const value = parseNumber(raw);
    if (value === null || !Number.isInteger(value) || value < 1)
      note(`Invalid ${name}=${raw}; using default ${fallback}`);
  }
}

/** Longest gap of playback that counts as continuous, s; a value below 0 is 0. */
export function continuityThresholdS(env: Environment, note: (line: string) => void): number {
  const raw = env[continuityVariable];
  if (raw === undefined || raw === '') return defaultContinuityS;
  const value = parseNumber(raw);
  if (value !== null) return Math.max(0, value);
  note(`Invalid ${continuityVariable}=${raw}; using default ${defaultContinuityS}`);
  return defaultContinuityS;
}
