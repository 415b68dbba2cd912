import type { FinishReason } from '../../protocol/sampling.ts';
import type { LengthLaw } from './sim-laws.ts';
import type { StageRequest } from './stage-engine.ts';
import type { StageTask } from './stage-task.ts';

/** How long a reply becomes, and why it ends there. */
export type PlannedLength = { readonly tokens: number; readonly reason: FinishReason };

/** What the length of a reply depends on, beside the request. */
export type LengthRule = {
  readonly length: LengthLaw;
  /** Most tokens of a request that names none, and of one that goes on for ever. */
  readonly defaultMaxTokens: number;
  /** Tokens after which a reply ends by itself where the request sets no limit. */
  readonly naturalTokens: number;
};

/**
 * Tokens that describe a picture in an image model's language stage: one for every 32 × 32 pixels, after a sketch of
 * about 256 tokens of the same shape where there is no picture to start from, and one that ends it.
 */
function imageTokens(task: StageTask): number {
  if (task.kind !== 'image') return 1;
  const columns = Math.floor((task.widthPx ?? 1024) / 32);
  const rows = Math.floor((task.heightPx ?? 1024) / 32);
  const full = Math.max(1, columns * rows);
  if (task.references.length > 0) return full + 1;
  const ratio = rows / Math.max(1, columns);
  const sketch =
    Math.max(1, Math.floor(16 * Math.sqrt(ratio))) * Math.max(1, Math.floor(16 * Math.sqrt(1 / ratio)));
  return sketch + full + 1;
}

function naturalLength(length: Exclude<LengthLaw, 'fromRequest'>, request: StageRequest): number {
  if (!('per' in length)) return length[request.arrivalIndex % length.length] ?? 1;
  const { task, promptTokens } = request;
  const amount =
    length.per === 'inputToken'
      ? promptTokens
      : length.per === 'imageToken'
        ? imageTokens(task)
        : task.kind === 'transcribe'
          ? task.audioS
          : 0;
  const speed = task.kind === 'speech' ? task.speed : 1;
  return Math.max(length.min, Math.round((amount * length.rate) / speed));
}

/** How long the reply to a request becomes. */
export function planLength(rule: LengthRule, request: StageRequest): PlannedLength {
  const { maxTokens, ignoreEos } = request.params;
  const limit = maxTokens ?? rule.defaultMaxTokens;
  if (rule.length === 'fromRequest') {
    if (maxTokens !== null || ignoreEos) return { tokens: limit, reason: 'length' };
    return { tokens: Math.min(limit, rule.naturalTokens), reason: 'stop' };
  }
  const natural = naturalLength(rule.length, request);
  return natural < limit ? { tokens: natural, reason: 'stop' } : { tokens: limit, reason: 'length' };
}
