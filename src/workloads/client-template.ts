import { isCarried } from '../tokens/carried-id.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';
import { messageText } from './custom-row.ts';
import type { LoadContext } from './dataset.ts';
import type { ChatMessage } from './sample.ts';

/** Whether and how prompts get the chat template before they are sent, and one line that says so. */
export type ClientTemplate = {
  /** `null` where prompts go as they stand. */
  readonly apply: ((messages: readonly ChatMessage[]) => string) | null;
  /** Why it is so, for the user; `null` where there is nothing to say. */
  readonly reason: string | null;
};

function templateOf(tokenizer: Tokenizer, extra: Readonly<Record<string, unknown>>) {
  return (messages: readonly ChatMessage[]): string => {
    const plain = messages.map((message) => ({ ...message, content: messageText(message) }));
    return (
      tokenizer.renderChat(plain, { addGenerationPrompt: true, extra }) ??
      plain.map((m) => m.content).join('\n')
    );
  };
}

/**
 * Chat endpoints get messages, and the server applies its template; a second one on the client would wrap the
 * prompt twice. Endpoints whose model goes on with a text get the
 * template here, if it is the model's own; those that speak, draw or embed a text get it as it stands.
 */
export function clientTemplate(context: LoadContext): ClientTemplate {
  const { options, tokenizer, chatEndpoint, plainPrompts } = context;
  if (chatEndpoint || plainPrompts || options.skipChatTemplate) return { apply: null, reason: null };
  if (tokenizer === null)
    return { apply: null, reason: 'there is no tokenizer to take a chat template from' };
  if (isCarried(tokenizer))
    return {
      apply: null,
      reason: 'the carried vocabulary stands in for the model’s, whose chat template is not known',
    };
  if (tokenizer.renderChat([{ role: 'user', content: '' }], { extra: options.chatTemplateKwargs }) === null)
    return { apply: null, reason: `${tokenizer.id} has no chat template` };
  return { apply: templateOf(tokenizer, options.chatTemplateKwargs), reason: null };
}
