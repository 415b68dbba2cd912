import { UsageError } from '../../foundation/errors.ts';
import type { StageDefinition } from '../pipeline/pipeline-definition.ts';
import type { EngineContext, EngineFactory } from './engine-factory.ts';
import { proxyEngine } from './proxy-engine.ts';
import { simEngine } from './sim-engine.ts';
import type { StageEngine } from './stage-engine.ts';

/** The engines that a stage may run on. A new one is a file beside this one and a line here. */
export const engines = { proxy: proxyEngine, sim: simEngine } satisfies Record<string, EngineFactory>;

/**
 * One replica of a stage, on the engine that it names.
 * @throws UsageError for an engine that there is not
 */
export function createEngine(stage: StageDefinition, context: EngineContext): StageEngine {
  const known: Readonly<Record<string, EngineFactory>> = engines;
  const factory = known[stage.engine.name];
  if (factory === undefined)
    throw new UsageError(
      `Stage ${stage.stageId} (${stage.name}): there is no engine "${stage.engine.name}". ` +
        `Engines: ${Object.keys(known).join(', ')}.`,
    );
  return factory(stage, context);
}
