import { EventLogBuilder, eventKinds } from '../records/event-log.ts';
import type { ImageFacts } from '../records/request-record.ts';
import type { Observation, ObserveContext, PreparedRequest } from './endpoint.ts';
import { type Failure, failure, type ReplyReader, readReply } from './http-reply.ts';
import { type ImagePayload, readImages } from './image-payload.ts';
import { ImageTally } from './image-tally.ts';
import { asArray, asObject, asText, type JsonObject } from './json-values.ts';
import { observationOf } from './observation.ts';
import { OutputTotal } from './output-total.ts';
import { generationMsOf, ReplyFacts, streamedError } from './reply-facts.ts';
import { ReplyText } from './reply-text.ts';

/** Reads an image reply: one JSON object, or the events of a pipeline that writes text before it draws. */
class ImageReader implements ReplyReader {
  readonly events = new EventLogBuilder();
  readonly facts = new ReplyFacts();
  readonly total = new OutputTotal(true);
  /** Everything that claims to be an image. */
  readonly items: unknown[] = [];
  /** When a reply that came whole was read and parsed: its end, ms, and what parsing took. */
  whole: { readonly endMs: number; readonly parseMs: number } | null = null;
  readonly #text = new ReplyText();
  #generationMs: number | null = null;
  #failure: Failure | null = null;

  get text(): string {
    return this.#text.toString();
  }

  /** Generation time over all image messages of a stream, ms. */
  get generationMs(): number | null {
    return this.#generationMs;
  }

  onMessage(value: unknown, timeMs: number): void {
    const message = asObject(value);
    if (!message) return;
    if (this.#failed(message)) {
      this.events.append(timeMs, eventKinds.other, null, 0, null, 0);
      return;
    }
    this.facts.read(message);
    if (message.type === 'ar_delta') {
      this.total.read(message);
      const delta = asText(message.delta) ?? '';
      this.#text.append(delta);
      const kind = delta === '' ? eventKinds.empty : eventKinds.text;
      this.events.append(timeMs, kind, null, Buffer.byteLength(delta), null, 0);
    } else if (message.type === 'image') this.#imageMessage(message, timeMs);
    else this.events.append(timeMs, message.usage ? eventKinds.usage : eventKinds.other, null, 0, null, 0);
  }

  onWhole(value: unknown, endMs: number, parseMs: number): void {
    const message = asObject(value);
    if (!message) {
      this.#failure = failure('malformed', 'HTTP 200 response did not contain a JSON object', {
        status: 200,
      });
      return;
    }
    if (this.#failed(message)) return;
    this.facts.read(message);
    this.items.push(...asArray(message.data));
    this.whole = { endMs, parseMs };
  }

  verdict(): Failure | null {
    return this.#failure;
  }

  #imageMessage(message: JsonObject, timeMs: number): void {
    const items = asArray(message.data);
    this.items.push(...items);
    const times = [message, ...items].map((each) => generationMsOf(asObject(each)?.stage_durations));
    const generationMs = times.find((each) => each !== null) ?? null;
    if (generationMs !== null) this.#generationMs = (this.#generationMs ?? 0) + generationMs;
    let bytes = 0;
    for (const item of items) bytes += Buffer.byteLength(asText(asObject(item)?.b64_json) ?? '', 'base64');
    this.events.append(timeMs, eventKinds.image, null, bytes, null, 0);
  }

  #failed(message: JsonObject): boolean {
    const error = streamedError(message);
    if (error === null) return false;
    this.#failure ??= failure('stream_error', error, { status: 200, body: JSON.stringify(message) });
    return true;
  }
}

/**
 * Sends an image request and watches it. The latency of a reply that comes whole ends when its body has been read and
 * parsed and its first image decoded (vLLM-Omni PR #4728): the end of the body plus the time that this reply's own
 * parsing and decoding took. Waiting behind other replies in the client is not part of it, so that replies that come
 * at once do not lengthen each other.
 */
export async function observeImages(
  prepared: PreparedRequest,
  context: ObserveContext,
): Promise<Observation> {
  const reader = new ImageReader();
  const { attempt, outcome, proof } = await readReply(prepared, context, reader);
  const payload = outcome.ok ? await readImages(reader.items) : null;
  const { whole } = reader;
  let endMs = attempt.endMs;
  if (payload && whole) {
    endMs = whole.endMs + whole.parseMs + payload.decodeMs;
    reader.events.append(endMs, eventKinds.image, null, payload.bytes, null, 0);
  }
  const { tokens, source } = reader.total.of(reader.facts.stages);
  return observationOf({
    attempts: [{ ...attempt, endMs: Math.max(endMs, attempt.endMs) }],
    outcome: payload?.count === 0 ? withoutImage(payload, reader, proof()) : outcome,
    events: reader.events,
    facts: reader.facts,
    text: reader.text,
    // Pictures alone have no output tokens, whatever an engine counts of its own.
    outputTokens: reader.text === '' ? null : tokens,
    outputTokensSource: reader.text === '' ? null : source,
    image: payload && imageFactsOf(payload, reader),
  });
}

function withoutImage(payload: ImagePayload, reader: ImageReader, body: string): Failure {
  const what = reader.whole ? 'response' : 'stream';
  const message = `HTTP 200 ${what} did not contain a valid image payload`;
  return failure('empty', `${message}${brokenItems(payload)}`, { status: 200, body });
}

function brokenItems({ broken, undecoded }: ImagePayload): string {
  const reasons = [
    ...(undecoded > 0 ? [`the base64 of ${undecoded} items is cut or broken`] : []),
    ...(broken > undecoded ? [`${broken - undecoded} items hold no image that decodes`] : []),
  ];
  return reasons.length === 0 ? '' : ` (${reasons.join(', ')})`;
}

function imageFactsOf(payload: ImagePayload, reader: ImageReader): ImageFacts | null {
  const tally = new ImageTally();
  tally.addReadable(payload);
  tally.addGenerationMs(
    reader.generationMs ?? payload.generationMs ?? generationMsOf(reader.facts.stageDurations),
  );
  return tally.facts(reader.facts.stages);
}
