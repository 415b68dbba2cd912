import { type EmbeddingRequest, embeddingRequestSchema } from '../../protocol/embeddings.ts';
import type { ApiContext } from './api-context.ts';
import { stageIdsGiving } from './model-routes.ts';
import { countPromptTokens } from './prompt-tokens.ts';
import type { RunRequest } from './reply-life.ts';
import { checkContext, checkModel, parseBody } from './request-body.ts';
import { RequestError } from './request-error.ts';
import { paramsOfStages } from './stage-params.ts';

/** What a request for vectors comes down to. */
export type EmbeddingPlan = {
  readonly model: string | null;
  /** One per input. */
  readonly runs: readonly RunRequest[];
  readonly promptTokens: number;
  readonly asBase64: boolean;
};

/** Most inputs of one request. */
const mostInputs = 2048;

/** Inputs as texts; token ids stand for themselves. */
function inputsOf({ input }: EmbeddingRequest): { readonly text: string; readonly tokens: number | null }[] {
  if (typeof input === 'string') return [{ text: input, tokens: null }];
  const ids: number[] = [];
  const inputs: { readonly text: string; readonly tokens: number | null }[] = [];
  for (const item of input) {
    if (typeof item === 'number') ids.push(item);
    else if (typeof item === 'string') inputs.push({ text: item, tokens: null });
    else inputs.push({ text: item.join(' '), tokens: item.length });
  }
  return ids.length > 0 ? [{ text: ids.join(' '), tokens: ids.length }] : inputs;
}

/** Length of the model's own vectors. */
function modelDimensions({ pipeline }: ApiContext): number | null {
  const stage = pipeline.stages.find(({ finalOutputType }) => finalOutputType === 'pooling');
  return stage?.executionType === 'LLM_POOLING' ? stage.dimensions : null;
}

/**
 * Reads a request for vectors.
 * @throws RequestError 400 for what is malformed or not supported, 404 for another model
 */
export async function planEmbedding(
  body: unknown,
  path: string,
  context: ApiContext,
): Promise<EmbeddingPlan> {
  const request = parseBody(embeddingRequestSchema, body);
  checkModel(request.model, context);
  const own = modelDimensions(context);
  const dimensions = request.dimensions ?? null;
  if (dimensions !== null && own !== null && dimensions > own)
    throw new RequestError(400, `dimensions must be at most ${own}, got ${dimensions}.`, 'dimensions');
  const inputs = inputsOf(request);
  if (inputs.length > mostInputs) throw new RequestError(400, `At most ${mostInputs} inputs.`, 'input');
  const runs: RunRequest[] = [];
  let promptTokens = 0;
  for (const { text, tokens } of inputs) {
    const counted = tokens ?? (await countPromptTokens(text, context.countTokens));
    checkContext(counted, 0, context.pipeline.maxModelLen);
    promptTokens += counted;
    runs.push({
      promptTokens: counted,
      finalStageIds: stageIdsGiving(context, 'pooling'),
      params: paramsOfStages(context.pipeline, {}, null),
      initialChunkFrames: null,
      keepGaps: false,
      task: { kind: 'embed', text, dimensions },
      source: { route: path, body: { ...request, input: text } },
    });
  }
  return {
    model: request.model ?? null,
    runs,
    promptTokens,
    asBase64: request.encoding_format === 'base64',
  };
}
