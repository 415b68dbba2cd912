import { EventLogBuilder, eventKinds } from '../records/event-log.ts';
import type { Observation, ObserveContext, PreparedRequest } from './endpoint.ts';
import { type Failure, failure, type RawReader, type ReplyReader, readReply } from './http-reply.ts';
import { asArray, asObject, type JsonObject } from './json-values.ts';
import { observationOf } from './observation.ts';
import { ReplyFacts, streamedError } from './reply-facts.ts';

/** Reads a reply of vectors or scores: JSON, or bytes whose description stands in a header. */
class PoolingReader implements ReplyReader {
  readonly events = new EventLogBuilder();
  readonly facts = new ReplyFacts();
  readonly raw: RawReader = {
    begin: (contentType, headers) => this.#begin(contentType, headers),
    onBytes: (bytes) => {
      this.#rawBytes += bytes.length;
    },
  };
  #rawBytes = 0;
  #results = 0;
  #failure: Failure | null = null;

  onMessage(): void {
    this.#failure = failure('content_type', 'the reply is a stream of events, expected vectors or scores', {
      status: 200,
    });
  }

  onWhole(value: unknown, timeMs: number): void {
    const message = asObject(value) ?? {};
    const error = streamedError(message);
    if (error !== null)
      this.#failure = failure('stream_error', error, { status: 200, body: JSON.stringify(message) });
    this.facts.read(message);
    // Embeddings and pooling answer with `data`, rerank with `results`.
    this.#results = Math.max(asArray(message.data).length, asArray(message.results).length);
    this.events.append(timeMs, eventKinds.whole, null, 0, null, 0);
  }

  verdict(): Failure | null {
    if (this.#failure) return this.#failure;
    if (this.#results > 0 || this.#rawBytes > 0) return null;
    return failure('empty', 'empty response: the reply holds neither vectors nor scores', { status: 200 });
  }

  /** With `encoding_format: "bytes"` the usage is in the header `metadata`, as JSON. */
  #begin(contentType: string, headers: ReadonlyMap<string, string>): boolean {
    const isBytes = contentType.startsWith('application/octet-stream') || headers.has('metadata');
    if (isBytes) this.facts.read(jsonObject(headers.get('metadata')));
    return isBytes;
  }
}

function jsonObject(text: string | undefined): JsonObject {
  if (text === undefined) return {};
  try {
    return asObject(JSON.parse(text)) ?? {};
  } catch {
    // Without a readable description the vectors are still there; the prompt's length is then the client's own.
    return {};
  }
}

/** Sends a pooling request and watches it; its latency ends with the body. */
export async function observePooling(
  prepared: PreparedRequest,
  context: ObserveContext,
): Promise<Observation> {
  const reader = new PoolingReader();
  const { attempt, outcome } = await readReply(prepared, context, reader);
  return observationOf({
    attempts: [attempt],
    outcome,
    events: reader.events,
    facts: reader.facts,
    text: '',
    outputTokens: null,
    outputTokensSource: null,
  });
}
