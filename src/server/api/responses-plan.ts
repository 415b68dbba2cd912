import type { ChatMessage, ContentPart } from '../../protocol/chat-completions.ts';
import {
  type ResponsesInputPart,
  type ResponsesRequest,
  responsesRequestSchema,
} from '../../protocol/responses.ts';
import type { ApiContext } from './api-context.ts';
import { checkMessages, readChatPrompt } from './chat-prompt.ts';
import { stageIdsGiving } from './model-routes.ts';
import type { RunRequest } from './reply-life.ts';
import { checkContext, checkModel, parseBody } from './request-body.ts';
import { RequestError } from './request-error.ts';
import { paramsOfStages } from './stage-params.ts';

/** What a request to the responses API comes down to. */
export type ResponsesPlan = {
  readonly model: string | null;
  readonly request: ResponsesRequest;
  readonly promptTokens: number;
  readonly run: RunRequest;
  readonly stream: boolean;
};

/** A part in the terms of a chat. */
function chatPart(part: ResponsesInputPart): ContentPart {
  switch (part.type) {
    case 'input_image': {
      const { image_url: image } = part;
      return { type: 'image_url', image_url: { url: typeof image === 'string' ? image : image.url } };
    }
    case 'input_audio':
      return part;
    case 'input_video':
      return { type: 'video_url', video_url: { url: part.video_url } };
    default:
      return { type: 'text', text: part.text };
  }
}

/** The input as the messages of a chat. @throws RequestError 400 for an unknown role, and a turn without content */
function messagesOf({ input, instructions }: ResponsesRequest): ChatMessage[] {
  const system = instructions ? [{ role: 'system', content: instructions }] : [];
  if (typeof input === 'string') return [...system, { role: 'user', content: input }];
  const turns = input.map(({ role, content, ...item }): ChatMessage => {
    if (role === null || role === undefined)
      // An earlier call or its result: the model reads its text.
      return { role: 'tool', content: JSON.stringify(item) };
    return { role, content: Array.isArray(content) ? content.map(chatPart) : (content ?? null) };
  });
  checkMessages(turns, 'input');
  return [...system, ...turns];
}

/**
 * Reads a request to the responses API.
 * @throws RequestError 400 for what is malformed or not supported, 404 for another model
 */
export async function planResponse(body: unknown, context: ApiContext): Promise<ResponsesPlan> {
  const request = parseBody(responsesRequestSchema, body);
  checkModel(request.model, context);
  if (request.background === true)
    throw new RequestError(400, 'background is not supported: nothing is stored.', 'background');
  const { tool_choice: choice } = request;
  if (choice === 'required' || (typeof choice === 'object' && choice !== null))
    throw new RequestError(
      400,
      'This route calls no tools; ask /v1/chat/completions with the same tool_choice.',
      'tool_choice',
    );
  if (request.previous_response_id !== null && request.previous_response_id !== undefined)
    throw new RequestError(
      404,
      `There is no response ${request.previous_response_id}: nothing is stored. Send the earlier turns as input.`,
      'previous_response_id',
    );
  const finalStageIds = stageIdsGiving(context, 'text').slice(0, 1);
  if (finalStageIds.length === 0)
    throw new RequestError(400, 'This model gives no text; use its own route.', 'model');
  const prompt = await readChatPrompt(messagesOf(request), context);
  const maxTokens = request.max_output_tokens ?? request.max_tokens ?? null;
  checkContext(prompt.tokens, maxTokens, context.pipeline.maxModelLen);
  return {
    model: request.model ?? null,
    request,
    promptTokens: prompt.tokens,
    run: {
      promptTokens: prompt.tokens,
      finalStageIds,
      params: paramsOfStages(context.pipeline, { ...request, max_tokens: maxTokens }, null),
      initialChunkFrames: null,
      keepGaps: false,
      source: { route: '/v1/responses', body: request },
    },
    stream: request.stream ?? false,
  };
}
