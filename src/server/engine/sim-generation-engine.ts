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
  /** Most chunks in one forward, each of another request. */
  readonly maxNumSeqs: number;
  /** Requests under way in the whole pipeline. */
  readonly pipelineLoad: () => number;
  readonly scheduler: Scheduler;
};

/** One request in a simulated vocoder: its chunks are decoded one after another. */
class GenerationSequence implements StageSequence {
  readonly #stage: SimVocoder;
  readonly #request: StageRequest;
  readonly #listener: StageListener;
  readonly #chunks: StageChunk[] = [];
  #decoded = 0;
  #ended = false;

  constructor(stage: SimVocoder, request: StageRequest, listener: StageListener) {
    this.#stage = stage;
    this.#request = request;
    this.#listener = listener;
  }

  feed(chunk: StageChunk): void {
    if (this.#ended) return;
    this.#chunks.push(chunk);
    if (this.#chunks.length === 1) this.#stage.ready(this);
  }

  abort(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#chunks.length = 0;
    this.#stage.leave(this);
  }

  /** When its next chunk was ready, ms. */
  get readyMs(): number {
    return this.#chunks[0]?.readyMs ?? 0;
  }

  /** What a forward of its next chunk takes alone, ms. */
  get aloneMs(): number {
    const { decode } = this.#stage.laws;
    const baseMs = this.#decoded === 0 ? decode.firstMs : decode.baseMs;
    return (baseMs + decode.perFrameMs * (this.#chunks[0]?.units ?? 0)) * this.#request.pace;
  }

  /** The forward with its chunk is done. */
  decoded(dueMs: number, nowMs: number): void {
    const chunk = this.#chunks.shift();
    // Aborted while it was decoded: nobody wants the sound.
    if (this.#ended || chunk === undefined) return;
    const samples = this.#samplesOf(chunk);
    this.#decoded += 1;
    if (chunk.final) this.abort();
    else if (this.#chunks.length > 0) this.#stage.ready(this);
    else this.#stage.idle(this);
    this.#listener.onOutput(
      {
        dueMs,
        units: samples,
        text: null,
        audio: simulatedSpeech(samples, this.#stage.laws.speech.sampleRateHz),
        artifact: null,
        kv: null,
        stepMs: 0,
        finishReason: chunk.final ? 'stop' : null,
        stopReason: null,
      },
      nowMs,
    );
  }

  #samplesOf(chunk: StageChunk): number {
    const { samplesPerFrame, trimSamples } = this.#stage.laws.speech;
    const trimmed = this.#decoded > 0 || this.#request.fullPayload;
    return Math.max(0, chunk.units * samplesPerFrame - (trimmed ? trimSamples : 0));
  }
}

/**
 * A simulated vocoder: one forward at a time, over the chunks of different requests that are ready when it starts.
 * A request whose next chunk is not there is passed over and blocks nobody.
 */
class SimVocoder implements StageEngine, ScheduledTask {
  readonly kind = 'generation';
  dueMs = Number.NEGATIVE_INFINITY;
  heapSlot = -1;
  readonly #options: SimGenerationOptions;
  readonly #waitingForChunk = new Set<GenerationSequence>();
  readonly #ready = new Set<GenerationSequence>();
  /** In the forward that is under way; one that is aborted leaves it, and the forward goes on without use. */
  readonly #batch = new Set<GenerationSequence>();
  #forwarding = false;

  constructor(options: SimGenerationOptions) {
    this.#options = options;
  }

  get laws(): GenerationLaws {
    return this.#options.laws;
  }

  submit(request: StageRequest, listener: StageListener): StageSequence {
    const sequence = new GenerationSequence(this, request, listener);
    this.#waitingForChunk.add(sequence);
    return sequence;
  }

  /** The sequence has a chunk to decode. */
  ready(sequence: GenerationSequence): void {
    this.#waitingForChunk.delete(sequence);
    this.#ready.add(sequence);
    if (!this.#forwarding) this.#startForward();
  }

  /** The sequence waits for its next chunk. */
  idle(sequence: GenerationSequence): void {
    this.#waitingForChunk.add(sequence);
  }

  leave(sequence: GenerationSequence): void {
    this.#waitingForChunk.delete(sequence);
    this.#ready.delete(sequence);
    this.#batch.delete(sequence);
  }

  run(nowMs: number): void {
    const batch = [...this.#batch];
    this.#batch.clear();
    const { dueMs } = this;
    for (const sequence of batch) sequence.decoded(dueMs, nowMs);
    this.#forwarding = false;
    if (this.#ready.size > 0) this.#startForward();
  }

  stats(): EngineStats {
    return {
      running: this.#batch.size,
      waiting: this.#ready.size,
      waitingForChunk: this.#waitingForChunk.size,
    };
  }

  isAlive(): boolean {
    return true;
  }

  close(): void {
    this.#options.scheduler.remove(this);
    for (const sequence of [...this.#ready, ...this.#waitingForChunk, ...this.#batch]) sequence.abort();
    this.#forwarding = false;
  }

  #startForward(): void {
    let aloneMs = 0;
    let readyMs = this.dueMs;
    for (const sequence of this.#ready) {
      if (this.#batch.size >= this.#options.maxNumSeqs) break;
      this.#batch.add(sequence);
      this.#ready.delete(sequence);
      aloneMs = Math.max(aloneMs, sequence.aloneMs);
      readyMs = Math.max(readyMs, sequence.readyMs);
    }
    this.#forwarding = true;
    const { batchSlope } = this.laws;
    const load = batchSlope.over === 'pipeline' ? this.#options.pipelineLoad() : this.#batch.size;
    this.dueMs = readyMs + aloneMs * slopeFactor(batchSlope.step, load);
    this.#options.scheduler.add(this);
  }
}

/** See {@link SimVocoder}. */
export function simGenerationEngine(options: SimGenerationOptions): StageEngine {
  return new SimVocoder(options);
}
