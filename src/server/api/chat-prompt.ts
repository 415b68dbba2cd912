import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ChatMessage } from '../../protocol/chat-completions.ts';
import type { MediaReference } from '../engine/stage-task.ts';
import type { ApiContext } from './api-context.ts';
import { clipReference, referenceFromUrl } from './media-reference.ts';
import { decodeBase64 } from './media-source.ts';
import { countPromptTokens } from './prompt-tokens.ts';
import { RequestError } from './request-error.ts';

type ContentPart = Exclude<ChatMessage['content'], string | null | undefined>[number];
type MediaPart = Exclude<ContentPart, { type: 'text' }>;

/** What the messages of a chat hold. */
export type ChatPrompt = {
  /** Of the rendered prompt. */
  readonly tokens: number;
  /** All texts, a line each. */
  readonly text: string;
  readonly media: readonly MediaReference[];
};

const kinds = {
  image_url: 'image',
  audio_url: 'audio',
  input_audio: 'audio',
  video_url: 'video',
} as const satisfies Record<MediaPart['type'], MediaReference['kind']>;

/** Counts the media of a prompt against the model's limits. */
class MediaCount {
  readonly #context: ApiContext;
  readonly #counts = { image: 0, audio: 0, video: 0 };

  constructor(context: ApiContext) {
    this.#context = context;
  }

  /** @throws RequestError 400 for a part that is one too many, or of a kind that the model does not take */
  add(part: MediaPart, param: string): void {
    const { pipeline } = this.#context;
    if (pipeline.mediaPartTokens === null)
      throw new RequestError(400, `This model takes text only; ${part.type} is not supported.`, param);
    const kind = kinds[part.type];
    this.#counts[kind] += 1;
    const most = pipeline.limitMmPerPrompt[kind];
    if (most !== null && this.#counts[kind] > most)
      throw new RequestError(400, `At most ${most} ${kind}(s) may be provided in one prompt.`, param);
  }
}

function readPart(part: MediaPart, param: string, context: ApiContext): Promise<MediaReference> {
  switch (part.type) {
    case 'image_url':
      return referenceFromUrl('image', part.image_url.url, `${param}.image_url.url`, context);
    case 'audio_url':
      return referenceFromUrl('audio', part.audio_url.url, `${param}.audio_url.url`, context);
    case 'video_url':
      return referenceFromUrl('video', part.video_url.url, `${param}.video_url.url`, context);
    case 'input_audio': {
      const place = `${param}.input_audio.data`;
      return clipReference(
        'audio',
        decodeBase64(part.input_audio.data, place, context.limits.mediaBytes),
        place,
        context,
      );
    }
  }
}

/** Texts counted in one turn of the event loop. */
const partsPerTurn = 256;
/** Most messages and parts of one chat: reading more would stop the other requests for a second. */
const mostItems = 16_384;

/**
 * Looks at the lengths of a chat's lists before they are read.
 * @throws RequestError 400
 */
export function checkChatLength(body: unknown): void {
  const messages = typeof body === 'object' && body !== null && 'messages' in body ? body.messages : null;
  if (!Array.isArray(messages)) return;
  let items = messages.length;
  for (const message of messages) {
    const content: unknown =
      typeof message === 'object' && message !== null && 'content' in message ? message.content : null;
    if (Array.isArray(content)) items += content.length;
  }
  if (items <= mostItems) return;
  throw new RequestError(
    400,
    `messages: ${items} messages and parts; at most ${mostItems} are taken in one request.`,
    'messages',
  );
}

/** Who may speak in a chat. */
const roles = ['developer', 'system', 'user', 'assistant', 'tool', 'function'];

/** A call, a refusal or earlier speech takes the place of an assistant's words; a function's result may be empty. */
function mayHaveNoContent(message: ChatMessage): boolean {
  if (message.role === 'function') return true;
  if (message.role !== 'assistant') return false;
  const given = [message.tool_calls, message.function_call, message.refusal, message.audio];
  return given.some((value) => (Array.isArray(value) ? value.length > 0 : (value ?? null) !== null));
}

/** @throws RequestError 400 for a speaker that there is not, and for a message without content that needs some */
export function checkMessages(messages: readonly ChatMessage[], field = 'messages'): void {
  for (const [index, message] of messages.entries()) {
    const place = `${field}.${index}`;
    if (!roles.includes(message.role))
      throw new RequestError(
        400,
        `${place}.role: ${JSON.stringify(message.role.slice(0, 100))} is none of ${roles.join(', ')}.`,
        `${place}.role`,
      );
    if ((message.content ?? null) === null && !mayHaveNoContent(message))
      throw new RequestError(
        400,
        `${place}.content: expected a text or a list of parts; only an assistant's message with tool_calls may ` +
          'have none.',
        `${place}.content`,
      );
  }
}

/**
 * Reads the messages: counts their tokens, and fetches and checks their media.
 * @throws RequestError 400 for media that are missing, broken, too large or too many
 */
export async function readChatPrompt(
  messages: readonly ChatMessage[],
  context: ApiContext,
): Promise<ChatPrompt> {
  const { maxModelLen, chatTemplateTokens } = context.pipeline;
  const { perMessage, generationPrompt } = chatTemplateTokens;
  const counted = new MediaCount(context);
  const texts: string[] = [];
  const media: MediaReference[] = [];
  let tokens = generationPrompt;
  for (const [index, { content }] of messages.entries()) {
    tokens += perMessage;
    const parts = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : (content ?? []);
    for (const [at, part] of parts.entries()) {
      if (part.type === 'text') {
        texts.push(part.text);
        // Thousands of short ones take as long as one long one.
        if (texts.length % partsPerTurn === 0) await nextTurn();
        tokens += await countPromptTokens(part.text, context.countTokens, maxModelLen - tokens);
        continue;
      }
      const param = `messages.${index}.content.${at}`;
      counted.add(part, param);
      media.push(await readPart(part, param, context));
      tokens += context.pipeline.mediaPartTokens ?? 0;
    }
  }
  return { tokens, text: texts.join('\n'), media };
}
