import { type ChatMessage, type ChatRequest, chatRequestSchema } from '../../protocol/chat-completions.ts';
import type { StageParams } from '../engine/stage-engine.ts';
import {
  type FinalOutputType,
  type PipelineDefinition,
  pipelineModalities,
} from '../pipeline/pipeline-definition.ts';
import type { ApiContext } from './api-context.ts';
import { type AudioFormat, audioFormatOf } from './audio-encoding.ts';
import { countPromptTokens } from './prompt-tokens.ts';
import { checkContext, checkModel, checkSingleChoice, isTruthy, parseBody } from './request-body.ts';
import { RequestError } from './request-error.ts';
import { paramsOfStages } from './stage-params.ts';

/** What a chat request comes down to. */
export type ChatPlan = {
  /** In stage order. */
  readonly modalities: readonly FinalOutputType[];
  readonly audioFormat: AudioFormat;
  readonly promptTokens: number;
  readonly params: readonly StageParams[];
  readonly stream: boolean;
  /** A last chunk with usage. */
  readonly includeUsage: boolean;
  /** Usage on every chunk. */
  readonly continuousUsage: boolean;
  readonly returnStageMetrics: boolean;
  readonly initialChunkFrames: number | null;
};

function wantedModalities(pipeline: PipelineDefinition, wanted: readonly string[] | null): FinalOutputType[] {
  const supported = pipelineModalities(pipeline);
  if (wanted === null) return supported;
  const unsupported = wanted.filter((name) => !supported.some((modality) => modality === name));
  if (unsupported.length > 0)
    throw new RequestError(
      400,
      `Unsupported modalities: ${unsupported.join(', ')}. Supported by this model: ${supported.join(', ')}.`,
      'modalities',
    );
  return supported.filter((modality) => wanted.includes(modality));
}

/** A file of the server's own must not be read at a client's word. */
function checkMediaUrl(url: string, param: string): void {
  if (/^(data:|https?:)/i.test(url)) return;
  throw new RequestError(
    400,
    `${param} must be a data:, http: or https: URL; this server reads no local files.`,
    param,
  );
}

async function tokensOfMessage(message: ChatMessage, context: ApiContext, place: string): Promise<number> {
  const { content } = message;
  if (content === null || content === undefined) return 0;
  if (typeof content === 'string') return countPromptTokens(content, context.countTokens);
  let tokens = 0;
  for (const [index, part] of content.entries()) {
    const param = `${place}.content.${index}`;
    if (part.type === 'text') {
      tokens += await countPromptTokens(part.text, context.countTokens);
      continue;
    }
    if (context.pipeline.mediaPartTokens === null)
      throw new RequestError(400, `This model takes text only; ${part.type} is not supported.`, param);
    if (part.type === 'image_url') checkMediaUrl(part.image_url.url, `${param}.image_url.url`);
    if (part.type === 'audio_url') checkMediaUrl(part.audio_url.url, `${param}.audio_url.url`);
    if (part.type === 'video_url') checkMediaUrl(part.video_url.url, `${param}.video_url.url`);
    tokens += context.pipeline.mediaPartTokens;
  }
  return tokens;
}

/** Tokens of the rendered prompt. */
async function countPrompt(messages: readonly ChatMessage[], context: ApiContext): Promise<number> {
  const { perMessage, generationPrompt } = context.pipeline.chatTemplateTokens;
  let tokens = generationPrompt;
  for (const [index, message] of messages.entries()) {
    tokens += perMessage + (await tokensOfMessage(message, context, `messages.${index}`));
  }
  return tokens;
}

function limitOf(request: ChatRequest): number | null {
  return request.max_completion_tokens ?? request.max_tokens ?? null;
}

/**
 * Reads a chat request.
 * @throws RequestError 400 for what is malformed or not supported, 404 for another model
 */
export async function planChat(body: unknown, context: ApiContext): Promise<ChatPlan> {
  const request = parseBody(chatRequestSchema, body);
  checkModel(request.model, context.servedModelName);
  checkSingleChoice('n', request.n);
  const modalities = wantedModalities(context.pipeline, request.modalities ?? null);
  const audioFormat = audioFormatOf(request.audio?.format);
  const sampling = { ...request, max_tokens: limitOf(request) };
  const params = paramsOfStages(context.pipeline, sampling, request.sampling_params_list ?? null);
  const promptTokens = await countPrompt(request.messages, context);
  const comprehension = context.pipeline.stages.find((stage) => stage.isComprehension);
  const maxTokens = params[comprehension?.stageId ?? 0]?.maxTokens ?? null;
  checkContext(promptTokens, maxTokens, context.pipeline.maxModelLen);
  const includeUsage = request.stream_options?.include_usage ?? false;
  return {
    modalities,
    audioFormat,
    promptTokens,
    params,
    stream: request.stream ?? false,
    includeUsage,
    continuousUsage: includeUsage && (request.stream_options?.continuous_usage_stats ?? false),
    returnStageMetrics: isTruthy(request.return_stage_metrics),
    initialChunkFrames: request.initial_codec_chunk_frames ?? null,
  };
}
