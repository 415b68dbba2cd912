import { type PackedRequests, packRequests } from '../../drive/request-table.ts';
import type { Endpoint, Target } from '../../endpoints/endpoint.ts';
import { UsageError } from '../../foundation/errors.ts';
import type { Tokenizer } from '../../tokens/tokenizer.ts';
import type { Sample } from '../../workloads/sample.ts';
import { loadSamples } from './load-samples.ts';
import type { BenchServeOptions, CommandIo } from './options.ts';
import { plannedRequest, planRequests } from './plan-requests.ts';

type Run = {
  readonly endpoint: Endpoint;
  readonly target: Target;
  readonly samples: readonly Sample[];
  readonly tokenizer: Tokenizer | null;
  readonly io: CommandIo;
};

/**
 * Copies of the first request, as the reference sends them, or prompts that the run does not use.
 * @throws UsageError when the dataset holds no other prompt
 */
export async function planWarmups(options: BenchServeOptions, run: Run): Promise<PackedRequests> {
  const first = run.samples[0];
  const count = options.numWarmups;
  if (count <= 0 || !first) return packRequests([]);
  if (options.warmupPrompts === 'own') {
    const others = await otherSamples(options, run);
    const samples = Array.from({ length: count }, (_, index) =>
      anonymous(others[index % others.length] ?? first),
    );
    // What the endpoint has to say is said of the run's own requests.
    return await planRequests({ ...run, samples, note: () => {} }, options);
  }
  const sample = anonymous(first);
  const planned = plannedRequest(run.endpoint.prepare(sample, run.target), sample);
  return packRequests(Array.from({ length: count }, () => planned));
}

function anonymous(sample: Sample): Sample {
  return { ...sample, requestId: null };
}

/** Prompts of another seed. A file's may be those of the run: then so many more are drawn that others are among them. */
async function otherSamples(options: BenchServeOptions, run: Run): Promise<Sample[]> {
  const used = new Set(run.samples.map(({ prompt }) => String(prompt)));
  let others: Sample[] = [];
  for (const numPrompts of [options.numWarmups, options.numWarmups + run.samples.length]) {
    const own = { ...options, numPrompts, seed: options.seed + 0x5eed, requestIdPrefix: 'warmup-' };
    const samples = await loadSamples(own, run);
    others = samples.filter(({ prompt }) => !used.has(String(prompt)));
    if (others.length >= options.numWarmups) return others;
  }
  if (others.length > 0) return others;
  throw new UsageError(
    `--warmup-prompts own: the dataset ${options.dataset.name} holds no prompt beside the run's. Lower --num-prompts, or leave --warmup-prompts out to repeat the first prompt.`,
  );
}
