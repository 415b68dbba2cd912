import { DuplexError, shown } from './duplex-error.ts';
import { strictBytes } from './input-audio.ts';

/** A part of an item, as it goes over the wire. */
export type ContentPart = { readonly type: string } & Readonly<Record<string, unknown>>;

export type ItemStatus = 'in_progress' | 'completed' | 'cancelled' | 'failed';

/** An item of the conversation, as it goes over the wire. */
export type ConversationItem = {
  readonly id: string;
  readonly object: 'realtime.item';
  readonly type: string;
  readonly status: ItemStatus;
  readonly role?: 'user' | 'assistant' | 'system';
  readonly content?: readonly ContentPart[];
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly output?: string;
};

/** Most items that a conversation holds. */
const mostItems = 4096;
const mostIdChars = 256;
/** Most text that a conversation holds, characters. */
const mostChars = 16 * 1024 * 1024;

function charsOf({ content, output, arguments: call, call_id: callId }: ConversationItem): number {
  const texts = (content ?? []).map(({ text }) => (typeof text === 'string' ? text.length : 0));
  return texts.reduce(
    (sum, chars) => sum + chars,
    (output?.length ?? 0) + (call?.length ?? 0) + (callId?.length ?? 0),
  );
}

/** The items of a conversation in order. What pictures hold is not kept. */
export class Conversation {
  readonly #items = new Map<string, ConversationItem>();
  #lastId: string | null = null;
  #chars = 0;

  get size(): number {
    return this.#items.size;
  }

  /** The item that the next one follows; `null` = none. */
  get lastId(): string | null {
    return this.#lastId;
  }

  /** @throws DuplexError where there is no room, or the id is taken */
  add(item: ConversationItem): void {
    if (this.#items.size >= mostItems)
      throw new DuplexError(
        'resource_exhausted',
        `A conversation holds ${mostItems} items at most; delete some with conversation.item.delete.`,
      );
    if (this.#items.has(item.id))
      throw new DuplexError('bad_event', `The item id ${item.id} is taken.`, 'item.id');
    if (this.#chars + charsOf(item) > mostChars)
      throw new DuplexError(
        'resource_exhausted',
        `A conversation holds ${mostChars} characters of text at most.`,
      );
    this.put(item);
  }

  /** Adds what the server itself says, for which there is always room; or sets how it ended. */
  put(item: ConversationItem): void {
    const held = this.#items.get(item.id);
    this.#chars += charsOf(item) - (held === undefined ? 0 : charsOf(held));
    this.#items.set(item.id, item);
    if (held === undefined) this.#lastId = item.id;
  }

  has(id: string): boolean {
    return this.#items.has(id);
  }

  /** @throws DuplexError where `item_id` is missing, or names nothing */
  find(event: Readonly<Record<string, unknown>>): ConversationItem {
    const { item_id: id } = event;
    if (typeof id !== 'string' || id === '')
      throw new DuplexError('missing_item_id', `${String(event.type)} needs "item_id".`, 'item_id');
    const item = this.#items.get(id);
    if (item === undefined)
      throw new DuplexError('item_not_found', `There is no item ${shown(id)}.`, 'item_id');
    return item;
  }

  delete(id: string): void {
    const item = this.#items.get(id);
    if (item === undefined) return;
    this.#chars -= charsOf(item);
    this.#items.delete(id);
    if (this.#lastId === id) this.#lastId = [...this.#items.keys()].at(-1) ?? null;
  }
}

const inputModalities = ['input_text', 'input_audio', 'input_image'];

function checkImage(part: Readonly<Record<string, unknown>>, param: string): void {
  const url = part.image_url;
  const text = typeof url === 'object' && url !== null && 'url' in url ? url.url : url;
  const data =
    typeof text === 'string' ? /^data:image\/(?:jpeg|png|webp);base64,(.+)$/s.exec(text)?.[1] : undefined;
  if (data === undefined || strictBytes(data) === null)
    throw new DuplexError('bad_event', `${param}.image_url must be a data:image/…;base64,… URL.`, param);
}

function partOf(part: unknown, param: string): ContentPart {
  if (typeof part !== 'object' || part === null || !('type' in part) || typeof part.type !== 'string')
    throw new DuplexError('bad_event', `${param} needs "type".`, param);
  const fields: Readonly<Record<string, unknown>> = { ...part };
  switch (part.type) {
    case 'input_text':
      if (typeof fields.text !== 'string')
        throw new DuplexError('bad_event', `${param} needs "text".`, param);
      return { type: 'input_text', text: fields.text };
    case 'input_image':
      checkImage(fields, param);
      return { type: 'input_image' };
    case 'input_audio':
      if (typeof fields.audio !== 'string' || strictBytes(fields.audio) === null)
        throw new DuplexError('bad_audio', `${param}.audio must be base64.`, param);
      return { type: 'input_audio', transcript: null };
    default:
      throw new DuplexError(
        'invalid_input_modality',
        `${param}: ${JSON.stringify(shown(part.type))} can't be put in; expected ${inputModalities.join(', ')}.`,
        param,
      );
  }
}

/**
 * An item that a client puts in.
 * @param freshId for one without an id
 * @throws DuplexError
 */
export function readItem(item: unknown, freshId: string): ConversationItem {
  if (typeof item !== 'object' || item === null || Array.isArray(item))
    throw new DuplexError('bad_event', 'conversation.item.create needs "item": an object.', 'item');
  const fields: Readonly<Record<string, unknown>> = { ...item };
  const { id = freshId } = fields;
  if (typeof id !== 'string' || id === '' || id.length > mostIdChars)
    throw new DuplexError(
      'bad_event',
      `item.id must be a text of 1 to ${mostIdChars} characters.`,
      'item.id',
    );
  if (fields.type === 'function_call_output') return functionCallOutput(id, fields);
  if (fields.type !== undefined && fields.type !== 'message')
    throw new DuplexError(
      'bad_event',
      `item.type ${shown(JSON.stringify(fields.type))} can't be put in; expected "message" or "function_call_output".`,
      'item.type',
    );
  if (fields.role !== undefined && fields.role !== 'user' && fields.role !== 'system')
    throw new DuplexError('bad_event', 'item.role must be "user" or "system".', 'item.role');
  const content = fields.content;
  if (!Array.isArray(content) || content.length === 0)
    throw new DuplexError('bad_event', 'item.content must be a list with at least one part.', 'item.content');
  return {
    id,
    object: 'realtime.item',
    type: 'message',
    role: fields.role ?? 'user',
    status: 'completed',
    content: content.map((part, index) => partOf(part, `item.content[${index}]`)),
  };
}

function functionCallOutput(id: string, fields: Readonly<Record<string, unknown>>): ConversationItem {
  const { call_id: callId, output } = fields;
  if (typeof callId !== 'string' || callId === '' || typeof output !== 'string')
    throw new DuplexError(
      'invalid_function_call_output',
      'A function_call_output needs "call_id" and "output", both texts.',
      'item',
    );
  return {
    id,
    object: 'realtime.item',
    type: 'function_call_output',
    status: 'completed',
    call_id: callId,
    output,
  };
}
