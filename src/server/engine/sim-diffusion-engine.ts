import { drawNormal, type Random, randomStream } from '../../foundation/random.ts';
import {
  artifactOf,
  type DiffusionDefaults,
  type DiffusionPlan,
  pixelsOf,
  planDiffusion,
} from './diffusion-plan.ts';
import type { Scheduler } from './scheduler.ts';
import { type DiffusionLaws, slopeFactor } from './sim-laws.ts';
import type { DiffusionFacts } from './stage-artifact.ts';
import type {
  EngineStats,
  StageChunk,
  StageEngine,
  StageListener,
  StageRequest,
  StageSequence,
} from './stage-engine.ts';
import type { ScheduledTask } from './task-heap.ts';

export type SimDiffusionOptions = {
  /** Durations as they shall pass on the scheduler's clock. */
  readonly laws: DiffusionLaws;
  readonly output: 'image' | 'video';
  readonly defaults: DiffusionDefaults;
  /** Most requests denoised together. */
  readonly maxNumSeqs: number;
  /**
   * Whether requests join and leave between steps. Otherwise a batch is put together when the stage is idle, of
   * requests that want equally many steps, and stays together.
   */
  readonly stepExecution: boolean;
  /** Name under which the profiler reports, e.g. `QwenImagePipeline`. */
  readonly profileName: string;
  readonly seed: number;
  readonly stageName: string;
  readonly scheduler: Scheduler;
};

/** One request in a simulated diffusion stage. */
class DiffusionSequence implements StageSequence {
  readonly plan: DiffusionPlan;
  readonly #engine: SimDiffusion;
  readonly #listener: StageListener;
  readonly #random: Random;
  /** Of a step alone, ms. */
  readonly stepMs: number;
  #readyMs: number;
  #startMs = 0;
  #stepsEndMs = 0;
  #stepsDone = 0;
  /** Has what it needs from the stage before it. */
  #fed = false;
  #ended = false;

  constructor(engine: SimDiffusion, request: StageRequest, listener: StageListener) {
    const { laws, output, defaults, seed, stageName, scheduler } = engine.options;
    this.#engine = engine;
    this.#listener = listener;
    this.#random = randomStream(seed, `${stageName}:${request.arrivalIndex}`);
    this.plan = planDiffusion(request.task, output, defaults, this.#random);
    const { msPerStep, refPixels, exponent, sd } = laws.denoise;
    const noise = sd === 0 ? 1 : Math.max(0.1, 1 + sd * drawNormal(this.#random));
    this.stepMs = msPerStep * (pixelsOf(this.plan) / refPixels) ** exponent * noise * request.pace;
    this.#readyMs = scheduler.nowMs();
  }

  get readyMs(): number {
    return this.#readyMs;
  }

  get stepsLeft(): number {
    return this.plan.numInferenceSteps - this.#stepsDone;
  }

  feed(chunk: StageChunk): void {
    if (this.#ended || this.#fed) return;
    this.#fed = true;
    this.#readyMs = chunk.readyMs;
    this.#engine.enqueue(this);
  }

  abort(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#engine.leave(this);
  }

  /** The scheduler has selected it. */
  selected(startMs: number): void {
    this.#startMs = startMs;
    this.#tell();
  }

  stepped(dueMs: number): void {
    this.#stepsDone += 1;
    if (this.stepsLeft === 0) this.#stepsEndMs = dueMs;
    else this.#tell();
  }

  finish(dueMs: number, nowMs: number): void {
    if (this.#ended) return;
    this.abort();
    this.#listener.onOutput(
      {
        dueMs,
        units: this.plan.output === 'video' ? 1 : this.plan.pictures,
        text: null,
        audio: null,
        artifact: artifactOf(this.plan, this.#facts(dueMs)),
        kv: null,
        stepMs: 0,
        finishReason: 'stop',
        stopReason: null,
      },
      nowMs,
    );
  }

  #tell(): void {
    const { numInferenceSteps } = this.plan;
    this.#listener.onProgress({
      state: 'in_progress',
      percent: Math.floor((100 * this.#stepsDone) / (numInferenceSteps + 1)),
      planned: this.#stepsDone === 0 ? artifactOf(this.plan, this.#facts(this.#startMs)) : null,
    });
  }

  #facts(endMs: number): DiffusionFacts {
    const { laws, profileName } = this.#engine.options;
    const { baseMb, perMegapixelMb, sdMb } = laws.peakMemory;
    const megapixels = (pixelsOf(this.plan) - laws.denoise.refPixels) / 1e6;
    const noiseMb = sdMb === 0 ? 0 : sdMb * drawNormal(this.#random);
    const seconds = (ms: number): number => Math.round(ms * 1000) / 1e6;
    return {
      numInferenceSteps: this.plan.numInferenceSteps,
      forwardMs: endMs - this.#startMs,
      // Selected in a step that was due before the request came to be known: it has not waited.
      queueWaitMs: Math.max(0, this.#startMs - this.#readyMs),
      peakMemoryMb: Math.max(0, Math.round(baseMb + perMegapixelMb * megapixels + noiseMb)),
      profileS: {
        [`${profileName}.text_encoder.forward`]: seconds(laws.encodeMs),
        [`${profileName}.diffuse`]: seconds(Math.max(0, this.#stepsEndMs - this.#startMs - laws.encodeMs)),
        [`${profileName}.vae.decode`]: seconds(laws.decodeMs),
      },
    };
  }
}

/** A simulated diffusion stage, which is its own task in the scheduler: one event per denoising step. */
class SimDiffusion implements StageEngine, ScheduledTask {
  readonly kind = 'diffusion';
  dueMs = Number.NEGATIVE_INFINITY;
  heapSlot = -1;
  readonly options: SimDiffusionOptions;
  readonly #waitingForChunk = new Set<DiffusionSequence>();
  readonly #queue = new Set<DiffusionSequence>();
  readonly #batch = new Set<DiffusionSequence>();
  #phase: 'idle' | 'step' | 'decode' = 'idle';

  constructor(options: SimDiffusionOptions) {
    this.options = options;
  }

  submit(request: StageRequest, listener: StageListener): StageSequence {
    const sequence = new DiffusionSequence(this, request, listener);
    if (request.hasUpstream) this.#waitingForChunk.add(sequence);
    else this.enqueue(sequence);
    return sequence;
  }

  enqueue(sequence: DiffusionSequence): void {
    this.#waitingForChunk.delete(sequence);
    this.#queue.add(sequence);
    if (this.#phase === 'idle') this.#wake(Math.max(this.dueMs, sequence.readyMs));
  }

  leave(sequence: DiffusionSequence): void {
    this.#waitingForChunk.delete(sequence);
    this.#queue.delete(sequence);
    // A step that is under way is not interrupted; the seat is free after it.
    this.#batch.delete(sequence);
  }

  run(nowMs: number): void {
    const { dueMs } = this;
    if (this.#phase === 'step') {
      for (const sequence of this.#batch) sequence.stepped(dueMs);
      if ([...this.#batch].some(({ stepsLeft }) => stepsLeft === 0)) {
        this.#phase = 'decode';
        this.dueMs = dueMs + this.options.laws.decodeMs;
        this.options.scheduler.add(this);
        return;
      }
    } else if (this.#phase === 'decode') {
      const finished = [...this.#batch].filter(({ stepsLeft }) => stepsLeft === 0);
      for (const sequence of finished) sequence.finish(dueMs, nowMs);
    }
    this.#nextStep();
  }

  stats(): EngineStats {
    return {
      running: this.#batch.size,
      waiting: this.#queue.size,
      waitingForChunk: this.#waitingForChunk.size,
    };
  }

  isAlive(): boolean {
    return true;
  }

  close(): void {
    this.options.scheduler.remove(this);
    for (const sequence of [...this.#batch, ...this.#queue, ...this.#waitingForChunk]) sequence.abort();
    this.#phase = 'idle';
  }

  /** Lets the scheduler select on its next turn, so that requests that arrive together can share a batch. */
  #wake(atMs: number): void {
    this.#phase = 'decode';
    this.dueMs = atMs;
    this.options.scheduler.add(this);
  }

  /** Selects what joins, and begins a step. */
  #nextStep(): void {
    const joined = this.#admit();
    if (this.#batch.size === 0) {
      this.#phase = 'idle';
      return;
    }
    const { laws } = this.options;
    let stepMs = 0;
    for (const sequence of this.#batch) stepMs = Math.max(stepMs, sequence.stepMs);
    stepMs *= slopeFactor(laws.batchSlope.step, this.#batch.size);
    for (const sequence of joined) sequence.selected(this.dueMs);
    this.#phase = 'step';
    this.dueMs += stepMs + (joined.length > 0 ? laws.encodeMs : 0);
    this.options.scheduler.add(this);
  }

  #admit(): DiffusionSequence[] {
    const { maxNumSeqs, stepExecution } = this.options;
    if (this.#batch.size > 0 && !stepExecution) return [];
    const joined: DiffusionSequence[] = [];
    let [like] = this.#batch;
    for (const sequence of this.#queue) {
      if (this.#batch.size >= maxNumSeqs) break;
      like ??= sequence;
      // The order of arrival holds: one that does not fit is not overtaken for ever.
      if (!this.#fits(like, sequence)) break;
      this.#queue.delete(sequence);
      this.#batch.add(sequence);
      joined.push(sequence);
    }
    return joined;
  }

  #fits(like: DiffusionSequence, other: DiffusionSequence): boolean {
    if (like.plan.batchKey !== other.plan.batchKey) return false;
    return this.options.stepExecution || like.plan.numInferenceSteps === other.plan.numInferenceSteps;
  }
}

/** See {@link SimDiffusion}. */
export function simDiffusionEngine(options: SimDiffusionOptions): StageEngine {
  return new SimDiffusion(options);
}
