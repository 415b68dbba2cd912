import type { Capability, FinalOutputType, StageDefinition } from '../pipeline/pipeline-definition.ts';
import type { ApiContext } from './api-context.ts';
import { RequestError } from './request-error.ts';

const names: Readonly<Record<Capability, string>> = {
  chat: 'chat completions',
  completions: 'completions',
  speech: 'speech',
  images: 'image generation',
  edits: 'image edits',
  videos: 'videos',
  embeddings: 'embeddings',
  rerank: 'rerank',
  pooling: 'pooling',
  transcriptions: 'transcriptions',
  realtime: 'realtime',
};

/** Routes whose stage is missing rather than the request wrong. */
const stageMissing: readonly Capability[] = ['images', 'edits', 'videos'];

/**
 * Whether the model answers a route at all.
 * @throws RequestError 503 where the pipeline has no stage for it, else 400
 */
export function requireCapability({ pipeline, servedModelName }: ApiContext, capability: Capability): void {
  const { capabilities } = pipeline;
  if (capabilities.includes(capability)) return;
  const what = `The model \`${servedModelName}\` does not support ${names[capability]}`;
  if (capability === 'speech' && pipeline.stages.some(({ finalOutputType }) => finalOutputType === 'audio'))
    throw new RequestError(
      400,
      `${what}: it speaks in chats. Use /v1/chat/completions with "modalities": ["audio"].`,
      'model',
    );
  if (stageMissing.includes(capability))
    throw new RequestError(503, `${what}: its pipeline has no diffusion stage for them.`);
  throw new RequestError(
    400,
    `${what}; it supports ${capabilities.map((name) => names[name]).join(', ')}.`,
    'model',
  );
}

/** The stages that give a client these kinds of output, in order. */
export function stagesGiving(
  { pipeline }: ApiContext,
  ...outputs: readonly FinalOutputType[]
): StageDefinition[] {
  return pipeline.stages.filter(
    ({ finalOutputType }) => finalOutputType !== null && outputs.includes(finalOutputType),
  );
}

/**
 * Before a stream begins: a request that cannot be served at all has a status of its own.
 * @throws RequestError 500 where a stage that it goes through has no live replica
 */
export function requireLiveStages(
  { orchestrator, metrics }: ApiContext,
  { finalStageIds }: { readonly finalStageIds: readonly number[] },
): void {
  const death = orchestrator.deathOnTheWay(finalStageIds);
  if (death === null) return;
  metrics.refused();
  throw new RequestError(500, death);
}

/** Their ids; empty where the pipeline has none. */
export function stageIdsGiving(context: ApiContext, ...outputs: readonly FinalOutputType[]): number[] {
  return stagesGiving(context, ...outputs).map(({ stageId }) => stageId);
}
