import type { ResponsesUsage } from '../../protocol/responses.ts';
import type { FinishReason } from '../../protocol/sampling.ts';
import type { ReplyIdentity } from './reply-identity.ts';
import type { ResponsesPlan } from './responses-plan.ts';

/** What a response has come to. */
export type ResponseState = {
  readonly text: string;
  readonly tokens: number;
  /** `null` = it is under way. */
  readonly finishReason: FinishReason | null;
};

/** The message that a response consists of. */
export function responseMessage(identity: ReplyIdentity, text: string, status: string): object {
  return {
    id: identity.id.replace(/^resp_/, 'msg_'),
    type: 'message',
    role: 'assistant',
    status,
    content: status === 'in_progress' ? [] : [outputText(text)],
  };
}

export function outputText(text: string): object {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

function usageOf({ promptTokens }: ResponsesPlan, tokens: number): ResponsesUsage {
  return {
    input_tokens: promptTokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: tokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: promptTokens + tokens,
  };
}

/** `incomplete` where the text is cut off at its length. */
export function responseStatus({ finishReason }: ResponseState): 'in_progress' | 'completed' | 'incomplete' {
  if (finishReason === null) return 'in_progress';
  return finishReason === 'length' ? 'incomplete' : 'completed';
}

/** A response, under way or at its end. */
export function responseBody(identity: ReplyIdentity, plan: ResponsesPlan, state: ResponseState): object {
  const { request } = plan;
  const status = responseStatus(state);
  const isOver = state.finishReason !== null;
  return {
    id: identity.id,
    object: 'response',
    created_at: identity.createdS,
    status,
    model: identity.model,
    error: null,
    incomplete_details: status === 'incomplete' ? { reason: 'max_output_tokens' } : null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    output: isOver ? [responseMessage(identity, state.text, status)] : [],
    parallel_tool_calls: true,
    previous_response_id: null,
    temperature: request.temperature ?? null,
    top_p: request.top_p ?? null,
    tool_choice: request.tool_choice ?? 'auto',
    tools: request.tools ?? [],
    metadata: {},
    usage: isOver ? usageOf(plan, state.tokens) : null,
  };
}
