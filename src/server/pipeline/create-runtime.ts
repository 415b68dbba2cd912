import { inProcessConnector } from '../connector/in-process-connector.ts';
import type { EngineContext } from '../engine/engine-factory.ts';
import { createEngine } from '../engine/engine-registry.ts';
import {
  scaleAutoregressiveLaws,
  scaleDiffusionLaws,
  scaleGenerationLaws,
  scalePoolingLaws,
} from '../engine/sim-laws.ts';
import type { StageEngine } from '../engine/stage-engine.ts';
import type { Connector } from './connector.ts';
import { Orchestrator } from './orchestrator.ts';
import type { PipelineDefinition, StageDefinition } from './pipeline-definition.ts';
import type { PipelineRuntime } from './pipeline-runtime.ts';
import { StagePool } from './stage-pool.ts';
import { StreamWindow } from './stream-window.ts';
import { type Transfer, TransferLedger } from './transfer-ledger.ts';
import type { Edge } from './transfer-metadata.ts';

type RuntimeOptions = {
  readonly pipeline: PipelineDefinition;
  readonly engines: EngineContext;
  readonly timeScale: number;
  /** What carries payloads over these edges; default: hand-over within the process. */
  readonly connect?: (edges: readonly Edge[]) => Connector;
  /** Stages of which this process has no replicas: they are added as they join. Default: it has all. */
  readonly remoteStageIds?: readonly number[];
  /** What to do where no replica of a stage lives, for who asks for one; default: nothing is said. */
  readonly adviceWhenDead?: (stageId: number) => string;
  /** Told of every payload that reached its stage. */
  readonly onTransfer?: (transfer: Transfer) => void;
};

/** A stage whose laws are as they shall pass on the scheduler's clock. */
export function scaledStage(stage: StageDefinition, timeScale: number): StageDefinition {
  switch (stage.executionType) {
    case 'LLM_AR':
      return { ...stage, laws: scaleAutoregressiveLaws(stage.laws, timeScale) };
    case 'LLM_GENERATION':
      return { ...stage, laws: scaleGenerationLaws(stage.laws, timeScale) };
    case 'DIFFUSION':
      return { ...stage, laws: scaleDiffusionLaws(stage.laws, timeScale) };
    case 'LLM_POOLING':
      return { ...stage, laws: scalePoolingLaws(stage.laws, timeScale) };
  }
}

/**
 * Engines, pools and connectors for a pipeline, in this process.
 * @throws UsageError for a stage whose engine there is not
 */
function createRuntime(options: RuntimeOptions): PipelineRuntime {
  const { pipeline, engines, timeScale, remoteStageIds = [] } = options;
  const stages = pipeline.stages.map((stage) => scaledStage(stage, timeScale));
  const createReplica = (stage: StageDefinition): StageEngine => createEngine(stage, engines);
  const pools = stages.map(
    (stage) =>
      new StagePool(
        stage,
        Array.from({ length: remoteStageIds.includes(stage.stageId) ? 0 : stage.numReplicas }, () =>
          createReplica(stage),
        ),
        () => options.adviceWhenDead?.(stage.stageId) ?? '',
      ),
  );
  const edges = stages.flatMap(({ stageId, inputSources }) =>
    inputSources.map((from) => ({ from, to: stageId })),
  );
  return {
    pools,
    createReplica,
    edges,
    connector: options.connect?.(edges) ?? inProcessConnector(),
    ledger: new TransferLedger(options.onTransfer ?? null),
    scheduler: engines.scheduler,
    asyncChunk: pipeline.asyncChunk,
    window: pipeline.activeStreamWindow > 0 ? new StreamWindow(pipeline.activeStreamWindow) : null,
    preprocessMs: pipeline.preprocessMs * timeScale,
  };
}

/** What {@link createOrchestrator} needs; the pipeline's load is known to the orchestrator itself. */
export type OrchestratorOptions = Omit<EngineContext, 'pipelineLoad'> & Omit<RuntimeOptions, 'engines'>;

/**
 * An orchestrator on a runtime of its own.
 * @throws UsageError for a stage whose engine there is not
 */
export function createOrchestrator(options: OrchestratorOptions): Orchestrator {
  const {
    pipeline,
    timeScale,
    connect,
    remoteStageIds = [],
    adviceWhenDead,
    onTransfer,
    ...context
  } = options;
  let load = (): number => 0;
  const engines: EngineContext = { ...context, pipelineLoad: () => load() };
  const runtime = createRuntime({
    pipeline,
    timeScale,
    engines,
    remoteStageIds,
    ...(connect === undefined ? {} : { connect }),
    ...(adviceWhenDead === undefined ? {} : { adviceWhenDead }),
    ...(onTransfer === undefined ? {} : { onTransfer }),
  });
  const orchestrator = new Orchestrator(runtime);
  load = () => orchestrator.requestCount;
  return orchestrator;
}
