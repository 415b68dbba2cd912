import { nowMs } from '../foundation/clock.ts';
import { UsageError } from '../foundation/errors.ts';
import { type Broker, connectBroker } from './cluster/broker.ts';
import { subjects } from './cluster/control-messages.ts';
import { hostId } from './cluster/host-id.ts';
import { newProcessId } from './cluster/process-id.ts';
import { StageWorker } from './cluster/stage-worker.ts';
import { createEngine } from './engine/engine-registry.ts';
import { type Scheduler, timerScheduler } from './engine/scheduler.ts';
import type { EngineStats } from './engine/stage-engine.ts';
import { deployPipeline } from './model/deploy-pipeline.ts';
import type { EdgeTransport } from './model/edge-transport.ts';
import { scaledStage } from './pipeline/create-runtime.ts';
import type { PipelineDefinition, StageDefinition } from './pipeline/pipeline-definition.ts';
import {
  type ClusterRole,
  clusterRole,
  connectorsFor,
  deploymentFacts,
  serverCommand,
  settledTransports,
} from './serve-cluster.ts';
import { deployRequestOf, type ServeOptions } from './serve-options.ts';
import { carriedVocabulary } from './vocabulary.ts';

/** A process that runs replicas of one stage for a server elsewhere. */
export type RunningWorker = {
  readonly stageName: string;
  readonly notices: readonly string[];
  /** Rejects where the server refuses a replica; resolves after `close`. */
  readonly ended: Promise<void>;
  /** Of each replica. */
  stats(): EngineStats[];
  close(): Promise<void>;
};

/** How long the server may be away at the start, ms. */
const startTimeoutMs = 300_000;

/** What the replicas of a process share. */
type Shared = {
  readonly options: ServeOptions;
  readonly pipeline: PipelineDefinition;
  readonly stage: StageDefinition;
  readonly role: ClusterRole;
  readonly transports: readonly EdgeTransport[];
  readonly broker: Broker;
  readonly scheduler: Scheduler;
  readonly tokenize: (text: string) => readonly string[];
  readonly log: (line: string) => void;
};

/** @throws UsageError for engine options, or a connector, that do not fit */
function replica(shared: Shared): StageWorker {
  const { options, pipeline, stage, role, transports, broker, scheduler, tokenize, log } = shared;
  const { timeScale, seed } = options;
  const deployment = pipeline.name;
  const workerId = newProcessId();
  const inputEdges = stage.inputSources.map((from) => ({ from, to: stage.stageId }));
  const payloadSubject = subjects.payload(deployment, workerId);
  return new StageWorker({
    broker,
    deployment,
    workerId,
    facts: deploymentFacts(pipeline, options),
    stageId: stage.stageId,
    stageName: stage.name,
    hostId: hostId(),
    createEngine: (pipelineLoad) =>
      createEngine(scaledStage(stage, timeScale), { scheduler, seed, tokenize, pipelineLoad }),
    createConnector: (producerNowMs) =>
      connectorsFor({ transports, scheduler, timeScale, role, broker, payloadSubject, producerNowMs })(
        inputEdges,
      ),
    inputEdges,
    startTimeoutMs,
    serverCommand: serverCommand(options),
    log,
  });
}

/**
 * Starts a headless stage worker.
 * @throws UnknownModelError, UsageError, InputFileError
 */
export async function startWorker(
  options: ServeOptions,
  log: (line: string) => void,
): Promise<RunningWorker> {
  const { pipeline, transports: open, notices } = deployPipeline(deployRequestOf(options));
  const role = clusterRole(options, pipeline);
  const stage = pipeline.stages.find(({ stageId }) => stageId === role?.stageId);
  if (role === null || !role.headless || stage === undefined)
    throw new UsageError('A stage worker needs --headless and --stage-id.');
  const transports = settledTransports(open, role);
  const { split: tokenize } = await carriedVocabulary();
  const broker = await connectBroker(role.brokerUrl, `omnimeter stage ${stage.stageId} (${stage.name})`);
  const scheduler = timerScheduler(nowMs, (error) => console.error(error));
  const shared = { options, pipeline, stage, role, transports, broker, scheduler, tokenize, log };
  const workers: StageWorker[] = [];
  const close = async (): Promise<void> => {
    for (const worker of workers) worker.stop();
    await broker.close();
    scheduler.close();
  };
  try {
    for (let index = 0; index < options.replicasHere; index += 1) workers.push(replica(shared));
  } catch (error) {
    await close();
    throw error;
  }
  const ended = Promise.all(workers.map((worker) => worker.run())).then(() => undefined);
  const stats = (): EngineStats[] => workers.map((worker) => worker.stats());
  return { stageName: stage.name, notices, ended, stats, close };
}
