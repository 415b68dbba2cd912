import type { Endpoint, Target } from '../../endpoints/endpoint.ts';
import { UsageError } from '../../foundation/errors.ts';
import type { Tokenizer } from '../../tokens/tokenizer.ts';
import type { Dataset } from '../../workloads/dataset.ts';
import { type DatasetName, datasets } from '../../workloads/datasets.ts';
import type { Sample } from '../../workloads/sample.ts';
import type { BenchServeOptions, CommandIo } from './options.ts';
import type { RunCompanion } from './run-companion.ts';

/** A dataset that takes longer than this shows its progress, ms. */
const quietMs = 2000;

/** @throws UsageError, InputFileError as the dataset does, and when it gave no request at all */
export async function loadSamples(
  options: BenchServeOptions,
  run: {
    readonly tokenizer: Tokenizer | null;
    readonly endpoint: Endpoint;
    readonly target: Target;
    readonly io: CommandIo;
    /** Knows what an earlier run has done; absent = that does not matter. */
    readonly companion?: RunCompanion | null;
  },
): Promise<readonly Sample[]> {
  const name = options.dataset.name;
  const dataset: Dataset | undefined = Object.hasOwn(datasets, name)
    ? datasets[name as DatasetName]
    : undefined;
  if (!dataset) throw new UsageError(`Unknown dataset: ${name}`);
  let shownAt = Date.now();
  const samples = await dataset.load({
    options: options.dataset,
    numPrompts: options.numPrompts,
    seed: options.seed,
    requestIdPrefix: options.requestIdPrefix,
    tokenizer: run.tokenizer,
    chatEndpoint: run.endpoint.prompts === 'messages',
    plainPrompts: run.endpoint.prompts === 'plain',
    isFinished: (caseKey) => run.companion?.isFinished(caseKey) === true,
    tryOut: (sample) => void run.endpoint.prepare(sample, run.target),
    note: (line) => run.io.stderr(`note: ${line}`),
    progress: (done, total) => {
      if (options.disableProgress || Date.now() - shownAt < quietMs) return;
      shownAt = Date.now();
      run.io.stderr(`Preparing prompts: ${done}/${total}`);
    },
  });
  if (samples.length === 0)
    throw new UsageError(
      `the dataset ${options.dataset.name} gave no request. Give --num-prompts a number above 0, and check the dataset's length filters.`,
    );
  return samples;
}
