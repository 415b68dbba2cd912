import { realpathSync, statSync } from 'node:fs';
import { messageOf, UsageError } from '../foundation/errors.ts';
import { type ApiLimits, apiLimits } from './api/api-limits.ts';
import { type FaultPlan, faultPlan } from './faults/fault-plan.ts';
import { parseFault } from './faults/fault-script.ts';
import type { ServeOptions } from './serve-options.ts';

/** Largest body limit that can be set: a longer text cannot be held. */
const mostBodyBytes = 512 * 1024 * 1024;

/**
 * The folder of `--allowed-local-media-path`, with symbolic links resolved; `null` = none.
 * @throws UsageError where there is no such folder
 */
export function localMediaRoot(path: string | null): string | null {
  if (path === null) return null;
  try {
    const root = realpathSync(path);
    if (statSync(root).isDirectory()) return root;
  } catch (error) {
    throw new UsageError(
      `--allowed-local-media-path ${path}: ${messageOf(error)}. Name a folder that exists.`,
    );
  }
  throw new UsageError(`--allowed-local-media-path ${path}: not a folder.`);
}

/** @throws UsageError */
export function limitsOf({ maxBodyMb }: Pick<ServeOptions, 'maxBodyMb'>): ApiLimits {
  if (maxBodyMb === null) return apiLimits;
  const bodyBytes = Math.round(maxBodyMb * 1024 * 1024);
  if (!(bodyBytes >= 1 && bodyBytes <= mostBodyBytes))
    throw new UsageError(`--max-body-mb must be above 0 and at most 512, got ${maxBodyMb}.`);
  return { ...apiLimits, bodyBytes, mediaBytes: Math.min(apiLimits.mediaBytes, bodyBytes) };
}

/** @throws UsageError for a fault that cannot be read */
export function faultsOf({ faults, seed }: Pick<ServeOptions, 'faults' | 'seed'>): FaultPlan {
  return faultPlan(faults.map(parseFault), seed);
}
