import { type CompletionRequest, completionRequestSchema } from '../../protocol/completions.ts';
import type { StageParams } from '../engine/stage-engine.ts';
import type { ApiContext } from './api-context.ts';
import { countPromptTokens } from './prompt-tokens.ts';
import { checkContext, checkModel, checkSingleChoice, parseBody } from './request-body.ts';
import { RequestError } from './request-error.ts';
import { paramsOfStages } from './stage-params.ts';

/** Limit of a completion request that names none. */
const defaultMaxTokens = 16;

/** What a completion request comes down to. */
export type CompletionPlan = {
  readonly promptTokens: number;
  readonly params: readonly StageParams[];
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly continuousUsage: boolean;
};

async function countPrompt(prompt: CompletionRequest['prompt'], context: ApiContext): Promise<number> {
  if (typeof prompt === 'string') return countPromptTokens(prompt, context.countTokens);
  const [first] = prompt;
  if (typeof first === 'number') return prompt.length;
  if (prompt.length > 1)
    throw new RequestError(
      400,
      `prompt holds ${prompt.length} prompts; this server takes one per request.`,
      'prompt',
    );
  return typeof first === 'string' ? countPromptTokens(first, context.countTokens) : (first?.length ?? 0);
}

/**
 * Reads a completion request.
 * @throws RequestError 400 for what is malformed or not supported, 404 for another model
 */
export async function planCompletion(body: unknown, context: ApiContext): Promise<CompletionPlan> {
  const request = parseBody(completionRequestSchema, body);
  checkModel(request.model, context.servedModelName);
  checkSingleChoice('n', request.n);
  checkSingleChoice('best_of', request.best_of);
  if (request.echo === true)
    throw new RequestError(400, 'echo is not supported: the reply holds new text only.', 'echo');
  const promptTokens = await countPrompt(request.prompt, context);
  const maxTokens = request.max_tokens ?? defaultMaxTokens;
  checkContext(promptTokens, maxTokens, context.pipeline.maxModelLen);
  const includeUsage = request.stream_options?.include_usage ?? false;
  return {
    promptTokens,
    params: paramsOfStages(context.pipeline, { ...request, max_tokens: maxTokens }, null),
    stream: request.stream ?? false,
    includeUsage,
    continuousUsage: includeUsage && (request.stream_options?.continuous_usage_stats ?? false),
  };
}
