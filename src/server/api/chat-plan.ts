import type { AudioFormat } from '../../media/encode-audio.ts';
import { type ChatRequest, chatRequestSchema } from '../../protocol/chat-completions.ts';
import { type FinalOutputType, pipelineModalities } from '../pipeline/pipeline-definition.ts';
import type { ApiContext } from './api-context.ts';
import { audioFormatOf } from './audio-encoding.ts';
import { checkChatLength, checkMessages, readChatPrompt } from './chat-prompt.ts';
import { chatImageTask } from './chat-task.ts';
import { stageIdsGiving } from './model-routes.ts';
import type { RunRequest } from './reply-life.ts';
import { checkContext, checkModel, isTruthy, parseBody } from './request-body.ts';
import { RequestError } from './request-error.ts';
import { paramsOfStages } from './stage-params.ts';
import { requiredToolCall, type ToolCall } from './tool-call.ts';

/** What a chat request comes down to. */
export type ChatPlan = {
  readonly model: string | null;
  /** In stage order. */
  readonly modalities: readonly FinalOutputType[];
  readonly audioFormat: AudioFormat;
  /** The call that the text is the arguments of; `null` = it is text. */
  readonly toolCall: ToolCall | null;
  readonly promptTokens: number;
  /** Of each choice. */
  readonly run: RunRequest;
  readonly choices: number;
  readonly stream: boolean;
  /** A last chunk with usage. */
  readonly includeUsage: boolean;
  /** Usage on every chunk. */
  readonly continuousUsage: boolean;
  readonly returnStageMetrics: boolean;
};

/** Kinds of output that a chat can carry. */
const chatOutputs: readonly FinalOutputType[] = ['text', 'audio', 'image'];
/** Most choices of one request. */
const mostChoices = 128;

function wantedModalities({ pipeline }: ApiContext, wanted: readonly string[] | null): FinalOutputType[] {
  const supported = pipelineModalities(pipeline).filter((modality) => chatOutputs.includes(modality));
  if (wanted === null) return supported;
  const onlyDraws = pipeline.stages.length === 1 && supported.includes('image');
  const allowed = onlyDraws ? ['text', ...supported] : supported;
  const unsupported = wanted.filter((name) => !allowed.some((modality) => modality === name));
  const asked = supported.filter((modality) => wanted.includes(modality));
  if (unsupported.length > 0 || asked.length === 0)
    throw new RequestError(
      400,
      `Unsupported modalities: ${(unsupported.length > 0 ? unsupported : wanted).join(', ')}. ` +
        `Supported by this model: ${supported.join(', ')}.`,
      'modalities',
    );
  return asked;
}

function choicesOf({ n }: ChatRequest): number {
  const choices = n ?? 1;
  if (choices > mostChoices)
    throw new RequestError(400, `n must be at most ${mostChoices}, got ${choices}.`, 'n');
  return choices;
}

/**
 * What the servers of full-duplex models, whose chats run as conversations do, do not take.
 * @throws RequestError 400
 */
function checkDuplexChat({ n, logprobs, tools }: ChatRequest): void {
  const asked = {
    n: (n ?? 1) > 1,
    logprobs: logprobs !== undefined && logprobs !== null && logprobs !== false,
    tools: (tools ?? []).length > 0,
  };
  for (const [field, isAsked] of Object.entries(asked))
    if (isAsked)
      throw new RequestError(
        400,
        `${field}: a chat of a deployment in full duplex takes neither n above 1 nor logprobs nor tools; serve the ` +
          'model in turns for that (session_mode: turn in --deploy-config).',
        field,
      );
}

/**
 * Reads a chat request.
 * @throws RequestError 400 for what is malformed or not supported, 404 for another model
 */
export async function planChat(body: unknown, context: ApiContext): Promise<ChatPlan> {
  checkChatLength(body);
  const request = parseBody(chatRequestSchema, body);
  checkModel(request.model, context);
  checkMessages(request.messages);
  const choices = choicesOf(request);
  if (context.duplex !== null) checkDuplexChat(request);
  const toolCall = requiredToolCall(request);
  const wanted = wantedModalities(context, request.modalities ?? null);
  // A call is text that nobody speaks.
  const modalities = toolCall !== null && wanted.includes('text') ? wanted.slice(0, 1) : wanted;
  const audioFormat = audioFormatOf(request.audio?.format);
  const maxTokensAsked = request.max_completion_tokens ?? request.max_tokens ?? null;
  const sampling = { ...request, max_tokens: maxTokensAsked };
  const params = paramsOfStages(context.pipeline, sampling, request.sampling_params_list ?? null).map(
    (each, index) =>
      toolCall !== null && context.pipeline.stages[index]?.isComprehension === true
        ? { ...each, script: toolCall.argumentsText }
        : each,
  );
  const prompt = await readChatPrompt(request.messages, context);
  const comprehension = context.pipeline.stages.find((stage) => stage.isComprehension);
  const maxTokens = params[comprehension?.stageId ?? 0]?.maxTokens ?? null;
  checkContext(prompt.tokens, maxTokens, context.pipeline.maxModelLen);
  const includeUsage = request.stream_options?.include_usage ?? false;
  const returnStageMetrics = isTruthy(request.return_stage_metrics);
  return {
    model: request.model ?? null,
    modalities,
    audioFormat,
    toolCall,
    promptTokens: prompt.tokens,
    run: {
      promptTokens: prompt.tokens,
      finalStageIds: stageIdsGiving(context, ...modalities),
      params,
      initialChunkFrames: request.initial_codec_chunk_frames ?? null,
      keepGaps: returnStageMetrics,
      ...(modalities.includes('image') ? { task: chatImageTask(request, prompt, context) } : {}),
      source: { route: '/v1/chat/completions', body: request },
    },
    choices,
    stream: request.stream ?? false,
    includeUsage,
    continuousUsage: includeUsage && (request.stream_options?.continuous_usage_stats ?? false),
    returnStageMetrics,
  };
}
