import { EventLogBuilder, eventKinds } from '../records/event-log.ts';
import type { Endpoint, Observation, ObserveContext, PreparedRequest, Target } from './endpoint.ts';
import { type Failure, failure, type ReplyReader, readReply } from './http-reply.ts';
import { asArray, asObject, type JsonObject, positiveInteger } from './json-values.ts';
import { observationOf } from './observation.ts';
import { ReplyFacts, streamedError } from './reply-facts.ts';
import { ReplyText } from './reply-text.ts';
import { jsonRequest, promptText, refuseMedia } from './request-parts.ts';
import { TokenCounter } from './token-counter.ts';

/** Reads a completions reply: every choices chunk is a token event, the usage chunk gives the total. */
class CompletionReader implements ReplyReader {
  readonly events = new EventLogBuilder();
  readonly facts = new ReplyFacts();
  readonly #counter = new TokenCounter();
  readonly #text = new ReplyText();
  #choices = 0;
  #failure: Failure | null = null;
  /** When the same object comes again, only its text is new. */
  #lastRead: JsonObject | null = null;

  get text(): string {
    return this.#text.toString();
  }

  onMessage(value: unknown, timeMs: number): void {
    const message = asObject(value);
    if (!message) return;
    if (message !== this.#lastRead) {
      const error = streamedError(message);
      if (error !== null) {
        this.#failure ??= failure('stream_error', error, { status: 200, body: JSON.stringify(message) });
        this.events.append(timeMs, eventKinds.other, null, 0, null, 0);
        return;
      }
      this.facts.read(message);
      this.#lastRead = message;
    }
    const choice = asObject(asArray(message.choices)[0]);
    if (!choice) {
      this.events.append(timeMs, message.usage ? eventKinds.usage : eventKinds.other, null, 0, null, 0);
      return;
    }
    this.#choices += 1;
    if (typeof choice.finish_reason === 'string') this.facts.finishReason = choice.finish_reason;
    const text = typeof choice.text === 'string' ? choice.text : '';
    const tokens = this.#counter.count(message, choice, text !== '');
    const kind = text === '' ? eventKinds.empty : eventKinds.text;
    this.events.append(timeMs, kind, tokens, this.#text.append(text), null, 0);
  }

  onWhole(value: unknown, timeMs: number): void {
    const message = asObject(value) ?? {};
    const error = streamedError(message);
    if (error !== null)
      this.#failure = failure('stream_error', error, { status: 200, body: JSON.stringify(message) });
    this.facts.read(message);
    for (const choice of asArray(message.choices)) {
      this.#choices += 1;
      const text = asObject(choice)?.text;
      if (typeof text === 'string') this.#text.append(text);
      const reason = asObject(choice)?.finish_reason;
      if (typeof reason === 'string') this.facts.finishReason = reason;
    }
    this.events.append(timeMs, eventKinds.whole, null, Buffer.byteLength(this.text), null, 0);
  }

  finished(): boolean {
    return this.facts.finishReason !== null;
  }

  verdict(): Failure | null {
    if (this.#failure) return this.#failure;
    if (this.#choices > 0) return null;
    return failure('empty', 'empty response: never received a chunk with choices, so there is no TTFT', {
      status: 200,
    });
  }
}

async function observe(prepared: PreparedRequest, context: ObserveContext): Promise<Observation> {
  const reader = new CompletionReader();
  const result = await readReply(prepared, context, reader);
  const output = positiveInteger(reader.facts.usage?.completion_tokens);
  return observationOf({
    attempts: [result.attempt],
    outcome: result.outcome,
    events: reader.events,
    facts: reader.facts,
    text: reader.text,
    outputTokens: output,
    outputTokensSource: output === null ? null : 'usage',
  });
}

function prepare(sample: Parameters<Endpoint['prepare']>[0], target: Target): PreparedRequest {
  refuseMedia(sample, 'The completions API');
  return jsonRequest(sample, target, {
    model: target.model,
    prompt: promptText(sample, 'The completions API'),
    max_tokens: sample.expectedOutputTokens ?? undefined,
    logprobs: target.logprobs ?? undefined,
    stream: target.stream,
    stream_options: target.stream ? { include_usage: true } : undefined,
  });
}

function completions(name: string): Endpoint {
  return {
    name,
    doc: 'Text completions, streamed: POST /v1/completions with the prompt as text.',
    apiName: 'OpenAI Completions API',
    defaultPath: '/v1/completions',
    urlSuffixes: ['completions'],
    task: 'generation',
    prompts: 'continued',
    samplingParameters: true,
    traits: { name, itl: 'chunk_gap', latencyEnd: 'last_choice', output: 'text' },
    prepare,
    observe,
  };
}

export const openaiCompletions = completions('openai');
/** The same dialect under the name that vLLM's own benchmark gives it. */
export const vllmCompletions = completions('vllm');
