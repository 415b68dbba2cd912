import { randomStream } from '../../foundation/random.ts';
import {
  type SimAutoregressiveOptions,
  SimAutoregressiveSequence,
  type SimStage,
} from './sim-autoregressive-sequence.ts';
import type { EngineStats, StageEngine, StageListener, StageRequest, StageSequence } from './stage-engine.ts';

/**
 * A simulated autoregressive stage. Each running sequence yields one token per step, and a step lasts as the laws
 * say for the number that run; sequences beyond `maxNumSeqs` wait in order of arrival.
 */
export function simAutoregressiveEngine(options: SimAutoregressiveOptions): StageEngine {
  const running = new Set<SimAutoregressiveSequence>();
  const waiting = new Set<SimAutoregressiveSequence>();
  const waitingForChunk = new Set<SimAutoregressiveSequence>();

  const start = (sequence: SimAutoregressiveSequence, originMs: number): void => {
    running.add(sequence);
    sequence.start(originMs);
  };
  const stage: SimStage = {
    options,
    runningCount: () => running.size,
    enter(sequence, originMs) {
      waitingForChunk.delete(sequence);
      if (running.size < options.maxNumSeqs) start(sequence, originMs);
      else waiting.add(sequence);
    },
    leave(sequence) {
      waitingForChunk.delete(sequence);
      waiting.delete(sequence);
      if (!running.delete(sequence)) return;
      const [next] = waiting;
      if (next === undefined) return;
      waiting.delete(next);
      start(next, options.scheduler.nowMs());
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
