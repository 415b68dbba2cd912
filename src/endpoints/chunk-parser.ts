import { asArray, asObject } from './json-values.ts';

/** Longer texts are speech or whole answers: looking through them costs as much as parsing. */
const maxTextLength = 256;
/** How often in a row a chunk may be learnt and then never be seen again. */
const patience = 4;
/** Stands for the text while a chunk is learnt; no server sends it. */
const probe = 'omnimeter:learning';

/** A chunk with a gap where its text is. */
type Template = {
  /** Up to and with the quotation mark before the text. */
  readonly before: string;
  /** From the quotation mark behind the text. */
  readonly after: string;
  readonly message: unknown;
  readonly place: TextPlace;
};

/** Where a message keeps its text. */
type TextPlace = { readonly holder: Record<string, unknown>; readonly key: 'content' | 'text' };

/**
 * Parses the messages of one stream, as `JSON.parse` would. In most streams a chunk differs from the one before only in
 * its text: it then costs two comparisons, and no parse and no new objects.
 */
export class ChunkParser {
  #template: Template | null = null;
  #patience = patience;

  /**
   * @returns the message, valid until the next call: the same object is returned again where only its text is new
   * @throws SyntaxError as `JSON.parse` does
   */
  parse(data: string): unknown {
    const template = this.#template;
    if (template !== null) {
      const text = textBetween(data, template);
      if (text !== null) {
        this.#patience = patience;
        template.place.holder[template.place.key] = text;
        return template.message;
      }
    }
    const message: unknown = JSON.parse(data);
    if (this.#patience > 0) this.#learn(data, message);
    return message;
  }

  #learn(data: string, message: unknown): void {
    const text = textOf(textPlace(message));
    if (text === null || text.length > maxTextLength) return;
    this.#patience -= 1;
    this.#template = templateOf(data, text) ?? this.#template;
  }
}

/** The text where all but the text is as in the template, else `null`. */
function textBetween(data: string, { before, after }: Template): string | null {
  const length = data.length - before.length - after.length;
  if (length < 0 || length > maxTextLength) return null;
  if (data.slice(0, before.length) !== before || data.slice(data.length - after.length) !== after)
    return null;
  const text = data.slice(before.length, before.length + length);
  return isPlain(text) ? text : unescaped(text);
}

/** Whether the inside of a JSON string stands for itself. */
function isPlain(text: string): boolean {
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (unit < 32 || unit === 34 || unit === 92) return false;
  }
  return true;
}

function unescaped(text: string): string | null {
  try {
    const value: unknown = JSON.parse(`"${text}"`);
    return typeof value === 'string' ? value : null;
  } catch {
    return null;
  }
}

/** Takes the chunk for a template if its text can be found in it beyond doubt. */
function templateOf(data: string, text: string): Template | null {
  const quoted = JSON.stringify(text);
  for (let at = data.indexOf(quoted); at !== -1; at = data.indexOf(quoted, at + 1)) {
    const before = data.slice(0, at + 1);
    const after = data.slice(at + quoted.length - 1);
    const message = parsedOrNull(`${before}${probe}${after}`);
    const place = textPlace(message);
    if (place !== null && textOf(place) === probe) return { before, after, message, place };
  }
  return null;
}

function parsedOrNull(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return null;
  }
}

function textPlace(message: unknown): TextPlace | null {
  const choice = mutable(asArray(asObject(message)?.choices)[0]);
  const delta = mutable(choice?.delta);
  if (delta !== null && typeof delta.content === 'string') return { holder: delta, key: 'content' };
  return choice !== null && typeof choice.text === 'string' ? { holder: choice, key: 'text' } : null;
}

function textOf(place: TextPlace | null): string | null {
  const text = place?.holder[place.key];
  return typeof text === 'string' && text !== '' ? text : null;
}

function mutable(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}
