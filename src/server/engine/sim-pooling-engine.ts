import { type Random, randomStream } from '../../foundation/random.ts';
import type { Scheduler } from './scheduler.ts';
import { drawFirstOutputFactor, firstOutputGrowth, type PoolingLaws } from './sim-laws.ts';
import type { StageArtifact } from './stage-artifact.ts';
import type {
  EngineStats,
  StageChunk,
  StageEngine,
  StageListener,
  StageRequest,
  StageSequence,
} from './stage-engine.ts';
import type { StageTask } from './stage-task.ts';
import type { ScheduledTask } from './task-heap.ts';
import { textRelevance, textVector } from './text-vector.ts';

export type SimPoolingOptions = {
  /** Durations as they shall pass on the scheduler's clock. */
  readonly laws: PoolingLaws;
  readonly maxNumSeqs: number;
  /** Length of the model's vectors. */
  readonly dimensions: number;
  readonly seed: number;
  readonly stageName: string;
  readonly scheduler: Scheduler;
};

function artifactOf(task: StageTask, dimensions: number): StageArtifact {
  if (task.kind === 'score') return { kind: 'score', score: textRelevance(task.query, task.document) };
  const text = task.kind === 'embed' ? task.text : '';
  const wanted = task.kind === 'embed' ? task.dimensions : null;
  return { kind: 'embedding', values: textVector(text, wanted ?? dimensions) };
}

/** A simulated pooling stage: a forward per request, side by side; what it gives is computed from the text. */
export function simPoolingEngine(options: SimPoolingOptions): StageEngine {
  const running = new Set<PoolingSequence>();
  const waiting = new Set<PoolingSequence>();

  const start = (sequence: PoolingSequence, originMs: number): void => {
    running.add(sequence);
    sequence.start(originMs);
  };

  class PoolingSequence implements StageSequence, ScheduledTask {
    dueMs = 0;
    heapSlot = -1;
    readonly #request: StageRequest;
    readonly #listener: StageListener;
    readonly #random: Random;

    constructor(request: StageRequest, listener: StageListener) {
      this.#request = request;
      this.#listener = listener;
      this.#random = randomStream(options.seed, `${options.stageName}:${request.arrivalIndex}`);
    }

    /** The prompt is its only input. */
    feed(_chunk: StageChunk): void {}

    start(originMs: number): void {
      const { ttft, batchSlope } = options.laws;
      const aloneMs = ttft.baseMs + ttft.perInputTokenMs * this.#request.promptTokens;
      const factor = drawFirstOutputFactor(ttft, this.#random) * firstOutputGrowth(batchSlope, running.size);
      this.dueMs = originMs + aloneMs * factor * this.#request.pace;
      options.scheduler.add(this);
    }

    run(nowMs: number): void {
      const { dueMs } = this;
      this.abort();
      this.#listener.onOutput(
        {
          dueMs,
          units: 1,
          text: null,
          audio: null,
          artifact: artifactOf(this.#request.task, options.dimensions),
          kv: null,
          stepMs: 0,
          finishReason: 'stop',
          stopReason: null,
        },
        nowMs,
      );
    }

    abort(): void {
      options.scheduler.remove(this);
      waiting.delete(this);
      if (!running.delete(this)) return;
      const [next] = waiting;
      if (next === undefined) return;
      waiting.delete(next);
      start(next, options.scheduler.nowMs());
    }
  }

  return {
    kind: 'pooling',
    submit(request, listener) {
      const sequence = new PoolingSequence(request, listener);
      if (running.size < options.maxNumSeqs) start(sequence, request.acceptedMs);
      else waiting.add(sequence);
      return sequence;
    },
    stats: (): EngineStats => ({ running: running.size, waiting: waiting.size, waitingForChunk: 0 }),
    isAlive: () => true,
    close() {
      for (const sequence of [...waiting, ...running]) sequence.abort();
    },
  };
}
