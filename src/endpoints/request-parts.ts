import { UsageError } from '../foundation/errors.ts';
import type { ChatMessage, ContentPart, Sample } from '../workloads/sample.ts';
import type { PreparedRequest, Target } from './endpoint.ts';
import type { JsonObject } from './json-values.ts';
import { type FormPart, multipartBody } from './multipart-body.ts';

/** How a reply is to be read, as plain data; a function makes it of the body that is sent. */
type Reading = JsonObject | ((sent: JsonObject) => JsonObject);

/**
 * The body of a JSON request: fixed fields, then `ignore_eos` where asked, then the run's `--extra-body`, then the
 * sample's own fields; a later one wins, by its top-level key.
 */
export function jsonRequest(
  sample: Sample,
  target: Target,
  fields: Readonly<Record<string, unknown>>,
  reading: Reading = {},
): PreparedRequest {
  if (sample.recordedBody) return jsonBody(sample, target, sample.recordedBody, reading);
  const body: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(fields)) if (value !== undefined) body[key] = value;
  if (target.ignoreEos) body.ignore_eos = true;
  // Spread and not assigned, so that a member named `__proto__` is sent like any other.
  return jsonBody(sample, target, { ...body, ...target.extraBody, ...sample.bodyOverrides }, reading);
}

/** A JSON request with exactly this body; of a recorded one that of the recording, with the run's model. */
export function jsonBody(
  sample: Sample,
  target: Target,
  body: Readonly<Record<string, unknown>>,
  reading: Reading = {},
): PreparedRequest {
  const recorded = sample.recordedBody;
  const sent = recorded ? { ...recorded, model: target.model } : body;
  return {
    method: 'POST',
    url: target.url,
    headers: requestHeaders(target, sample, 'application/json'),
    body: Buffer.from(JSON.stringify(sent)),
    model: typeof sent.model === 'string' ? sent.model : target.model,
    reading: { stream: sent.stream === true, ...(typeof reading === 'function' ? reading(sent) : reading) },
  };
}

/**
 * The run's `--extra-body` with the sample's own fields over it, for APIs that place each field themselves; the
 * fields of a recorded request stand alone.
 */
export function extraFields(sample: Sample, target: Target): Readonly<Record<string, unknown>> {
  if (sample.recordedBody) {
    // Model and media have places of their own in every API that takes fields apart.
    const { model: _model, image: _image, file: _file, ...fields } = sample.recordedBody;
    return fields;
  }
  return { ...target.extraBody, ...sample.bodyOverrides };
}

/** Where a field of {@link extraFields} was given, as messages name it. */
export function fieldPlace(sample: Sample, key: string): string {
  if (sample.recordedBody) return `"${key}" of a recorded body (${sample.requestId ?? 'a row of the trace'})`;
  return key in (sample.bodyOverrides ?? {}) ? `"${key}" of the dataset's row` : `--extra-body.${key}`;
}

/** A `multipart/form-data` request; its parts are encoded here, before any clock runs. */
export function formRequest(
  sample: Sample,
  target: Target,
  parts: readonly FormPart[],
  reading: Readonly<Record<string, unknown>>,
): PreparedRequest {
  const { contentType, body } = multipartBody(parts);
  return {
    method: 'POST',
    url: target.url,
    headers: requestHeaders(target, sample, contentType),
    body,
    model: target.model,
    reading,
  };
}

/**
 * Content type (`null` = none), then the run's headers (authorization, `--header`; a later one replaces), then the
 * sample's, then the request id.
 */
export function requestHeaders(
  target: Target,
  sample: Sample,
  contentType: string | null,
): (readonly [string, string])[] {
  const headers = new Map<string, readonly [string, string]>();
  const set = (name: string, value: string): void => {
    headers.set(name.toLowerCase(), [name, value]);
  };
  if (contentType !== null) set('Content-Type', contentType);
  for (const [name, value] of [...target.headers, ...(sample.headers ?? [])]) set(name, value);
  if (sample.requestId !== null) set('x-request-id', sample.requestId);
  return [...headers.values()];
}

/** The prompt of an endpoint that takes one text. */
export function promptText(sample: Sample, endpoint: string): string {
  if (typeof sample.prompt === 'string') return sample.prompt;
  throw new UsageError(
    `${endpoint} takes one prompt a request, and the dataset made a list of ${sample.prompt.length}. Use an embeddings or rerank backend, or a dataset without batches.`,
  );
}

/** The messages of a chat request: the sample's own, or one user message of its text and media. */
export function chatMessages(sample: Sample, endpoint: string): readonly ChatMessage[] {
  if (sample.chatMessages) return sample.chatMessages;
  const text: ContentPart = { type: 'text', text: promptText(sample, endpoint) };
  const content = sample.mediaPosition === 'first' ? [...sample.media, text] : [text, ...sample.media];
  return [{ role: 'user', content }];
}

/** Refuses media where the API has no place for them, before anything is sent. */
export function refuseMedia(sample: Sample, endpoint: string): void {
  if (sample.media.length === 0) return;
  throw new UsageError(
    `${endpoint} sends text only, and the dataset brings media. Use --backend openai-chat or openai-chat-omni with --endpoint /v1/chat/completions.`,
  );
}
