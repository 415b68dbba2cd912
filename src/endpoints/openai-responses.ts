import { UsageError } from '../foundation/errors.ts';
import type { ContentPart, Sample } from '../workloads/sample.ts';
import type { Endpoint, Observation, ObserveContext, PreparedRequest, Target } from './endpoint.ts';
import { readReply } from './http-reply.ts';
import { asObject, asText, positiveInteger } from './json-values.ts';
import { observationOf } from './observation.ts';
import { chatMessages, jsonRequest, promptText } from './request-parts.ts';
import { ResponsesReader } from './responses-reader.ts';

const api = 'The responses API';

function prepare(sample: Sample, target: Target): PreparedRequest {
  const plain = !sample.chatMessages && sample.media.length === 0;
  return jsonRequest(sample, target, {
    model: target.model,
    input: plain ? promptText(sample, api) : inputItems(sample),
    max_output_tokens: sample.expectedOutputTokens ?? undefined,
    stream: target.stream,
  });
}

/** Chat messages in this API's terms. */
function inputItems(sample: Sample): unknown[] {
  return chatMessages(sample, api).map((message) => ({
    ...message,
    content: typeof message.content === 'string' ? message.content : message.content.map(inputPart),
  }));
}

function inputPart(part: ContentPart): unknown {
  if (part.type === 'text') return { type: 'input_text', text: part.text };
  const url = asText(part.image_url) ?? asText(asObject(part.image_url)?.url);
  if (url !== null) return { type: 'input_image', image_url: url };
  if (part.type.startsWith('input_')) return part;
  throw new UsageError(`${api} takes text and images, and the dataset brings a part of type ${part.type}.`);
}

async function observe(prepared: PreparedRequest, context: ObserveContext): Promise<Observation> {
  const reader = new ResponsesReader();
  const { attempt, outcome } = await readReply(prepared, context, reader);
  const output = positiveInteger(reader.facts.usage?.output_tokens);
  return observationOf({
    attempts: [attempt],
    outcome,
    events: reader.events,
    facts: reader.facts,
    text: reader.text,
    outputTokens: output,
    outputTokensSource: output === null ? null : 'usage',
  });
}

/** The responses API: text and reasoning deltas are token events, latency ends with the last of them. */
export const openaiResponses: Endpoint = {
  name: 'openai-responses',
  doc: 'Responses, streamed: POST /v1/responses. A stream must end with response.completed.',
  apiName: 'OpenAI Responses API',
  defaultPath: '/v1/responses',
  urlSuffixes: ['responses'],
  task: 'generation',
  prompts: 'messages',
  samplingParameters: true,
  refusedSampling: ['min_p'],
  traits: { name: 'openai-responses', itl: 'chunk_gap', latencyEnd: 'last_choice', output: 'text' },
  prepare,
  observe,
};
