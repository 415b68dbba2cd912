import { crc32 } from 'node:zlib';
import type { PreparedRequest } from '../endpoints/endpoint.ts';

/** What the engine must know of a request beside what goes over the wire. */
export type RequestFacts = {
  readonly requestId: string | null;
  readonly plannedPromptTokens: number | null;
  readonly expectedOutputTokens: number | null;
  readonly inputAudioDurationS: number | null;
};

export type PlannedRequest = { readonly prepared: PreparedRequest; readonly facts: RequestFacts };

/** Everything of a request but its body, id and what was said of it; requests of a run share a few of these. */
type Shape = Omit<PreparedRequest, 'body' | 'notes'>;

/** All requests of a phase in a form that threads share: bodies in shared memory, the rest as small columns. */
export type PackedRequests = {
  readonly count: number;
  /** Bodies one after the other; none lies across two segments. */
  readonly segments: readonly SharedArrayBuffer[];
  /** Where each body stands; requests that were prepared as one (probes, repeated warm-ups) share it. */
  readonly segmentOf: Uint32Array;
  readonly starts: Float64Array;
  readonly ends: Float64Array;
  readonly shapes: readonly Shape[];
  readonly shapeOf: Uint32Array;
  readonly facts: readonly RequestFacts[];
};

const requestIdHeader = 'x-request-id';
/** Segments double from the one to the other, bytes; a body that is larger has one of its own. */
const smallestSegment = 64 * 1024;
const largestSegment = 16 * 1024 * 1024;

/** From this size on a body is looked for among those before it: media that are sent again and again lie there once. */
const largeBody = 64 * 1024;

/** Where a body lies. */
type Extent = { readonly segment: number; readonly start: number; readonly end: number };
/** Where a request lies in the table. */
type Place = Extent & { readonly shape: number };

/**
 * Packs requests as they are prepared, so that nobody has to hold them all: with prompts of pages, or media, they are
 * the largest thing that a run has in memory.
 */
export class RequestPacker {
  readonly #segments: SharedArrayBuffer[] = [];
  #used = 0;
  readonly #places: Place[] = [];
  readonly #facts: RequestFacts[] = [];
  readonly #shapes: Shape[] = [];
  readonly #shapeIndex = new Map<string, number>();
  readonly #known = new WeakMap<PreparedRequest, Place>();
  /** Large bodies by length and checksum. */
  readonly #large = new Map<string, Extent>();

  add({ prepared, facts }: PlannedRequest): void {
    let place = this.#known.get(prepared);
    if (place === undefined) {
      place = { ...this.#placeBody(prepared.body), shape: this.#shapeOf(prepared) };
      this.#known.set(prepared, place);
    }
    this.#places.push(place);
    this.#facts.push(facts);
  }

  pack(): PackedRequests {
    const places = this.#places;
    return {
      count: places.length,
      segments: this.#segments,
      segmentOf: Uint32Array.from(places, ({ segment }) => segment),
      starts: Float64Array.from(places, ({ start }) => start),
      ends: Float64Array.from(places, ({ end }) => end),
      shapes: this.#shapes,
      shapeOf: Uint32Array.from(places, ({ shape }) => shape),
      facts: this.#facts,
    };
  }

  #placeBody(body: Uint8Array): Extent {
    if (body.byteLength < largeBody) return this.#append(body);
    const key = `${body.byteLength}:${crc32(body)}`;
    const known = this.#large.get(key);
    if (known !== undefined && this.#holds(known, body)) return known;
    const extent = this.#append(body);
    this.#large.set(key, extent);
    return extent;
  }

  #holds({ segment, start, end }: Extent, body: Uint8Array): boolean {
    const memory = this.#segments[segment];
    return memory !== undefined && Buffer.from(memory, start, end - start).equals(body);
  }

  #append(body: Uint8Array): Extent {
    let last = this.#segments.at(-1);
    if (last === undefined || this.#used + body.byteLength > last.byteLength) {
      const next = Math.min(largestSegment, last === undefined ? smallestSegment : last.byteLength * 2);
      last = new SharedArrayBuffer(Math.max(next, body.byteLength));
      this.#segments.push(last);
      this.#used = 0;
    }
    const start = this.#used;
    this.#used += body.byteLength;
    new Uint8Array(last, start, body.byteLength).set(body);
    return { segment: this.#segments.length - 1, start, end: this.#used };
  }

  #shapeOf(prepared: PreparedRequest): number {
    const { body: _body, notes: _notes, ...rest } = prepared;
    const shape: Shape = {
      ...rest,
      headers: rest.headers.filter(([name]) => name.toLowerCase() !== requestIdHeader),
    };
    const key = JSON.stringify(shape);
    const known = this.#shapeIndex.get(key);
    if (known !== undefined) return known;
    const at = this.#shapes.push(shape) - 1;
    this.#shapeIndex.set(key, at);
    return at;
  }
}

export function packRequests(requests: Iterable<PlannedRequest>): PackedRequests {
  const packer = new RequestPacker();
  for (const request of requests) packer.add(request);
  return packer.pack();
}

/** One request of a packed phase; its body is a view of shared memory. */
export function unpackRequest(packed: PackedRequests, index: number): PlannedRequest {
  const shape = packed.shapes[packed.shapeOf[index] ?? -1];
  const facts = packed.facts[index];
  const segment = packed.segments[packed.segmentOf[index] ?? -1];
  const start = packed.starts[index];
  const end = packed.ends[index];
  if (!shape || !facts || !segment || start === undefined || end === undefined)
    throw new Error(`request ${index} is not in the phase`);
  const headers =
    facts.requestId === null
      ? shape.headers
      : [...shape.headers, [requestIdHeader, facts.requestId] as const];
  return { prepared: { ...shape, headers, body: Buffer.from(segment, start, end - start) }, facts };
}
