import { messageText } from './custom-row.ts';
import { isRow, type Row, wrongField } from './row-value.ts';
import type { ChatMessage } from './sample.ts';

/** A recorded request but its body, which may be large. */
export type TraceRow = {
  /** When it was sent, s after some moment; `null` = not recorded. */
  readonly timestampS: number | null;
  readonly headers: readonly (readonly [string, string])[];
  readonly requestId: string | null;
  /** Tokens of the recorded answer. */
  readonly completionTokens: number | null;
  /** What the body asks, as far as it is text; of a rerank request the query and the documents. */
  readonly prompt: string | readonly string[];
};

/** Seconds, or a date and time as text. */
function timestampOf(value: unknown): number | null | string {
  if (value === undefined || value === null) return null;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  const epochMs = typeof value === 'string' ? Date.parse(value) : Number.NaN;
  if (Number.isFinite(epochMs)) return epochMs / 1000;
  return wrongField('timestamp', value, 'seconds, or a date and time such as "2026-01-31T12:00:00.250Z"');
}

/** A request cannot have a body and a head that disagree; these follow from the body and the connection. */
const ownHeaders = ['content-length', 'content-type', 'host', 'connection', 'transfer-encoding'];

function headersOf(value: unknown): [string, string][] | string {
  if (value === undefined || value === null) return [];
  if (!isRow(value)) return wrongField('headers', value, 'an object of texts');
  const headers: [string, string][] = [];
  for (const [name, text] of Object.entries(value)) {
    if (typeof text !== 'string') return wrongField(`headers.${name}`, text, 'text');
    if (!ownHeaders.includes(name.toLowerCase())) headers.push([name, text]);
  }
  return headers;
}

function isMessage(value: unknown): value is ChatMessage {
  return isRow(value) && (typeof value.content === 'string' || Array.isArray(value.content));
}

/** The text of a body of any API: messages, a field that holds one text or several, or a query and documents. */
function bodyText(body: Row): string | readonly string[] {
  if (Array.isArray(body.messages)) return body.messages.filter(isMessage).map(messageText).join('\n');
  const { query, documents } = body;
  if (typeof query === 'string' && Array.isArray(documents))
    return [query, ...documents.filter((text) => typeof text === 'string')];
  for (const field of ['prompt', 'input']) {
    const value = body[field];
    if (typeof value === 'string') return value;
    if (Array.isArray(value)) return value.filter((text) => typeof text === 'string').join('\n');
  }
  return '';
}

/** The row, or what is wrong with it. */
export function parseTraceRow(value: unknown): TraceRow | string {
  if (!isRow(value)) return wrongField('row', value, 'an object');
  const { body, request_id: id, completion_tokens: tokens } = value;
  if (!isRow(body)) return wrongField('body', body, 'the body of a request, an object');
  const timestampS = timestampOf(value.timestamp);
  if (typeof timestampS === 'string') return timestampS;
  const headers = headersOf(value.headers);
  if (typeof headers === 'string') return headers;
  if (id !== undefined && id !== null && typeof id !== 'string') return wrongField('request_id', id, 'text');
  const isCount = typeof tokens === 'number' && Number.isInteger(tokens) && tokens >= 0;
  if (tokens !== undefined && tokens !== null && !isCount)
    return wrongField('completion_tokens', tokens, 'a whole number');
  return {
    timestampS,
    headers,
    requestId: id ?? null,
    completionTokens: isCount ? tokens : null,
    prompt: bodyText(body),
  };
}
