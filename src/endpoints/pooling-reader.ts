import { EventLogBuilder, eventKinds } from '../records/event-log.ts';
import type { Observation, ObserveContext, PreparedRequest } from './endpoint.ts';
import { type Failure, failure, type RawReader, type ReplyReader, readReply } from './http-reply.ts';
import { asArray, asObject, type JsonObject, positiveInteger } from './json-values.ts';
import { observationOf } from './observation.ts';
import { outputState } from './pooling-outputs.ts';
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
  readonly #asked: number | null;
  #rawBytes = 0;
  /** The vectors in a body of bytes, as its header describes them; `null` = it does not. */
  #described: readonly unknown[] | null = null;
  #usable = 0;
  #fault: string | null = null;
  #failure: Failure | null = null;

  /** @param asked vectors or scores that the request asks for; `null` = not known */
  constructor(asked: number | null) {
    this.#asked = asked;
  }

  onMessage(): void {
    this.#failure = failure('content_type', 'the reply is a stream of events, expected vectors or scores', {
      status: 200,
    });
  }

  onWhole(value: unknown, timeMs: number): void {
    // JSON under the type of bytes is JSON.
    this.#rawBytes = 0;
    const message = asObject(value) ?? {};
    const error = streamedError(message);
    if (error !== null)
      this.#failure = failure('stream_error', error, { status: 200, body: JSON.stringify(message) });
    this.facts.read(message);
    // Embeddings and pooling answer with `data`, rerank with `results`.
    const entries = [...asArray(message.data), ...asArray(message.results)];
    for (const [index, entry] of entries.entries()) {
      const state = outputState(entry);
      if (state === 'usable') this.#usable += 1;
      else if (state === 'junk')
        this.#fault ??= `entry ${index} of the reply is no vector and no score, expected finite numbers or base64`;
    }
    this.events.append(timeMs, eventKinds.whole, null, 0, null, 0);
  }

  verdict(): Failure | null {
    if (this.#failure) return this.#failure;
    if (this.#rawBytes > 0) return this.#verdictOnBytes();
    if (this.#fault !== null) return failure('malformed', this.#fault, { status: 200 });
    if (this.#usable === 0)
      return failure('empty', 'empty response: the reply holds neither vectors nor scores', { status: 200 });
    return this.#verdictOnCount(this.#usable);
  }

  #verdictOnBytes(): Failure | null {
    if (this.#described === null) return null;
    const ends = this.#described.map((entry) => positiveInteger(asObject(entry)?.end));
    const promised = Math.max(0, ...ends.map((end) => end ?? 0));
    if (promised > this.#rawBytes)
      return failure(
        'malformed',
        `the header metadata describes ${promised} bytes of vectors, ${this.#rawBytes} came`,
        { status: 200 },
      );
    return this.#verdictOnCount(this.#described.length);
  }

  #verdictOnCount(found: number): Failure | null {
    if (this.#asked === null || found >= this.#asked) return null;
    return failure(
      'malformed',
      `the reply holds ${found} of the ${this.#asked} vectors or scores asked for`,
      { status: 200 },
    );
  }

  /** With `encoding_format: "bytes"` the usage is in the header `metadata`, as JSON. */
  #begin(contentType: string, headers: ReadonlyMap<string, string>): boolean {
    const isBytes = contentType.startsWith('application/octet-stream') || headers.has('metadata');
    if (isBytes) {
      const metadata = jsonObject(headers.get('metadata'));
      this.facts.read(metadata);
      if (Array.isArray(metadata.data)) this.#described = metadata.data;
    }
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
  const reader = new PoolingReader(positiveInteger(prepared.reading.outputs));
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
