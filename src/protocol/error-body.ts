import { z } from 'zod';

/** The OpenAI error envelope: the body of every refused request, and the payload of an error inside a stream. */
export const errorBodySchema = z.looseObject({
  error: z.looseObject({
    message: z.string(),
    type: z.string(),
    param: z.string().nullable(),
    /** The HTTP status. */
    code: z.number().int(),
  }),
});
export type ErrorBody = z.infer<typeof errorBodySchema>;

/** `type` of an error body, by what went wrong. */
export type ErrorType =
  | 'BadRequestError'
  | 'AuthenticationError'
  | 'PermissionDeniedError'
  | 'NotFoundError'
  | 'ConflictError'
  | 'RateLimitError'
  | 'InternalServerError'
  | 'ServiceUnavailableError';

/** Builds an error body; `code` is the HTTP status, `param` the request field at fault. */
export function errorBody(
  message: string,
  type: ErrorType,
  code: number,
  param: string | null = null,
): ErrorBody {
  return { error: { message, type, param, code } };
}
