import { randomBytes } from 'node:crypto';
import { randomStream } from '../../foundation/random.ts';
import type { ChatRequest } from '../../protocol/chat-completions.ts';
import type { FinishReason } from '../../protocol/sampling.ts';
import { isPlainObject } from '../model/deep-merge.ts';
import { RequestError } from './request-error.ts';
import { toolArguments } from './tool-arguments.ts';

/** A call that a reply consists of. */
export type ToolCall = { readonly name: string; readonly argumentsText: string };

/** An id that no other call has. */
export function newToolCallId(): string {
  return `call_${randomBytes(12).toString('hex')}`;
}

/** A call that is complete ends the reply by its own reason; one that is cut off does not. */
export function toolFinishReason(reason: FinishReason | null): FinishReason | null {
  return reason === 'stop' ? 'tool_calls' : reason;
}

/** Name of the function that `tool_choice` asks for; `null` = any, `undefined` = no call is asked for. */
function chosenName(choice: unknown): string | null | undefined {
  if (choice === null || choice === undefined || choice === 'auto' || choice === 'none') return undefined;
  if (choice === 'required') return null;
  if (isPlainObject(choice) && isPlainObject(choice.function) && typeof choice.function.name === 'string')
    return choice.function.name;
  throw new RequestError(
    400,
    'tool_choice must be "none", "auto", "required" or {"type": "function", "function": {"name": …}}.',
    'tool_choice',
  );
}

/**
 * The call that a request insists on; a simulated model makes no other. Equal seeds give equal calls.
 * @returns `null` where the reply may be text
 * @throws RequestError 400 for a choice that cannot be met
 */
export function requiredToolCall(request: ChatRequest): ToolCall | null {
  const wanted = chosenName(request.tool_choice);
  if (wanted === undefined) return null;
  const functions = (request.tools ?? []).flatMap((tool) => tool.function ?? []);
  const random = randomStream(request.seed ?? 0, 'tool call');
  const found =
    wanted === null
      ? functions[random.integer(0, Math.max(0, functions.length - 1))]
      : functions.find(({ name }) => name === wanted);
  if (found !== undefined)
    return { name: found.name, argumentsText: JSON.stringify(toolArguments(found.parameters, random)) };
  const known = functions.map(({ name }) => name).join(', ') || 'none';
  throw new RequestError(
    400,
    wanted === null
      ? 'tool_choice "required" needs a function among the tools.'
      : `tool_choice names ${wanted}, which is not among the tools: ${known}.`,
    'tool_choice',
  );
}
