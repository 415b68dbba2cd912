import type { Scheduler } from './scheduler.ts';
import { type GenerationLaws, slopeFactor } from './sim-laws.ts';
import { simulatedSpeech } from './sim-speech.ts';
import type {
  EngineStats,
  StageChunk,
  StageEngine,
  StageListener,
  StageRequest,
  StageSequence,
} from './stage-engine.ts';
import type { ScheduledTask } from './task-heap.ts';

export type SimGenerationOptions = {
  /** Durations as they shall pass on the scheduler's clock. */
  readonly laws: GenerationLaws;
  readonly maxNumSeqs: number;
  readonly scheduler: Scheduler;
};

/** What a sequence asks of its engine. */
type GenerationStage = {
  readonly options: SimGenerationOptions;
  busyCount(): number;
  enter(sequence: GenerationSequence): void;
  leave(sequence: GenerationSequence): void;
};

/** One request in a simulated vocoder: its chunks are decoded one after another. */
class GenerationSequence implements StageSequence, ScheduledTask {
  dueMs = Number.NEGATIVE_INFINITY;
  heapSlot = -1;
  readonly #stage: GenerationStage;
  readonly #request: StageRequest;
  readonly #listener: StageListener;
  readonly #chunks: StageChunk[] = [];
  #decoded = 0;
  #seated = false;
  #ended = false;

  constructor(stage: GenerationStage, request: StageRequest, listener: StageListener) {
    this.#stage = stage;
    this.#request = request;
    this.#listener = listener;
  }

  feed(chunk: StageChunk): void {
    if (this.#ended) return;
    this.#chunks.push(chunk);
    if (!this.#seated) this.#stage.enter(this);
    else if (this.#chunks.length === 1) this.#decodeNext();
  }

  /** Called by the engine once there is a seat. */
  start(originMs: number): void {
    this.#seated = true;
    this.dueMs = Math.max(this.dueMs, originMs);
    this.#decodeNext();
  }

  run(nowMs: number): void {
    const chunk = this.#chunks.shift();
    if (chunk === undefined) return;
    const samples = this.#samplesOf(chunk);
    this.#decoded += 1;
    this.#listener.onOutput(
      {
        dueMs: this.dueMs,
        units: samples,
        text: null,
        audio: simulatedSpeech(samples, this.#stage.options.laws.speech.sampleRateHz),
        artifact: null,
        stepMs: 0,
        finishReason: chunk.final ? 'stop' : null,
        stopReason: null,
      },
      nowMs,
    );
    if (this.#ended) return;
    if (chunk.final) this.#end();
    else if (this.#chunks.length > 0) this.#decodeNext();
  }

  abort(): void {
    if (this.#ended) return;
    this.#stage.options.scheduler.remove(this);
    this.#end();
  }

  #end(): void {
    this.#ended = true;
    this.#chunks.length = 0;
    this.#stage.leave(this);
  }

  #decodeNext(): void {
    const [chunk] = this.#chunks;
    if (chunk === undefined) return;
    const { laws, scheduler } = this.#stage.options;
    const baseMs = this.#decoded === 0 ? laws.decode.firstMs : laws.decode.baseMs;
    const decodeMs =
      (baseMs + laws.decode.perFrameMs * chunk.units) *
      slopeFactor(laws.batchSlope.step, this.#stage.busyCount());
    this.dueMs = Math.max(this.dueMs, chunk.readyMs) + decodeMs;
    scheduler.add(this);
  }

  #samplesOf(chunk: StageChunk): number {
    const { samplesPerFrame, trimSamples } = this.#stage.options.laws.speech;
    const trimmed = this.#decoded > 0 || this.#request.fullPayload;
    return Math.max(0, chunk.units * samplesPerFrame - (trimmed ? trimSamples : 0));
  }
}

/** A simulated vocoder: ready chunks of different requests are decoded side by side. */
export function simGenerationEngine(options: SimGenerationOptions): StageEngine {
  const running = new Set<GenerationSequence>();
  const waiting = new Set<GenerationSequence>();
  const waitingForChunk = new Set<GenerationSequence>();
  const stage: GenerationStage = {
    options,
    busyCount: () => running.size,
    enter(sequence) {
      waitingForChunk.delete(sequence);
      if (running.size >= options.maxNumSeqs) {
        waiting.add(sequence);
        return;
      }
      running.add(sequence);
      sequence.start(Number.NEGATIVE_INFINITY);
    },
    leave(sequence) {
      waitingForChunk.delete(sequence);
      waiting.delete(sequence);
      if (!running.delete(sequence)) return;
      const [next] = waiting;
      if (next === undefined) return;
      waiting.delete(next);
      running.add(next);
      next.start(options.scheduler.nowMs());
    },
  };
  return {
    kind: 'generation',
    submit(request: StageRequest, listener: StageListener): StageSequence {
      const sequence = new GenerationSequence(stage, request, listener);
      waitingForChunk.add(sequence);
      return sequence;
    },
    stats: (): EngineStats => ({
      running: running.size,
      waiting: waiting.size,
      waitingForChunk: waitingForChunk.size,
    }),
    isAlive: () => true,
    close() {
      for (const sequence of [...running, ...waiting, ...waitingForChunk]) sequence.abort();
    },
  };
}
