import type { ResponseFacts, StageSnapshot } from '../records/request-record.ts';
import {
  asArray,
  asObject,
  believableFields,
  isBelievable,
  type JsonObject,
  positiveNumber,
} from './json-values.ts';

/** No pipeline has more stages; a reply that names more is not to fill the report. */
const mostStages = 64;

/** Gathers what a reply says about itself beside its content: id, usage, stages, durations, memory. */
export class ReplyFacts {
  id: string | null = null;
  finishReason: string | null = null;
  usage: JsonObject | null = null;
  readonly stages: Record<string, StageSnapshot> = {};
  stageDurations: Readonly<Record<string, number>> = {};
  peakMemoryMb: number | null = null;
  #stageCount = 0;

  /** Reads one message; content is the adapter's. Called for every chunk, so it looks before it searches. */
  read(message: JsonObject): void {
    if (this.id === null && typeof message.id === 'string') this.id = message.id;
    const usage = asObject(message.usage);
    if (usage) this.usage = usage;
    if (!mayHoldDetails(message)) return;
    const metrics = asObject(message.metrics);
    if (metrics) this.#readStages(metrics);
    this.#readPeakMemory(message, metrics, usage);
    const durations = stageDurationsOf(message, metrics);
    if (durations) this.stageDurations = durations;
  }

  #readStages(metrics: JsonObject): void {
    const stages = asObject(metrics.stage_metrics);
    if (!stages) return;
    for (const [stage, snapshot] of Object.entries(stages)) {
      const fields = asObject(snapshot);
      if (!fields || (this.#stageCount >= mostStages && !Object.hasOwn(this.stages, stage))) continue;
      if (!Object.hasOwn(this.stages, stage)) this.#stageCount += 1;
      this.stages[stage] = { ...this.stages[stage], ...believableFields(fields) };
    }
  }

  #readPeakMemory(message: JsonObject, metrics: JsonObject | null, usage: JsonObject | null): void {
    const seen = [message, metrics, usage, ...asArray(message.data), ...contentItems(message)];
    for (const place of seen) {
      const found = positiveNumber(asObject(place)?.peak_memory_mb);
      if (found !== null) this.peakMemoryMb = Math.max(this.peakMemoryMb ?? 0, found);
    }
  }

  build(): ResponseFacts {
    return {
      id: this.id,
      finishReason: this.finishReason,
      usage: this.usage,
      stages: this.stages,
      stageDurations: this.stageDurations,
      peakMemoryMb: this.peakMemoryMb,
    };
  }
}

/** Whether anything beside id, usage and plain text content can be in the message. */
function mayHoldDetails(message: JsonObject): boolean {
  if (typeof message.metrics === 'object' && message.metrics !== null) return true;
  if (
    message.data !== undefined ||
    message.peak_memory_mb !== undefined ||
    message.stage_durations !== undefined
  )
    return true;
  if (asObject(message.usage)?.peak_memory_mb !== undefined) return true;
  return contentItems(message).length > 0;
}

const noItems: readonly unknown[] = [];

/** Structured content parts of all choices; text contents have none. */
function contentItems(message: JsonObject): readonly unknown[] {
  let items: unknown[] | null = null;
  for (const choice of asArray(message.choices)) {
    const holder = asObject(choice);
    const content = asObject(holder?.delta)?.content ?? asObject(holder?.message)?.content;
    if (typeof content !== 'object' || content === null) continue;
    items ??= [];
    if (Array.isArray(content)) items.push(...content);
    else items.push(content);
  }
  return items ?? noItems;
}

/** The first non-empty map of durations that the message holds; entries that are no finite number are left out. */
function stageDurationsOf(message: JsonObject, metrics: JsonObject | null): Record<string, number> | null {
  for (const place of [message, metrics, ...asArray(message.data), ...contentItems(message)]) {
    const durations = finiteNumbers(asObject(place)?.stage_durations);
    if (durations) return durations;
  }
  return null;
}

function finiteNumbers(value: unknown): Record<string, number> | null {
  const entries = Object.entries(asObject(value) ?? {}).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number' && isBelievable(entry[1]),
  );
  return entries.length > 0 ? Object.fromEntries(entries) : null;
}

/** Largest `…_gen_ms` of a durations map, ms. */
export function generationMsOf(durations: unknown): number | null {
  let largest: number | null = null;
  for (const [key, value] of Object.entries(finiteNumbers(durations) ?? {})) {
    if (key.endsWith('_gen_ms')) largest = Math.max(largest ?? 0, value);
  }
  return largest;
}

/** What a server says went wrong inside a reply with a good status, or `null`. */
export function streamedError(message: JsonObject): string | null {
  // Older servers send the error itself as the message.
  const error = message.error ?? (message.object === 'error' ? message : null);
  if (error === null) return null;
  const text = asObject(error)?.message;
  return typeof text === 'string' && text !== ''
    ? text
    : typeof error === 'string'
      ? error
      : JSON.stringify(error);
}
