import type { StageSnapshot } from '../records/request-record.ts';
import { asObject, type JsonObject, positiveInteger } from './json-values.ts';

/**
 * The output length that a reply reports of itself. Usage, metrics and the text stage never lower the count; where
 * several speak, the largest holds. Other stages count codec frames and the like: they stand in only where nothing
 * else spoke.
 */
export class OutputTotal {
  readonly #stageTokens: boolean;
  #usage: number | null = null;
  #metrics: number | null = null;

  /** @param stageTokens take totals from `metrics` too, as omni servers report them */
  constructor(stageTokens: boolean) {
    this.#stageTokens = stageTokens;
  }

  read(message: JsonObject): void {
    const usage = positiveInteger((message.usage as JsonObject | null | undefined)?.completion_tokens);
    if (usage !== null) this.#usage = Math.max(this.#usage ?? 0, usage);
    const metrics = this.#stageTokens ? asObject(message.metrics) : null;
    const type = metrics?.final_output_type;
    if (metrics && (type === 'text' || type === undefined || type === null)) {
      this.#metrics = larger(this.#metrics, positiveInteger(metrics.num_tokens_out));
    }
  }

  of(stages: Readonly<Record<string, StageSnapshot>>): {
    tokens: number | null;
    source: 'usage' | 'stage' | null;
  } {
    const usage = this.#usage;
    const byStage = this.#stageTokens ? stageTokens(stages) : { text: null, other: null };
    const stage = larger(this.#metrics, byStage.text) ?? (usage === null ? byStage.other : null);
    if (stage !== null && stage > (usage ?? 0)) return { tokens: stage, source: 'stage' };
    return { tokens: usage, source: usage === null ? null : 'usage' };
  }
}

function larger(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.max(a, b);
}

/** Output tokens by the stage snapshots: the first text stage's, and the largest of the others. Never a sum. */
function stageTokens(stages: Readonly<Record<string, StageSnapshot>>): {
  text: number | null;
  other: number | null;
} {
  let text: number | null = null;
  let other: number | null = null;
  for (const stage of Object.values(stages)) {
    const tokens = positiveInteger(stage.num_tokens_out);
    if (stage.final_output_type === 'text' || stage.output_unit_type === 'token') text ??= tokens;
    else other = larger(other, tokens);
  }
  return { text, other };
}
