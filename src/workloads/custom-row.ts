import { isRow, shown, wrongField } from './row-value.ts';
import type { ChatMessage } from './sample.ts';

/** A row of a custom dataset: a prompt, or whole messages. */
export type CustomRow = {
  readonly content:
    | { readonly kind: 'prompt'; readonly prompt: string }
    | { readonly kind: 'messages'; readonly messages: readonly ChatMessage[] };
  /** `null` where the row states none. */
  readonly outputTokens: number | null;
};

function isMessage(value: unknown): value is ChatMessage {
  if (!isRow(value) || typeof value.role !== 'string') return false;
  const { content } = value;
  if (typeof content === 'string') return true;
  return Array.isArray(content) && content.every((part) => isRow(part) && typeof part.type === 'string');
}

/** The row, or what is wrong with it. */
export function parseCustomRow(
  value: unknown,
  options: { readonly needsOutputTokens: boolean },
): CustomRow | string {
  if (!isRow(value))
    return `the row is ${shown(value)}, expected an object. Fix the row or pass --skip-invalid.`;
  const { prompt, messages, output_tokens: output } = value;
  const isCount = typeof output === 'number' && Number.isInteger(output) && output > 0;
  if (options.needsOutputTokens && !isCount)
    return wrongField('output_tokens', output, 'a whole number > 0, because --custom-output-len is -1');
  const outputTokens = isCount ? output : null;
  if (typeof prompt === 'string' && prompt !== '')
    return { content: { kind: 'prompt', prompt }, outputTokens };
  if (prompt !== undefined) return wrongField('prompt', prompt, 'text that is not empty');
  if (messages === undefined) return wrongField('prompt', prompt, 'text (or "messages", a list)');
  if (!Array.isArray(messages) || messages.length === 0)
    return wrongField('messages', messages, 'a list of messages');
  const wrong = messages.findIndex((message) => !isMessage(message));
  if (wrong >= 0)
    return wrongField(
      `messages[${wrong}]`,
      messages[wrong],
      'an object with "role" and "content" (text or parts)',
    );
  return { content: { kind: 'messages', messages: messages.filter(isMessage) }, outputTokens };
}

/** A message's text; parts that are not text have none. */
export function messageText({ content }: ChatMessage): string {
  if (typeof content === 'string') return content;
  return content.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n');
}
