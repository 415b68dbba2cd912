import { type CompletionRequest, completionRequestSchema } from '../../protocol/completions.ts';
import type { ApiContext } from './api-context.ts';
import { stageIdsGiving } from './model-routes.ts';
import { countPromptTokens } from './prompt-tokens.ts';
import type { RunRequest } from './reply-life.ts';
import { checkContext, checkModel, parseBody } from './request-body.ts';
import { RequestError } from './request-error.ts';
import { paramsOfStages } from './stage-params.ts';

/** Limit of a completion request that names none. */
const defaultMaxTokens = 16;
/** Most choices of one request. */
const mostChoices = 128;

/** What a completion request comes down to. */
export type CompletionPlan = {
  readonly model: string | null;
  /** Of all prompts together. */
  readonly promptTokens: number;
  /** A run for each choice, in the order of their indices: all of the first prompt, then those of the next. */
  readonly runs: readonly RunRequest[];
  readonly stream: boolean;
  readonly includeUsage: boolean;
  readonly continuousUsage: boolean;
};

type Prompt = string | readonly number[];

function promptsOf({ prompt }: CompletionRequest): Prompt[] {
  if (typeof prompt === 'string') return [prompt];
  const texts: string[] = [];
  const ids: number[] = [];
  const lists: number[][] = [];
  for (const item of prompt) {
    if (typeof item === 'string') texts.push(item);
    else if (typeof item === 'number') ids.push(item);
    else lists.push(item);
  }
  return ids.length > 0 ? [ids] : [...texts, ...lists];
}

async function countPrompt(prompt: Prompt, context: ApiContext): Promise<number> {
  return typeof prompt === 'string'
    ? countPromptTokens(prompt, context.countTokens, context.pipeline.maxModelLen)
    : prompt.length;
}

/**
 * Reads a completion request.
 * @throws RequestError 400 for what is malformed or not supported, 404 for another model
 */
export async function planCompletion(body: unknown, context: ApiContext): Promise<CompletionPlan> {
  const request = parseBody(completionRequestSchema, body);
  checkModel(request.model, context);
  if (request.echo === true)
    throw new RequestError(400, 'echo is not supported: the reply holds new text only.', 'echo');
  const perPrompt = request.n ?? 1;
  if ((request.best_of ?? perPrompt) !== perPrompt)
    throw new RequestError(400, 'best_of must equal n: every choice is returned.', 'best_of');
  const prompts = promptsOf(request);
  if (prompts.length * perPrompt > mostChoices)
    throw new RequestError(400, `At most ${mostChoices} choices come of one request.`, 'n');
  const maxTokens = request.max_tokens ?? defaultMaxTokens;
  // Each run has a prompt of its own.
  const { prompt: _all, ...sampling } = request;
  const params = paramsOfStages(context.pipeline, { ...sampling, max_tokens: maxTokens }, null);
  const runs: RunRequest[] = [];
  let promptTokens = 0;
  for (const prompt of prompts) {
    const tokens = await countPrompt(prompt, context);
    checkContext(tokens, maxTokens, context.pipeline.maxModelLen);
    promptTokens += tokens;
    for (let choice = 0; choice < perPrompt; choice += 1)
      runs.push({
        promptTokens: tokens,
        finalStageIds: stageIdsGiving(context, 'text').slice(0, 1),
        params,
        initialChunkFrames: null,
        keepGaps: false,
        source: { route: '/v1/completions', body: { ...request, prompt, n: 1 } },
      });
  }
  const includeUsage = request.stream_options?.include_usage ?? false;
  return {
    model: request.model ?? null,
    promptTokens,
    runs,
    stream: request.stream ?? false,
    includeUsage,
    continuousUsage: includeUsage && (request.stream_options?.continuous_usage_stats ?? false),
  };
}
