import { type EmbeddingRequest, embeddingRequestSchema } from '../../protocol/embeddings.ts';
import type { ApiContext } from './api-context.ts';
import { readChatPrompt } from './chat-prompt.ts';
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

/** An input; `tokens` is `null` until they are counted. */
type Input = { readonly text: string; readonly tokens: number | null };

/** Inputs as texts; token ids stand for themselves. @throws RequestError 400 where there is none */
async function inputsOf({ input, messages }: EmbeddingRequest, context: ApiContext): Promise<Input[]> {
  if (messages !== null && messages !== undefined) {
    const { text, tokens } = await readChatPrompt(messages, context);
    return [{ text, tokens }];
  }
  if (input === null || input === undefined)
    throw new RequestError(400, 'input: expected a text, a list of texts or token ids.', 'input');
  if (typeof input === 'string') return [{ text: input, tokens: null }];
  const ids: number[] = [];
  const inputs: Input[] = [];
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
  const inputs = await inputsOf(request, context);
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
