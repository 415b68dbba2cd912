import type { z } from 'zod';
import { lastSegment } from '../model/pipeline-registry.ts';
import type { ApiContext } from './api-context.ts';
import { RequestError } from './request-error.ts';

/** The most telling of the problems of a union's members: the one that lies deepest in the value. */
function deepest(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== 'invalid_union') return issue;
  let best: z.core.$ZodIssue | null = null;
  for (const inner of issue.errors.flat()) {
    const candidate = deepest({ ...inner, path: [...issue.path, ...inner.path] });
    if (best === null || candidate.path.length > best.path.length) best = candidate;
  }
  return best !== null && best.path.length > issue.path.length ? best : issue;
}

/**
 * A request body in its schema's form. Fields at the root win over those inside `extra_body`.
 * @throws RequestError 400 naming the field
 */
export function parseBody<T>(schema: z.ZodType<T>, body: unknown): T {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new RequestError(400, 'The request body must be a JSON object.');
  const extra: unknown = 'extra_body' in body ? body.extra_body : null;
  if (extra !== null && extra !== undefined && (typeof extra !== 'object' || Array.isArray(extra)))
    throw new RequestError(400, 'extra_body must be an object.', 'extra_body');
  const result = schema.safeParse({ ...extra, ...body });
  if (result.success) return result.data;
  const [first] = result.error.issues;
  if (first === undefined) throw new RequestError(400, 'The request body is invalid.');
  const issue = deepest(first);
  const param = issue.path.map(String).join('.');
  const message = issue.code === 'invalid_union' ? 'has a value of a wrong type' : issue.message;
  throw new RequestError(400, param === '' ? message : `${param}: ${message}`, param === '' ? null : param);
}

/**
 * Accepts the served name, a name with the same last path segment, either of them with a suffix that calls for a
 * fault, and no name at all.
 * @throws RequestError 404
 */
export function checkModel(
  model: string | null | undefined,
  { servedModelName, faults }: Pick<ApiContext, 'servedModelName' | 'faults'>,
): void {
  if (model === null || model === undefined || model === servedModelName) return;
  const bare = faults.bareModel(model);
  if (bare === servedModelName) return;
  if (lastSegment(bare) !== '' && lastSegment(bare) === lastSegment(servedModelName)) return;
  throw new RequestError(404, `The model \`${model}\` does not exist.`, 'model');
}

/** @throws RequestError 400 where prompt and reply do not fit in the model's context */
export function checkContext(promptTokens: number, maxTokens: number | null, maxModelLen: number): void {
  const total = promptTokens + (maxTokens ?? 1);
  if (total <= maxModelLen) return;
  // A prompt that is too long by itself is not counted to its end.
  const least = promptTokens > maxModelLen ? 'at least ' : '';
  throw new RequestError(
    400,
    `This model's maximum context length is ${maxModelLen} tokens. However, you requested ${least}${total} tokens ` +
      `(${promptTokens} in the prompt, ${maxTokens ?? 1} in the completion). Please reduce the length of either.`,
    'max_tokens',
  );
}

/** Whether a flag of a request is on: true, 1, "1", "true", "yes", "on". */
export function isTruthy(value: boolean | number | string | null | undefined): boolean {
  if (typeof value === 'string') return ['1', 'true', 'yes', 'on'].includes(value.toLowerCase());
  return value === true || value === 1;
}
