import type { Template } from '@huggingface/jinja';
import { InputFileError, messageOf } from '../foundation/errors.ts';

/** A model's chat template, compiled on first use. */
export type ChatTemplate = {
  /** @throws InputFileError where the template does not parse or refuses the messages */
  render(variables: Readonly<Record<string, unknown>>): string;
};

/**
 * @param owner whose template it is, for error messages
 * @param source the Jinja text
 */
export async function chatTemplate(owner: string, source: string): Promise<ChatTemplate> {
  // Lazy, because only runs that template on the client need an interpreter at start-up.
  const { Template: Engine } = await import('@huggingface/jinja');
  let compiled: Template | null = null;
  return {
    render: (variables) => {
      try {
        compiled ??= new Engine(source);
        return compiled.render({ ...variables });
      } catch (cause) {
        throw new InputFileError(
          `The chat template of ${owner} could not be rendered: ${messageOf(cause)}. ` +
            'Pass --skip-chat-template to send prompts as they stand.',
          { cause },
        );
      }
    },
  };
}
