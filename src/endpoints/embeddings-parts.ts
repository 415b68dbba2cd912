import { UsageError } from '../foundation/errors.ts';
import type { ChatMessage, ContentPart, Sample } from '../workloads/sample.ts';
import type { PreparedRequest, Target } from './endpoint.ts';
import { asObject, asText, type JsonObject } from './json-values.ts';
import { outputsAskedFor } from './pooling-outputs.ts';
import { chatMessages, jsonRequest, refuseMedia } from './request-parts.ts';

/** Asks the server to cut prompts at what the model takes, instead of refusing them. */
export const truncate = { truncate_prompt_tokens: -1 } as const;

/** A request whose reply must hold as many vectors or scores as its body, with all extra fields, asks for. */
export function poolingRequest(sample: Sample, target: Target, fields: JsonObject): PreparedRequest {
  return jsonRequest(sample, target, fields, (sent) => ({ outputs: outputsAskedFor(sent) }));
}

/** A request with the prompt, or the batch of prompts, as `input`. */
export function inputRequest(
  sample: Sample,
  target: Target,
  api: string,
  fields: Readonly<Record<string, unknown>>,
): PreparedRequest {
  refuseMedia(sample, api);
  return poolingRequest(sample, target, { model: target.model, input: sample.prompt, ...fields });
}

/** A request with the prompt and its media as the messages of a chat. */
export function messagesRequest(sample: Sample, target: Target): PreparedRequest {
  const messages: readonly ChatMessage[] = chatMessages(sample, 'The embeddings API');
  return poolingRequest(sample, target, { model: target.model, messages, ...truncate });
}

/** CLIP embeds a text or a picture, never both: beside a picture the text is empty. */
export function clipSample(sample: Sample): Sample {
  return sample.media.length > 0 ? { ...sample, prompt: '' } : sample;
}

/**
 * URL and modality of the one medium of a sample.
 * @throws UsageError where it has none, or several
 */
export function loneMedium(sample: Sample, api: string): { readonly url: string; readonly modality: string } {
  const [part, ...others] = sample.media;
  if (!part || others.length > 0)
    throw new UsageError(
      `${api} takes a prompt or one medium a request, and the dataset made one with ${sample.media.length} media and no text.`,
    );
  const url = urlOf(part);
  if (url === null)
    throw new UsageError(`${api}: a part of type ${part.type} without a URL can't be embedded.`);
  return { url, modality: part.type.split('_')[0] ?? part.type };
}

function urlOf(part: ContentPart): string | null {
  const field = part[part.type];
  return asText(field) ?? asText(asObject(field)?.url);
}
