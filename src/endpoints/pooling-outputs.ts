import { decodeBase64 } from './decode-base64.ts';
import { asObject, type JsonObject } from './json-values.ts';

/**
 * How many vectors or scores a body asks for; `null` = it can't be told.
 * A list of numbers is one prompt as token ids. `top_n` bounds the scores of a rerank request.
 */
export function outputsAskedFor(body: JsonObject): number | null {
  if (Array.isArray(body.documents)) {
    const most = body.top_n;
    return typeof most === 'number' && most >= 1
      ? Math.min(Math.trunc(most), body.documents.length)
      : body.documents.length;
  }
  if (Array.isArray(body.messages)) return 1;
  if (typeof body.input === 'string') return 1;
  if (!Array.isArray(body.input)) return null;
  return typeof body.input[0] === 'number' ? 1 : body.input.length;
}

/** Whether an entry of a reply holds a vector or a score: `missing` = it has none, `junk` = something else stands there. */
export type OutputState = 'usable' | 'missing' | 'junk';

/** Where servers put a vector (embeddings, pooling) and a score (rerank); the latter is one number. */
const vectorFields = ['embedding', 'data'] as const;
const scoreFields = ['relevance_score', 'score'] as const;

/** Looks at one entry of `data` or `results`. */
export function outputState(entry: unknown): OutputState {
  const fields = asObject(entry);
  if (!fields) return 'junk';
  for (const name of vectorFields) {
    const value = fields[name];
    if (value !== undefined && value !== null) return valueState(value);
  }
  for (const name of scoreFields) {
    const value = fields[name];
    if (value !== undefined && value !== null) return Number.isFinite(value) ? 'usable' : 'junk';
  }
  return 'missing';
}

/** A finite number, base64 of numbers, or a list (of lists, for a vector per token) of finite numbers. */
function valueState(value: unknown): OutputState {
  if (typeof value === 'number') return Number.isFinite(value) ? 'usable' : 'junk';
  if (typeof value === 'string') return base64State(value);
  if (!Array.isArray(value)) return 'junk';
  let state: OutputState = 'missing';
  for (const item of value) {
    const found = typeof item === 'number' || Array.isArray(item) ? valueState(item) : 'junk';
    if (found === 'junk') return 'junk';
    if (found === 'usable') state = 'usable';
  }
  return state;
}

function base64State(text: string): OutputState {
  if (text === '') return 'missing';
  const bytes = decodeBase64(text);
  return bytes === null || bytes.length === 0 ? 'junk' : 'usable';
}
