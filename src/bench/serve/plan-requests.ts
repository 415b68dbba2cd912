import { setImmediate } from 'node:timers/promises';
import { type PackedRequests, type PlannedRequest, RequestPacker } from '../../drive/request-table.ts';
import type { Endpoint, PreparedRequest, Target } from '../../endpoints/endpoint.ts';
import { UsageError } from '../../foundation/errors.ts';
import { randomStream } from '../../foundation/random.ts';
import { headerProblem } from '../../transport/request-headers.ts';
import type { Sample } from '../../workloads/sample.ts';
import type { BenchServeOptions } from './options.ts';

/** The extra body of a run: the user's, plus the request for stage metrics where a report needs them. */
function runExtraBody(options: BenchServeOptions, endpoint: Endpoint): Readonly<Record<string, unknown>> {
  const wanted = options.printStage || endpoint.wantsStageMetrics?.(options) === true;
  if ('return_stage_metrics' in options.extraBody || !wanted) return options.extraBody;
  return { ...options.extraBody, return_stage_metrics: true };
}

/**
 * Where the run's requests go.
 * @throws UsageError for a header that can't be sent
 */
export function runTarget(options: BenchServeOptions, endpoint: Endpoint, model: string): Target {
  const authorization: [string, string][] = options.apiKey
    ? [['Authorization', `Bearer ${options.apiKey}`]]
    : [];
  for (const [name, value] of options.headers) {
    const problem = headerProblem(name, value);
    if (problem !== null) throw new UsageError(`--header ${name}: ${problem}.`);
  }
  return {
    baseUrl: options.baseUrl,
    url: `${options.baseUrl}${options.endpointPath}`,
    model: options.servedModelName ?? model,
    headers: [...authorization, ...options.headers],
    extraBody: runExtraBody(options, endpoint),
    ignoreEos: options.ignoreEos,
    logprobs: options.logprobs,
    stream: options.stream,
    videoDownload: options.videoDownload,
  };
}

/** How long the thread may be held before timers and signals get their turn, ms. */
const sliceMs = 20;

/**
 * Serialises every request before the clock starts, with its LoRA adapter where any are given.
 * @param run.note takes what the endpoint has to say of the requests, each line once
 */
export async function planRequests(
  run: {
    readonly endpoint: Endpoint;
    readonly target: Target;
    readonly samples: Iterable<Sample>;
    readonly note: (line: string) => void;
  },
  options: BenchServeOptions,
): Promise<PackedRequests> {
  const random = randomStream(options.seed, 'lora');
  const modules = options.loraModules;
  const packer = new RequestPacker();
  const said = new Set<string>();
  let index = 0;
  let sliceEnd = performance.now() + sliceMs;
  for (const sample of run.samples) {
    const chosen =
      options.loraAssignment === 'random' ? random.integer(0, modules.length - 1) : index % modules.length;
    const model = modules[chosen] ?? run.target.model;
    const planned = plannedRequest(run.endpoint.prepare(sample, { ...run.target, model }), sample);
    for (const line of planned.prepared.notes ?? []) said.add(line);
    packer.add(planned);
    index += 1;
    if (performance.now() < sliceEnd) continue;
    await setImmediate();
    sliceEnd = performance.now() + sliceMs;
  }
  for (const line of said) run.note(line);
  return packer.pack();
}

export function plannedRequest(prepared: PreparedRequest, sample: Sample): PlannedRequest {
  return {
    prepared,
    facts: {
      requestId: sample.requestId,
      plannedPromptTokens: sample.promptTokens,
      expectedOutputTokens: sample.expectedOutputTokens,
      inputAudioDurationS: sample.inputAudioDurationS ?? null,
    },
  };
}
