import { randomStream } from '../../foundation/random.ts';
import {
  type SimAutoregressiveOptions,
  SimAutoregressiveSequence,
  type SimStage,
} from './sim-autoregressive-sequence.ts';
import type { EngineStats, StageEngine, StageListener, StageRequest, StageSequence } from './stage-engine.ts';

/**
 * Shares a step's token budget between prompts that are being read: what does not fit waits in order, and a long
 * prompt is read in pieces. A sequence that decodes takes one token of the budget.
 */
class TokenBudget {
  readonly #budgetTokens: number;
  readonly #waiting = new Set<SimAutoregressiveSequence>();
  #granted = 0;

  constructor(budgetTokens: number) {
    this.#budgetTokens = budgetTokens;
  }

  /** @returns tokens that may be read now; 0 = the sequence will be told */
  take(sequence: SimAutoregressiveSequence, wanted: number, decoding: number): number {
    const free = this.#budgetTokens - this.#granted - decoding;
    if (free <= 0 && this.#granted > 0) {
      this.#waiting.add(sequence);
      return 0;
    }
    // However many decode, a prompt gets on: the next step reads at least one token of it.
    const granted = Math.max(1, Math.min(wanted, free));
    this.#granted += granted;
    return granted;
  }

  giveBack(tokens: number, nowMs: number): void {
    this.#granted -= tokens;
    const [next] = this.#waiting;
    if (next === undefined) return;
    this.#waiting.delete(next);
    next.resumePrefill(nowMs);
  }

  forget(sequence: SimAutoregressiveSequence): void {
    this.#waiting.delete(sequence);
  }
}

/**
 * A simulated autoregressive stage, batching continuously. Each running sequence yields one token per step, and a
 * step lasts as the laws say for the number that run; sequences beyond `maxNumSeqs` wait in order of arrival, and
 * prompts share `maxNumBatchedTokens`.
 */
export function simAutoregressiveEngine(options: SimAutoregressiveOptions): StageEngine {
  const running = new Set<SimAutoregressiveSequence>();
  const waiting = new Set<SimAutoregressiveSequence>();
  const waitingForChunk = new Set<SimAutoregressiveSequence>();
  const budget = new TokenBudget(options.maxNumBatchedTokens);
  const countsPipeline = options.laws.batchSlope.over === 'pipeline';
  /** Of those that run, the ones that have not read their prompts. */
  const reading = new Set<SimAutoregressiveSequence>();

  const start = (sequence: SimAutoregressiveSequence, originMs: number): void => {
    running.add(sequence);
    reading.add(sequence);
    sequence.start(originMs);
  };
  const stage: SimStage = {
    options,
    load: () => (countsPipeline ? Math.max(running.size, options.pipelineLoad()) : running.size),
    enter(sequence, originMs) {
      waitingForChunk.delete(sequence);
      if (running.size < options.maxNumSeqs) start(sequence, originMs);
      else waiting.add(sequence);
    },
    leave(sequence) {
      waitingForChunk.delete(sequence);
      waiting.delete(sequence);
      reading.delete(sequence);
      budget.forget(sequence);
      if (!running.delete(sequence)) return;
      const [next] = waiting;
      if (next === undefined) return;
      waiting.delete(next);
      start(next, options.scheduler.nowMs());
    },
    takeTokens: (sequence, wanted) => budget.take(sequence, wanted, running.size - reading.size),
    giveBackTokens: (tokens, nowMs) => budget.giveBack(tokens, nowMs),
    prefilled: (sequence) => {
      reading.delete(sequence);
    },
  };

  return {
    kind: 'ar',
    submit(request: StageRequest, listener: StageListener): StageSequence {
      const random = randomStream(options.seed, `${options.stageName}:${request.arrivalIndex}`);
      const sequence = new SimAutoregressiveSequence(stage, request, listener, random);
      if (request.hasUpstream) waitingForChunk.add(sequence);
      else stage.enter(sequence, request.acceptedMs);
      return sequence;
    },
    stats(): EngineStats {
      let cachedTokens = 0;
      for (const sequence of running) cachedTokens += sequence.cachedTokens;
      return {
        running: running.size,
        waiting: waiting.size,
        waitingForChunk: waitingForChunk.size,
        kvCacheUsage: Math.min(1, cachedTokens / options.kvCacheTokens),
      };
    },
    isAlive: () => true,
    close() {
      for (const sequence of [...running, ...waiting, ...waitingForChunk]) sequence.abort();
    },
  };
}
