import { nowMs } from '../foundation/clock.ts';
import { UsageError } from '../foundation/errors.ts';
import { randomStream } from '../foundation/random.ts';
import { carriedTokenizer } from '../tokens/carried-tokenizer.ts';
import type { ApiContext } from './api/api-context.ts';
import { httpApp } from './api/http-app.ts';
import { type Scheduler, timerScheduler } from './engine/scheduler.ts';
import { ServerMetrics } from './metrics/server-metrics.ts';
import { deployPipeline } from './model/deploy-pipeline.ts';
import { createOrchestrator } from './pipeline/create-runtime.ts';
import type { OrchestratorStats } from './pipeline/orchestrator.ts';
import { faultsOf, limitsOf, localMediaRoot } from './serve-context.ts';
import type { ServeOptions } from './serve-options.ts';
import { fileTruthLog, noTruthLog } from './truth-log.ts';
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
};

/**
 * Starts the embedded omni server and resolves once it listens.
 * @throws UnknownModelError, UsageError, InputFileError; a system error where the address cannot be bound
 */
export async function startServer(options: ServeOptions, parts: ServerParts = {}): Promise<RunningServer> {
  checkOptions(options);
  const { pipeline, notices } = deployPipeline({
    model: options.model,
    deployConfig: options.deployConfig,
    platform: options.platform,
    globalFlags: options.engineFlags,
    asyncChunk: options.asyncChunk,
    stageOverrides: options.stageOverrides,
  });
  const mediaRoot = localMediaRoot(options.allowedLocalMediaPath);
  const limits = limitsOf(options);
  const faults = faultsOf(options);
  const [vocabulary] = await Promise.all([vocabularyOf(parts), warmMedia(pipeline)]);
  const { countTokens } = vocabulary;
  const scheduler = parts.scheduler ?? timerScheduler(nowMs, (error) => console.error(error));
  const { timeScale, seed } = options;
  const orchestrator = createOrchestrator({
    pipeline,
    scheduler,
    timeScale,
    seed,
    tokenize: vocabulary.split,
  });
  // Opened last: a deployment that is refused leaves no open file, and empties none.
  const truthLog = options.truthLog === null ? noTruthLog : fileTruthLog(options.truthLog);
  const servedModelName = options.servedModelName ?? options.model;
  const context: ApiContext = {
    orchestrator,
    pipeline,
    servedModelName,
    startedS: Math.floor(Date.now() / 1000),
    countTokens,
    truthLog,
    metrics: new ServerMetrics({
      modelName: servedModelName,
      enabled: options.logStats,
      stats: () => orchestrator.stats(),
      nowMs,
    }),
    limits,
    apiKeys: options.apiKeys,
    localMediaRoot: mediaRoot,
    faults,
    logLine: options.logStats ? (parts.logLine ?? ((line) => console.error(line))) : null,
  };
  const app = httpApp(context);
  const close = async (): Promise<void> => {
    orchestrator.close();
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
    notices,
    stats: () => orchestrator.stats(),
    flushTruthLog: () => truthLog.flush(),
    close,
  };
}

/** What the server must know of the model's tokens. */
type Vocabulary = {
  readonly countTokens: (text: string) => number;
  /** Parts of a text that are a token each. */
  readonly split: (text: string) => readonly string[];
};

/** Parts of a text that are about a token each: a word with the blank before it, or a mark. */
function roughParts(text: string): string[] {
  return text.match(/\s*[\p{L}\p{N}_]+|\s*[^\s\p{L}\p{N}_]|\s+$/gu) ?? [];
}

async function vocabularyOf({ countTokens }: ServerParts): Promise<Vocabulary> {
  return countTokens === undefined ? carriedVocabulary() : { countTokens, split: roughParts };
}

/** The carried vocabulary, warm: the first prompts would else be counted several times slower. */
async function carriedVocabulary(): Promise<Vocabulary> {
  const tokenizer = await carriedTokenizer();
  const random = randomStream(0, 'tokenizer warm-up');
  for (let round = 0; round < 4; round += 1) {
    const ids = Array.from({ length: 500 }, () => random.integer(0, tokenizer.vocabSize - 1));
    tokenizer.count(tokenizer.decode(ids));
  }
  return {
    countTokens: (text) => tokenizer.count(text),
    split(text) {
      const parts = tokenizer.encode(text).map((id) => tokenizer.decode([id]));
      // A character of several tokens has no text of its own per token.
      return parts.join('') === text ? parts : roughParts(text);
    },
  };
}
