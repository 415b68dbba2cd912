import { nowMs } from '../foundation/clock.ts';
import { UsageError } from '../foundation/errors.ts';
import type { ApiContext } from './api/api-context.ts';
import { httpApp } from './api/http-app.ts';
import { createDuplexServer, duplexScriptOf } from './duplex/create-duplex-server.ts';
import { noDuplexObserver } from './duplex/duplex-observer.ts';
import { type Scheduler, timerScheduler } from './engine/scheduler.ts';
import { ServerMetrics } from './metrics/server-metrics.ts';
import { deployPipeline } from './model/deploy-pipeline.ts';
import { createOrchestrator } from './pipeline/create-runtime.ts';
import type { OrchestratorStats } from './pipeline/orchestrator.ts';
import type { FinalOutputType, PipelineDefinition } from './pipeline/pipeline-definition.ts';
import {
  clusterRole,
  connectorsFor,
  idleConnectors,
  openCluster,
  replicaAdvice,
  workerHub,
} from './serve-cluster.ts';
import { faultsOf, limitsOf, localMediaRoot } from './serve-context.ts';
import { deployRequestOf, type ServeOptions } from './serve-options.ts';
import { fileTruthLog, noTruthLog } from './truth-log.ts';
import { carriedVocabulary, countedVocabulary } from './vocabulary.ts';
import { warmMedia } from './warm-media.ts';

/** A server that listens. */
export type RunningServer = {
  /** Base URL, without a path. */
  readonly url: string;
  readonly port: number;
  readonly servedModelName: string;
  readonly pipelineName: string;
  /** What of the options has no effect, for the user to be told. */
  readonly notices: readonly string[];
  stats(): OrchestratorStats;
  /** Writes out what the truth log holds back. */
  flushTruthLog(): void;
  /** Ends open replies with an error, closes every connection and writes out the truth log. */
  close(): Promise<void>;
};

/** Connections that may wait to be accepted: at 511, a thousand that come at once see first bytes much later. */
const listenBacklog = 4096;

function checkOptions(options: ServeOptions): void {
  if (!(options.timeScale > 0 && Number.isFinite(options.timeScale)))
    throw new UsageError(`--time-scale must be a number above 0, got ${options.timeScale}.`);
}

function urlOf(host: string, port: number): string {
  const shown = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`;
}

/** What {@link startServer} can be given in place of its own. */
export type ServerParts = {
  /** Tokens of a text in the model's vocabulary; default: the carried one. */
  readonly countTokens?: (text: string) => number;
  readonly scheduler?: Scheduler;
  /** Takes the lines of `logStats`; default: standard error. */
  readonly logLine?: (line: string) => void;
  /** Takes a line when a stage worker joins or is lost; default: standard error. */
  readonly clusterLine?: (line: string) => void;
};

/** The stage that gives a client such output; `null` = none does. */
function stageGiving({ stages }: PipelineDefinition, output: FinalOutputType): number | null {
  return stages.find(({ finalOutputType }) => finalOutputType === output)?.stageId ?? null;
}

/** What `open` gives; what was opened before it is closed where it throws. */
async function opened<Parts>(closeOthers: () => Promise<void>, open: () => Parts): Promise<Parts> {
  try {
    return open();
  } catch (error) {
    await closeOthers();
    throw error;
  }
}

/**
 * Starts the embedded omni server and resolves once it listens.
 * @throws UnknownModelError, UsageError, InputFileError; a system error where the address cannot be bound
 */
export async function startServer(options: ServeOptions, parts: ServerParts = {}): Promise<RunningServer> {
  checkOptions(options);
  const { pipeline, transports, notices } = deployPipeline(deployRequestOf(options));
  const role = clusterRole(options, pipeline);
  if (role?.headless === true) throw new UsageError('A headless process has no server.');
  const mediaRoot = localMediaRoot(options.allowedLocalMediaPath);
  const limits = limitsOf(options);
  const faults = faultsOf(options, pipeline);
  const duplexScript = duplexScriptOf(options.duplexScript, pipeline);
  const { countTokens: given } = parts;
  const [vocabulary, cluster] = await Promise.all([
    given === undefined ? carriedVocabulary() : countedVocabulary(given),
    openCluster(role, pipeline, transports),
    warmMedia(pipeline),
  ]);
  const { countTokens } = vocabulary;
  const scheduler = parts.scheduler ?? timerScheduler(nowMs, (error) => console.error(error));
  const { timeScale, seed } = options;
  const closeBroker = async (): Promise<void> => cluster.broker?.close();
  const adviceWhenDead = replicaAdvice(options, cluster);
  const { orchestrator, truthLog } = await opened(closeBroker, () => ({
    orchestrator: createOrchestrator({
      pipeline,
      scheduler,
      timeScale,
      seed,
      tokenize: vocabulary.split,
      connect: connectorsFor({ ...cluster, scheduler, timeScale, role }),
      remoteStageIds: cluster.remoteStageIds,
      ...(adviceWhenDead === null ? {} : { adviceWhenDead }),
      ...(options.logStats ? { onTransfer: (transfer) => metrics.transfer(transfer) } : {}),
    }),
    // Opened last: a deployment that is refused leaves no open file, and empties none.
    truthLog: options.truthLog === null ? noTruthLog : fileTruthLog(options.truthLog),
  }));
  const servedModelName = options.servedModelName ?? options.model;
  const metrics = new ServerMetrics({
    modelName: servedModelName,
    enabled: options.logStats,
    stats: () => orchestrator.stats(),
    nowMs,
    duplex:
      pipeline.duplex === null
        ? null
        : {
            load: () => duplex?.load() ?? null,
            nowMs: () => scheduler.nowMs(),
            textStageId: stageGiving(pipeline, 'text'),
            audioStageId: stageGiving(pipeline, 'audio'),
          },
  });
  const logLine = options.logStats ? (parts.logLine ?? ((line) => console.error(line))) : null;
  const hub = workerHub(options, pipeline, role, cluster, {
    orchestrator,
    nowMs: () => scheduler.nowMs(),
    log: parts.clusterLine ?? ((line) => console.error(line)),
  });
  const duplex = createDuplexServer(pipeline, {
    script: duplexScript,
    scheduler,
    timeScale,
    seed,
    servedModelName,
    countTokens,
    observer: metrics.duplex ?? noDuplexObserver,
    logLine,
  });
  const context: ApiContext = {
    orchestrator,
    pipeline,
    servedModelName,
    startedS: Math.floor(Date.now() / 1000),
    countTokens,
    truthLog,
    metrics,
    limits,
    apiKeys: options.apiKeys,
    localMediaRoot: mediaRoot,
    faults,
    duplex,
    logLine,
  };
  const app = httpApp(context);
  const close = async (): Promise<void> => {
    hub?.close();
    orchestrator.close();
    duplex?.close();
    await closeBroker();
    await app.close();
    scheduler.close();
    truthLog.close();
  };
  try {
    await app.listen({ host: options.host, port: options.port, backlog: listenBacklog });
  } catch (error) {
    await close();
    throw error;
  }
  const address = app.server.address();
  const port = typeof address === 'object' && address !== null ? address.port : options.port;
  return {
    url: urlOf(options.host, port),
    port,
    servedModelName,
    pipelineName: pipeline.name,
    notices: [...notices, ...idleConnectors(transports, role)],
    stats: () => orchestrator.stats(),
    flushTruthLog: () => truthLog.flush(),
    close,
  };
}
