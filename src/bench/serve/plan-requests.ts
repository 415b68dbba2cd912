import type { PlannedRequest } from '../../drive/request-table.ts';
import type { Endpoint, PreparedRequest, Target } from '../../endpoints/endpoint.ts';
import { randomStream } from '../../foundation/random.ts';
import type { Sample } from '../../workloads/sample.ts';
import type { BenchServeOptions } from './options.ts';

/** The extra body of a run: the user's, plus the request for stage metrics where a report needs them. */
export function runExtraBody(options: BenchServeOptions): Readonly<Record<string, unknown>> {
  if ('return_stage_metrics' in options.extraBody || !wantsStageMetrics(options)) return options.extraBody;
  return { ...options.extraBody, return_stage_metrics: true };
}

/**
 * Stage metrics are asked for by `--print-stage`, and by omni chat where the token timings of the text stage may have
 * to stand in for the client's, or where images are expected. The names in force count, given or default.
 */
function wantsStageMetrics(options: BenchServeOptions): boolean {
  if (options.printStage) return true;
  if (options.backend !== 'openai-chat-omni' && options.backend !== 'daily-omni') return false;
  const modalities = options.extraBody.modalities;
  const images = Array.isArray(modalities) && modalities.includes('image');
  return images || options.percentileMetrics.includes('tpot') || options.percentileMetrics.includes('itl');
}

/** Where the run's requests go. */
export function runTarget(options: BenchServeOptions, model: string): Target {
  const authorization: [string, string][] = options.apiKey
    ? [['Authorization', `Bearer ${options.apiKey}`]]
    : [];
  return {
    baseUrl: options.baseUrl,
    url: `${options.baseUrl}${options.endpointPath}`,
    model: options.servedModelName ?? model,
    headers: [...authorization, ...options.headers],
    extraBody: runExtraBody(options),
    ignoreEos: options.ignoreEos,
    logprobs: options.logprobs,
    stream: options.stream,
  };
}

/** Serialises every request before the clock starts, with its LoRA adapter where any are given. */
export function planRequests(
  endpoint: Endpoint,
  target: Target,
  samples: readonly Sample[],
  options: BenchServeOptions,
): PlannedRequest[] {
  const random = randomStream(options.seed, 'lora');
  const modules = options.loraModules;
  return samples.map((sample, index) => {
    const chosen =
      options.loraAssignment === 'random' ? random.integer(0, modules.length - 1) : index % modules.length;
    const model = modules[chosen] ?? target.model;
    return plannedRequest(endpoint.prepare(sample, { ...target, model }), sample);
  });
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
