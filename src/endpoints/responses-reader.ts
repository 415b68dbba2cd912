import { type EventKind, EventLogBuilder, eventKinds } from '../records/event-log.ts';
import { type Failure, failure, type ReplyReader } from './http-reply.ts';
import { asArray, asObject, asText, type JsonObject } from './json-values.ts';
import { ReplyFacts, streamedError } from './reply-facts.ts';
import { ReplyText } from './reply-text.ts';

/** Deltas that tokens wrote, by their event type. */
const deltaKinds: Readonly<Record<string, EventKind>> = {
  'response.output_text.delta': eventKinds.text,
  'response.reasoning_text.delta': eventKinds.reasoning,
  'response.reasoning_summary_text.delta': eventKinds.reasoning,
  'response.function_call_arguments.delta': eventKinds.tool,
  'response.refusal.delta': eventKinds.refusal,
};

/** Reads a reply of the responses API: typed events of which one must end it, or one object. */
export class ResponsesReader implements ReplyReader {
  readonly events = new EventLogBuilder();
  readonly facts = new ReplyFacts();
  readonly #text = new ReplyText();
  #outputs = 0;
  #ended = false;
  #failure: Failure | null = null;

  get text(): string {
    return this.#text.toString();
  }

  onMessage(value: unknown, timeMs: number): void {
    const message = asObject(value);
    if (!message) return;
    const type = asText(message.type) ?? '';
    const kind = deltaKinds[type];
    if (kind !== undefined) {
      const delta = asText(message.delta) ?? '';
      if (kind === eventKinds.text) this.#text.append(delta);
      if (delta !== '') this.#outputs += 1;
      // Tokens of a delta are not told; the total comes with the last event.
      this.events.append(
        timeMs,
        delta === '' ? eventKinds.empty : kind,
        delta === '' ? null : 1,
        Buffer.byteLength(delta),
        null,
        0,
      );
      return;
    }
    this.#readState(type, message);
    this.events.append(timeMs, this.#ended ? eventKinds.usage : eventKinds.other, null, 0, null, 0);
  }

  onWhole(value: unknown, timeMs: number): void {
    const response = asObject(value) ?? {};
    if (!this.#failed(response)) this.#readResponse(response);
    this.#ended = true;
    for (const item of asArray(response.output)) this.#readItem(asObject(item) ?? {});
    this.events.append(timeMs, eventKinds.whole, null, Buffer.byteLength(this.text), null, 0);
  }

  verdict(): Failure | null {
    if (this.#failure) return this.#failure;
    if (this.#outputs === 0)
      return failure('empty', 'empty response: neither text, reasoning nor a tool call was received', {
        status: 200,
      });
    if (this.#ended) return null;
    return failure('malformed', 'the stream ended without response.completed', { status: 200 });
  }

  #readState(type: string, message: JsonObject): void {
    const response = asObject(message.response) ?? {};
    if (type === 'error') {
      const said = asText(message.message) ?? streamedError(message) ?? 'the stream carried an error event';
      this.#fail(said, message);
    } else if (type === 'response.failed')
      this.#fail(streamedError(response) ?? 'the response failed', message);
    else if (!this.#failed(message)) this.#readResponse(response);
    // A reply that reached its length limit is incomplete by name, and what was asked for.
    if (type === 'response.completed' || type === 'response.incomplete') this.#ended = true;
  }

  #readResponse(response: JsonObject): void {
    this.facts.read(response);
    const reason = asText(asObject(response.incomplete_details)?.reason);
    const status = asText(response.status);
    if (status === 'failed') this.#fail(streamedError(response) ?? 'the response failed', response);
    if (status === 'completed' || status === 'incomplete') this.facts.finishReason = reason ?? 'stop';
  }

  #readItem(item: JsonObject): void {
    for (const part of asArray(item.content)) {
      const text = asText(asObject(part)?.text);
      if (text === null || text === '') continue;
      this.#outputs += 1;
      if (asObject(part)?.type === 'output_text') this.#text.append(text);
    }
    if (item.type === 'function_call') this.#outputs += 1;
  }

  #failed(message: JsonObject): boolean {
    const error = streamedError(message);
    if (error !== null) this.#fail(error, message);
    return error !== null;
  }

  #fail(said: string, message: JsonObject): void {
    this.#failure ??= failure('stream_error', said, { status: 200, body: JSON.stringify(message) });
  }
}
