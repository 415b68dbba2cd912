import { realpathSync, statSync } from 'node:fs';
import { messageOf, UsageError } from '../foundation/errors.ts';
import { type ApiLimits, apiLimits } from './api/api-limits.ts';
import { type FaultPlan, faultPlan } from './faults/fault-plan.ts';
import { parseFault } from './faults/fault-script.ts';
import type { PipelineDefinition } from './pipeline/pipeline-definition.ts';
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

/** @throws UsageError for what is no host, such as a URL */
function mediaHostsOf(domains: readonly string[]): string[] {
  for (const domain of domains)
    if (!URL.canParse(`http://${domain}/`) || new URL(`http://${domain}/`).hostname !== domain.toLowerCase())
      throw new UsageError(
        `--allowed-media-domains ${domain}: not the name of a host. Expected e.g. upload.wikimedia.org, without ` +
          'https:// and path.',
      );
  return domains.map((domain) => domain.toLowerCase());
}

/** @throws UsageError */
export function limitsOf({
  maxBodyMb,
  allowedMediaDomains,
}: Pick<ServeOptions, 'maxBodyMb' | 'allowedMediaDomains'>): ApiLimits {
  const mediaHosts = allowedMediaDomains === null ? null : mediaHostsOf(allowedMediaDomains);
  if (maxBodyMb === null) return { ...apiLimits, mediaHosts };
  const bodyBytes = Math.round(maxBodyMb * 1024 * 1024);
  if (!(bodyBytes >= 1 && bodyBytes <= mostBodyBytes))
    throw new UsageError(`--max-body-mb must be above 0 and at most 512, got ${maxBodyMb}.`);
  const mediaBytes = Math.min(apiLimits.mediaBytes, bodyBytes);
  return { ...apiLimits, bodyBytes, mediaBytes, mediaHosts };
}

/** @throws UsageError for a fault that cannot be read, or of a stage that there is not */
export function faultsOf(
  { faults, seed }: Pick<ServeOptions, 'faults' | 'seed'>,
  { name, stages }: PipelineDefinition,
): FaultPlan {
  const script = faults.map(parseFault);
  for (const [index, { fault }] of script.entries())
    if ('stageId' in fault && !stages.some(({ stageId }) => stageId === fault.stageId))
      throw new UsageError(
        `--fault ${faults[index]}: ${name} has no stage ${fault.stageId}; its stages are ` +
          `${stages.map((stage) => `${stage.stageId} (${stage.name})`).join(', ')}.`,
      );
  return faultPlan(script, seed);
}
