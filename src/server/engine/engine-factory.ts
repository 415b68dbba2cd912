import type { StageDefinition } from '../pipeline/pipeline-definition.ts';
import type { Scheduler } from './scheduler.ts';
import type { StageEngine } from './stage-engine.ts';

/** What engines work with. */
export type EngineContext = {
  readonly scheduler: Scheduler;
  /** Seed of everything random. */
  readonly seed: number;
  /** Requests under way in the whole pipeline. */
  readonly pipelineLoad: () => number;
  /** Parts of a text that are a token each. */
  readonly tokenize: (text: string) => readonly string[];
};

/**
 * Makes one replica of a stage. Durations in the stage's laws are as they shall pass on the scheduler's clock.
 * @throws UsageError where the stage's engine options are not what the engine needs
 */
export type EngineFactory = (stage: StageDefinition, context: EngineContext) => StageEngine;
