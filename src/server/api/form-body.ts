import type { FastifyRequest } from 'fastify';
import { messageOf } from '../../foundation/errors.ts';
import type { ApiLimits } from './api-limits.ts';
import { RequestError } from './request-error.ts';

/** A file of a form. */
export type FormFile = {
  readonly field: string;
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Buffer;
};

/** A form, however it was sent. */
export type FormBody = {
  /** Texts by field; a list where the field came more than once, or with `[]` behind its name. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly files: readonly FormFile[];
};

const mostFiles = 128;
const mostFields = 512;

/** `image[]` and `image[0]` are written for `image`. */
function bareName(name: string): { readonly bare: string; readonly isList: boolean } {
  const match = /^(.+?)\[\d*\]$/.exec(name);
  return match === null ? { bare: name, isList: false } : { bare: match[1] ?? name, isList: true };
}

function addField(fields: Map<string, unknown>, name: string, value: unknown): void {
  const { bare, isList } = bareName(name);
  const before = fields.get(bare);
  if (before === undefined) fields.set(bare, isList ? [value] : value);
  else fields.set(bare, Array.isArray(before) ? [...before, value] : [before, value]);
}

/** Errors of the parser have a status where the client is to blame; those of its insides have not, but are its too. */
function asFormError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  const status = error instanceof Error && 'statusCode' in error ? error.statusCode : null;
  const tooLarge = status === 413;
  return new RequestError(tooLarge ? 413 : 400, `The multipart form cannot be read: ${messageOf(error)}.`);
}

async function readParts(request: FastifyRequest, { bodyBytes, mediaBytes }: ApiLimits): Promise<FormBody> {
  const fields = new Map<string, unknown>();
  const files: FormFile[] = [];
  const parts = request.parts({
    limits: { fileSize: bodyBytes, files: mostFiles, fields: mostFields, fieldSize: bodyBytes },
  });
  for await (const part of parts) {
    if (part.type !== 'file') {
      addField(fields, part.fieldname, part.value);
      continue;
    }
    const bytes = await part.toBuffer();
    const field = bareName(part.fieldname).bare;
    if (bytes.length > mediaBytes)
      throw new RequestError(413, `${field}: larger than the ${mediaBytes} bytes that are taken.`, field);
    files.push({ field, name: part.filename, mimeType: part.mimetype, bytes });
  }
  return { fields: Object.fromEntries(fields), files };
}

/** Ends with an error as soon as more has come in than a body may have: the form's parser would read to its end. */
function whenTooLarge(request: FastifyRequest, { bodyBytes }: ApiLimits): Promise<never> {
  return new Promise((_resolve, reject) => {
    let bytes = 0;
    request.raw.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= bodyBytes) return;
      request.raw.unpipe();
      request.raw.pause();
      reject(new RequestError(413, 'Request body is too large', null, { connection: 'close' }));
    });
  });
}

async function readMultipart(request: FastifyRequest, limits: ApiLimits): Promise<FormBody> {
  try {
    return await Promise.race([readParts(request, limits), whenTooLarge(request, limits)]);
  } catch (error) {
    throw asFormError(error);
  }
}

/**
 * Reads a form: multipart, or JSON as some clients send where nothing is a file.
 * @throws RequestError 400 for a form that is malformed, 413 for one that is too large
 */
export async function readForm(request: FastifyRequest, limits: ApiLimits): Promise<FormBody> {
  if (request.isMultipart()) return readMultipart(request, limits);
  const { body } = request;
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new RequestError(400, 'Expected a form: multipart/form-data, or a JSON object.');
  return { fields: { ...body }, files: [] };
}
