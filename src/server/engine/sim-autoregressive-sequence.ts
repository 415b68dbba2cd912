import type { Random } from '../../foundation/random.ts';
import { type PlannedLength, planLength } from './planned-length.ts';
import type { Scheduler } from './scheduler.ts';
import {
  type AutoregressiveLaws,
  drawFirstOutputFactor,
  drawStepFactor,
  firstOutputGrowth,
  slopeFactor,
} from './sim-laws.ts';
import { simulatedToken, singleTokenWords } from './sim-text.ts';
import type { KvHandle, StageChunk, StageListener, StageRequest, StageSequence } from './stage-engine.ts';
import { StopFilter } from './stop-filter.ts';
import type { ScheduledTask } from './task-heap.ts';

export type SimAutoregressiveOptions = {
  /** Durations as they shall pass on the scheduler's clock. */
  readonly laws: AutoregressiveLaws;
  readonly maxNumSeqs: number;
  /** Prompt tokens read at once, by all sequences together. */
  readonly maxNumBatchedTokens: number;
  /** Most tokens of a request that names none, and of one that goes on for ever. */
  readonly defaultMaxTokens: number;
  /** Tokens after which a reply ends by itself where the request sets no limit. */
  readonly naturalTokens: number;
  /** Emits text, not bare tokens. */
  readonly emitsText: boolean;
  /** Tokens that fit the KV cache of a replica; none is turned away for them. */
  readonly kvCacheTokens: number;
  /** Parts of a scripted reply that are a token each. */
  readonly tokenize: (text: string) => readonly string[];
  /** Requests under way in the whole pipeline. */
  readonly pipelineLoad: () => number;
  readonly seed: number;
  /** Separates the random streams of the stages. */
  readonly stageName: string;
  readonly scheduler: Scheduler;
};

/** What a sequence asks of its engine. */
export type SimStage = {
  readonly options: SimAutoregressiveOptions;
  /** Requests that slow each other down, the asking one included. */
  load(): number;
  /** The sequence has its input; `originMs` is when. */
  enter(sequence: SimAutoregressiveSequence, originMs: number): void;
  leave(sequence: SimAutoregressiveSequence): void;
  /** Tokens of the prompt that may be read now; 0 = {@link SimAutoregressiveSequence.resumePrefill} follows. */
  takeTokens(sequence: SimAutoregressiveSequence, wanted: number): number;
  giveBackTokens(tokens: number, nowMs: number): void;
  /** The sequence has read its prompt. */
  prefilled(sequence: SimAutoregressiveSequence): void;
};

/** What a sequence does when it is due next. */
type Phase = 'prefill' | 'decode' | 'kv' | 'finish';

/** What is emitted at a moment. */
type Made = {
  readonly units: number;
  readonly text: string | null;
  readonly nextDueMs: number | null;
  readonly kvReady: boolean;
};

/** A first output that is later than this by a grown load is put off, ms. */
const slackMs = 0.001;

/**
 * One request in a simulated autoregressive stage, which is its own task in the scheduler. Every due time follows
 * from the one before it, not from when that came to run, so that lateness never adds up.
 */
export class SimAutoregressiveSequence implements StageSequence, ScheduledTask {
  dueMs = 0;
  heapSlot = -1;
  /** Steps without text go to the next stage, and in chunks. */
  readonly unseen: boolean;
  readonly #stage: SimStage;
  readonly #request: StageRequest;
  readonly #listener: StageListener;
  readonly #random: Random;
  readonly #planned: PlannedLength;
  readonly #script: readonly string[] | null;
  readonly #textStart: number;
  readonly #stopFilter: StopFilter | null;
  #phase: Phase = 'prefill';
  #emitted = 0;
  #entered = false;
  #ended = false;
  #upstreamStepMs = 0;
  #upstreamFinished: boolean;
  /** Of the prompt, or of the part of it that is being read: from when, how much, how long alone. */
  #originMs = 0;
  #grantedTokens = 0;
  #unreadTokens = 0;
  #aloneMs = 0;
  #lastStepMs = 0;
  #stopReason: string | null = null;

  constructor(stage: SimStage, request: StageRequest, listener: StageListener, random: Random) {
    this.#stage = stage;
    this.#request = request;
    this.#listener = listener;
    this.#random = random;
    const { options } = stage;
    this.unseen = !options.emitsText;
    const { replies } = options.laws;
    const reply = options.emitsText
      ? (request.params.script ?? replies?.[request.arrivalIndex % replies.length])
      : undefined;
    this.#script = reply === undefined ? null : options.tokenize(reply);
    const { defaultMaxTokens, naturalTokens } = options;
    const length = this.#script === null ? options.laws.length : [Math.max(1, this.#script.length)];
    this.#planned = planLength({ length, defaultMaxTokens, naturalTokens }, request);
    this.#textStart = random.integer(0, singleTokenWords.length - 1);
    const { stop } = request.params;
    this.#stopFilter = options.emitsText && stop.length > 0 ? new StopFilter(stop) : null;
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

  /** Tokens that it keeps in the KV cache: those read of the prompt, and those made. */
  get cachedTokens(): number {
    return this.#request.promptTokens - this.#unreadTokens + this.#emitted;
  }

  /** Prompt tokens that it reads itself: not those of the stage before it, nor those that it read as they came in. */
  get #ownTokens(): number {
    const { hasUpstream, promptTokens, readTokens = 0 } = this.#request;
    return hasUpstream ? 0 : Math.max(0, promptTokens - readTokens);
  }

  /** Called by the engine once there is a seat. */
  start(originMs: number): void {
    this.#entered = true;
    this.#unreadTokens = this.#ownTokens;
    this.#read(originMs, drawFirstOutputFactor(this.#stage.options.laws.ttft, this.#random));
  }

  /** Called by the engine once the next part of the prompt may be read. */
  resumePrefill(nowMs: number): void {
    this.#read(nowMs, 1);
  }

  run(nowMs: number): void {
    switch (this.#phase) {
      case 'prefill':
        if (this.#prefilled()) this.#decode(nowMs);
        return;
      case 'decode':
        this.#decode(nowMs);
        return;
      case 'kv':
        this.#emitKv(nowMs);
        return;
      case 'finish':
        this.#emitEnd(nowMs);
        return;
    }
  }

  abort(): void {
    if (this.#ended) return;
    this.#stage.options.scheduler.remove(this);
    this.#end();
  }

  #end(): void {
    this.#ended = true;
    this.#stage.leave(this);
    this.#giveBack();
  }

  #giveBack(): void {
    if (this.#grantedTokens === 0) return;
    const tokens = this.#grantedTokens;
    this.#grantedTokens = 0;
    this.#stage.giveBackTokens(tokens, this.#stage.options.scheduler.nowMs());
  }

  /** Reads as much of the prompt as fits; what it takes alone grows with the load. */
  #read(originMs: number, factor: number): void {
    const { laws, scheduler } = this.#stage.options;
    const { promptTokens, hasUpstream, pace } = this.#request;
    const wanted = this.#unreadTokens;
    const whole = this.#ownTokens;
    if (wanted > 0) {
      this.#grantedTokens = this.#stage.takeTokens(this, wanted);
      if (this.#grantedTokens === 0) return;
      this.#unreadTokens -= this.#grantedTokens;
    }
    const isFirst = wanted === whole;
    const tokens = hasUpstream ? promptTokens : this.#grantedTokens;
    const { baseMs, perInputTokenMs } = laws.ttft;
    this.#originMs = originMs;
    this.#aloneMs = ((isFirst ? baseMs : 0) + perInputTokenMs * tokens) * factor * pace;
    this.dueMs = this.#prefillDueMs();
    scheduler.add(this);
  }

  #prefillDueMs(): number {
    return (
      this.#originMs +
      this.#aloneMs * firstOutputGrowth(this.#stage.options.laws.batchSlope, this.#stage.load())
    );
  }

  /** @returns whether the whole prompt has been read */
  #prefilled(): boolean {
    const { scheduler } = this.#stage.options;
    // Others that came meanwhile share the steps, as they do in a real batch.
    const grownMs = this.#prefillDueMs();
    if (grownMs > this.dueMs + slackMs) {
      this.dueMs = grownMs;
      scheduler.add(this);
      return false;
    }
    this.#giveBack();
    if (this.#unreadTokens > 0) {
      this.#read(this.dueMs, 1);
      return false;
    }
    this.#phase = 'decode';
    this.#stage.prefilled(this);
    return true;
  }

  #decode(nowMs: number): void {
    const { laws, scheduler } = this.#stage.options;
    const stepMs = this.#meanStepMs();
    this.#lastStepMs = stepMs;
    const { text, last } = this.#nextToken();
    const { kv } = laws;
    const finishes = last && (kv === null || kv.finishMs === 0);
    const nextDueMs = finishes ? null : this.#afterToken(last, stepMs);
    this.#emit(stepMs, nowMs, { units: 1, text, nextDueMs, kvReady: finishes && kv !== null });
    if (this.#ended) return;
    if (nextDueMs === null) {
      this.#end();
      return;
    }
    if (last) this.#phase = 'kv';
    this.dueMs = nextDueMs;
    scheduler.add(this);
  }

  /** When what follows the token of this moment is due. */
  #afterToken(last: boolean, stepMs: number): number {
    const { step, kv } = this.#stage.options.laws;
    if (last) return this.dueMs + (kv?.readyMs ?? 0);
    const stallMs = this.#emitted + 1 === step.stallAtToken ? step.stallMs : 0;
    return this.dueMs + stepMs * drawStepFactor(step, this.#random) + stallMs;
  }

  #meanStepMs(): number {
    const { step, batchSlope } = this.#stage.options.laws;
    const ownMs = step.nativeMs * slopeFactor(batchSlope.step, this.#stage.load()) * this.#request.pace;
    if (this.#upstreamFinished || step.lockToUpstream === 0) return ownMs;
    return Math.max(ownMs, step.lockToUpstream * this.#upstreamStepMs);
  }

  #nextToken(): { readonly text: string | null; readonly last: boolean } {
    const index = this.#emitted;
    this.#emitted += 1;
    const atLength = this.#emitted >= this.#planned.tokens;
    let text: string | null = null;
    if (this.#stage.options.emitsText) {
      text = this.#script === null ? simulatedToken(this.#textStart, index) : (this.#script[index] ?? '');
      if (this.#stopFilter !== null && this.#emitted >= this.#request.params.minTokens) {
        const filtered = this.#stopFilter.push(text);
        text = filtered.text;
        this.#stopReason = filtered.stop;
        if (atLength && filtered.stop === null) text += this.#stopFilter.flush();
      }
    }
    return { text, last: atLength || this.#stopReason !== null };
  }

  /** The KV cache has been copied: the next stage may start while this one clears up. */
  #emitKv(nowMs: number): void {
    const { laws, scheduler } = this.#stage.options;
    const text = this.#stage.options.emitsText ? '' : null;
    const clearMs = laws.kv === null ? 0 : Math.max(0, laws.kv.finishMs - laws.kv.readyMs);
    const nextDueMs = this.dueMs + clearMs;
    this.#emit(this.#lastStepMs, nowMs, { units: 0, text, nextDueMs, kvReady: true });
    if (this.#ended) return;
    this.#phase = 'finish';
    this.dueMs = nextDueMs;
    scheduler.add(this);
  }

  #emitEnd(nowMs: number): void {
    const text = this.#stage.options.emitsText ? '' : null;
    this.#emit(this.#lastStepMs, nowMs, { units: 0, text, nextDueMs: null, kvReady: false });
    if (!this.#ended) this.#end();
  }

  /** @param made its `nextDueMs` is `null` on the request's last output here */
  #emit(stepMs: number, nowMs: number, { units, text, nextDueMs, kvReady }: Made): void {
    const finishes = nextDueMs === null;
    const kv: KvHandle | null = kvReady
      ? { engineId: this.#stage.options.stageName, requestId: this.#request.id }
      : null;
    this.#listener.onOutput(
      {
        dueMs: this.dueMs,
        units,
        text,
        audio: null,
        artifact: null,
        kv,
        stepMs,
        ...(nextDueMs === null ? {} : { nextDueMs }),
        finishReason: finishes ? (this.#stopReason !== null ? 'stop' : this.#planned.reason) : null,
        stopReason: finishes ? this.#stopReason : null,
      },
      nowMs,
    );
  }
}
