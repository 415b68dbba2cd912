import type { Random } from '../../foundation/random.ts';
import type { FinishReason } from '../../protocol/sampling.ts';
import type { Scheduler } from './scheduler.ts';
import { type AutoregressiveLaws, drawFirstOutputFactor, drawStepFactor, slopeFactor } from './sim-laws.ts';
import { simulatedToken, singleTokenWords } from './sim-text.ts';
import type { StageChunk, StageListener, StageRequest, StageSequence } from './stage-engine.ts';
import { StopFilter } from './stop-filter.ts';
import type { ScheduledTask } from './task-heap.ts';

export type SimAutoregressiveOptions = {
  /** Durations as they shall pass on the scheduler's clock. */
  readonly laws: AutoregressiveLaws;
  readonly maxNumSeqs: number;
  /** Most tokens of a request that names none, and of one that goes on for ever. */
  readonly defaultMaxTokens: number;
  /** Tokens after which a reply ends by itself where the request sets no limit. */
  readonly naturalTokens: number;
  /** Emits text, not bare tokens. */
  readonly emitsText: boolean;
  readonly seed: number;
  /** Separates the random streams of the stages. */
  readonly stageName: string;
  readonly scheduler: Scheduler;
};

/** What a sequence asks of its engine. */
export type SimStage = {
  readonly options: SimAutoregressiveOptions;
  runningCount(): number;
  /** The sequence has its input; `originMs` is when. */
  enter(sequence: SimAutoregressiveSequence, originMs: number): void;
  leave(sequence: SimAutoregressiveSequence): void;
};

/** How long a reply becomes, and why it ends there. */
type PlannedLength = { readonly tokens: number; readonly reason: FinishReason };

function planLength(options: SimAutoregressiveOptions, request: StageRequest): PlannedLength {
  const { maxTokens, ignoreEos } = request.params;
  const limit = maxTokens ?? options.defaultMaxTokens;
  const { length } = options.laws;
  if (length === 'fromRequest') {
    if (maxTokens !== null || ignoreEos) return { tokens: limit, reason: 'length' };
    return { tokens: Math.min(limit, options.naturalTokens), reason: 'stop' };
  }
  const natural = length[request.arrivalIndex % length.length] ?? 1;
  return natural < limit ? { tokens: natural, reason: 'stop' } : { tokens: limit, reason: 'length' };
}

/**
 * One request in a simulated autoregressive stage, which is its own task in the scheduler. Every due time follows
 * from the one before it, not from when that came to run, so that lateness never adds up.
 */
export class SimAutoregressiveSequence implements StageSequence, ScheduledTask {
  dueMs = 0;
  heapSlot = -1;
  readonly #stage: SimStage;
  readonly #request: StageRequest;
  readonly #listener: StageListener;
  readonly #random: Random;
  readonly #planned: PlannedLength;
  readonly #textStart: number;
  readonly #stopFilter: StopFilter | null;
  #emitted = 0;
  #entered = false;
  #ended = false;
  #upstreamStepMs = 0;
  #upstreamFinished: boolean;

  constructor(stage: SimStage, request: StageRequest, listener: StageListener, random: Random) {
    this.#stage = stage;
    this.#request = request;
    this.#listener = listener;
    this.#random = random;
    this.#planned = planLength(stage.options, request);
    this.#textStart = random.integer(0, singleTokenWords.length - 1);
    const { stop } = request.params;
    this.#stopFilter = stage.options.emitsText && stop.length > 0 ? new StopFilter(stop) : null;
    this.#upstreamFinished = !request.hasUpstream;
  }

  feed(chunk: StageChunk): void {
    if (this.#ended) return;
    this.#upstreamStepMs = chunk.producerStepMs;
    this.#upstreamFinished = chunk.final;
    if (this.#entered) return;
    this.#entered = true;
    this.#stage.enter(this, chunk.readyMs);
  }

  /** Called by the engine once there is a seat. */
  start(originMs: number): void {
    this.#entered = true;
    const { laws, scheduler } = this.#stage.options;
    const { ttft, batchSlope } = laws;
    const meanMs =
      (ttft.baseMs + ttft.perInputTokenMs * this.#request.promptTokens) *
      slopeFactor(batchSlope.ttft, this.#stage.runningCount());
    this.dueMs = originMs + meanMs * drawFirstOutputFactor(ttft, this.#random);
    scheduler.add(this);
  }

  run(nowMs: number): void {
    const { laws, scheduler } = this.#stage.options;
    const stepMs = this.#meanStepMs();
    const last = this.#emit(stepMs, nowMs);
    if (this.#ended) return;
    if (last) {
      this.#end();
      return;
    }
    this.dueMs += stepMs * drawStepFactor(laws.step, this.#random);
    scheduler.add(this);
  }

  abort(): void {
    if (this.#ended) return;
    this.#stage.options.scheduler.remove(this);
    this.#end();
  }

  #end(): void {
    this.#ended = true;
    this.#stage.leave(this);
  }

  #meanStepMs(): number {
    const { step, batchSlope } = this.#stage.options.laws;
    const ownMs = step.nativeMs * slopeFactor(batchSlope.step, this.#stage.runningCount());
    if (this.#upstreamFinished || step.lockToUpstream === 0) return ownMs;
    return Math.max(ownMs, step.lockToUpstream * this.#upstreamStepMs);
  }

  /** @returns whether this was the last token */
  #emit(stepMs: number, nowMs: number): boolean {
    const index = this.#emitted;
    this.#emitted += 1;
    const atLength = this.#emitted >= this.#planned.tokens;
    let text: string | null = null;
    let stopReason: string | null = null;
    if (this.#stage.options.emitsText) {
      text = simulatedToken(this.#textStart, index);
      if (this.#stopFilter !== null && this.#emitted >= this.#request.params.minTokens) {
        const filtered = this.#stopFilter.push(text);
        text = filtered.text;
        stopReason = filtered.stop;
        if (atLength && stopReason === null) text += this.#stopFilter.flush();
      }
    }
    const last = atLength || stopReason !== null;
    this.#listener.onOutput(
      {
        dueMs: this.dueMs,
        units: 1,
        text,
        audio: null,
        artifact: null,
        stepMs,
        finishReason: last ? (stopReason !== null ? 'stop' : this.#planned.reason) : null,
        stopReason,
      },
      nowMs,
    );
    return last;
  }
}
