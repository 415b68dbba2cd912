import { createHash } from 'node:crypto';
import type { ChatMessage, ContentPart } from '../../protocol/chat-completions.ts';
import { type EmbeddingRequest, embeddingRequestSchema } from '../../protocol/embeddings.ts';
import type { ApiContext } from './api-context.ts';
import { checkMessages, readChatPrompt } from './chat-prompt.ts';
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

/** A chat as one input. What its media show is told apart by their bytes. */
async function chatInput(messages: readonly ChatMessage[], context: ApiContext): Promise<Input> {
  const { text, tokens, media } = await readChatPrompt(messages, context);
  const digests = media.map(({ bytes }) =>
    bytes === null ? '' : createHash('sha256').update(bytes).digest('hex'),
  );
  return { text: [text, ...digests].join(' '), tokens };
}

/** URLs of media as inputs, each as a chat of its own. @throws RequestError 400 for what is no URL */
function mediaInputs(
  input: NonNullable<EmbeddingRequest['input']>,
  modality: 'image' | 'audio' | 'video',
  context: ApiContext,
): Promise<Input[]> {
  const part = { image: 'image_url', audio: 'audio_url', video: 'video_url' } as const;
  const type = part[modality];
  return Promise.all(
    [input].flat().map((url) => {
      if (typeof url !== 'string')
        throw new RequestError(400, `input: expected the URL of a medium for modality ${modality}.`, 'input');
      return chatInput([{ role: 'user', content: [mediaPart(type, url)] }], context);
    }),
  );
}

function mediaPart(type: 'image_url' | 'audio_url' | 'video_url', url: string): ContentPart {
  switch (type) {
    case 'image_url':
      return { type, image_url: { url } };
    case 'audio_url':
      return { type, audio_url: { url } };
    case 'video_url':
      return { type, video_url: { url } };
  }
}

/** Inputs as texts; token ids stand for themselves. @throws RequestError 400 where there is none */
async function inputsOf(
  { input, messages, modality }: EmbeddingRequest,
  context: ApiContext,
): Promise<Input[]> {
  if (messages !== null && messages !== undefined) {
    checkMessages(messages);
    return [await chatInput(messages, context)];
  }
  if (input === null || input === undefined)
    throw new RequestError(400, 'input: expected a text, a list of texts or token ids.', 'input');
  if (modality !== null && modality !== undefined && modality !== 'text')
    return mediaInputs(input, modality, context);
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
    const counted =
      tokens ?? (await countPromptTokens(text, context.countTokens, context.pipeline.maxModelLen));
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
