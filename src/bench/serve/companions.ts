import type { BenchServeOptions, CommandIo } from './options.ts';
import type { RunCompanion } from './run-companion.ts';

/**
 * What the dataset does beside the run.
 * @param tools.stopped whether the user has left
 * @returns `null` for datasets that only make requests
 * @throws UsageError where it can't be done
 */
export async function openCompanion(
  options: BenchServeOptions,
  tools: { readonly io: CommandIo; readonly stopped: () => boolean },
): Promise<RunCompanion | null> {
  if (options.omniinteract === null) return null;
  // Lazy: other datasets write no artifacts.
  const { OmniInteractRun } = await import('../omniinteract/omniinteract-run.ts');
  return await OmniInteractRun.open(options.omniinteract, options, tools);
}
