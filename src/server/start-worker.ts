import { nowMs } from '../foundation/clock.ts';
import { UsageError } from '../foundation/errors.ts';
import { connectBroker } from './cluster/broker.ts';
import { subjects } from './cluster/control-messages.ts';
import { hostId } from './cluster/host-id.ts';
import { newProcessId } from './cluster/process-id.ts';
import { StageWorker } from './cluster/stage-worker.ts';
import { createEngine } from './engine/engine-registry.ts';
import { timerScheduler } from './engine/scheduler.ts';
import type { EngineStats } from './engine/stage-engine.ts';
import { deployPipeline } from './model/deploy-pipeline.ts';
import { scaledStage } from './pipeline/create-runtime.ts';
import { clusterRole, connectorsFor, deploymentFacts, settledTransports } from './serve-cluster.ts';
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

/**
 * Starts a headless stage worker.
 * @throws UnknownModelError, UsageError, InputFileError
 */
export async function startWorker(
  options: ServeOptions,
  log: (line: string) => void,
): Promise<RunningWorker> {
  const { pipeline, transports, notices } = deployPipeline(deployRequestOf(options));
  const role = clusterRole(options, pipeline);
  const stage = pipeline.stages.find(({ stageId }) => stageId === role?.stageId);
  if (role === null || !role.headless || stage === undefined)
    throw new UsageError('A stage worker needs --headless and --stage-id.');
  const settled = settledTransports(transports, role);
  const broker = await connectBroker(role.brokerUrl, `omnimeter stage ${stage.stageId} (${stage.name})`);
  const scheduler = timerScheduler(nowMs, (error) => console.error(error));
  const { split } = await carriedVocabulary();
  const deployment = pipeline.name;
  const inputEdges = stage.inputSources.map((from) => ({ from, to: stage.stageId }));
  const workers = Array.from({ length: options.replicasHere }, () => {
    const workerId = newProcessId();
    return new StageWorker({
      broker,
      deployment,
      workerId,
      facts: deploymentFacts(pipeline, options),
      stageId: stage.stageId,
      stageName: stage.name,
      hostId: hostId(),
      createEngine: (pipelineLoad) =>
        createEngine(scaledStage(stage, options.timeScale), {
          scheduler,
          seed: options.seed,
          tokenize: split,
          pipelineLoad,
        }),
      createConnector: (producerNowMs) =>
        connectorsFor({
          transports: settled,
          scheduler,
          timeScale: options.timeScale,
          role,
          broker,
          payloadSubject: subjects.payload(deployment, workerId),
          producerNowMs,
        })(inputEdges),
      inputEdges,
      startTimeoutMs,
      log,
    });
  });
  const close = async (): Promise<void> => {
    for (const worker of workers) worker.stop();
    await broker.close();
    scheduler.close();
  };
  const ended = Promise.all(workers.map((worker) => worker.run())).then(() => undefined);
  const stats = (): EngineStats[] => workers.map((worker) => worker.stats());
  return { stageName: stage.name, notices, ended, stats, close };
}
