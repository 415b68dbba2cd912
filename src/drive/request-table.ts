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

/** All requests of a phase in a form that threads share: bodies in one shared buffer, the rest as small columns. */
export type PackedRequests = {
  readonly count: number;
  readonly bodies: SharedArrayBuffer;
  /** Where each body stands; requests that were prepared as one (probes, repeated warm-ups) share it. */
  readonly starts: Float64Array;
  readonly ends: Float64Array;
  readonly shapes: readonly Shape[];
  readonly shapeOf: Uint32Array;
  readonly facts: readonly RequestFacts[];
};

const requestIdHeader = 'x-request-id';

export function packRequests(requests: readonly PlannedRequest[]): PackedRequests {
  const { starts, ends, bodies } = packBodies(requests);
  const shapes: Shape[] = [];
  const shapeIndex = new Map<string, number>();
  const shapeOf = new Uint32Array(requests.length);
  const known = new Map<PreparedRequest, number>();
  for (const [index, { prepared }] of requests.entries()) {
    const same = known.get(prepared);
    if (same !== undefined) {
      shapeOf[index] = same;
      continue;
    }
    const { body: _body, notes: _notes, ...rest } = prepared;
    const shape: Shape = {
      ...rest,
      headers: rest.headers.filter(([name]) => name.toLowerCase() !== requestIdHeader),
    };
    const key = JSON.stringify(shape);
    let at = shapeIndex.get(key);
    if (at === undefined) {
      at = shapes.push(shape) - 1;
      shapeIndex.set(key, at);
    }
    shapeOf[index] = at;
    known.set(prepared, at);
  }
  return {
    count: requests.length,
    bodies,
    starts,
    ends,
    shapes,
    shapeOf,
    facts: requests.map(({ facts }) => facts),
  };
}

function packBodies(requests: readonly PlannedRequest[]): Pick<PackedRequests, 'starts' | 'ends' | 'bodies'> {
  const starts = new Float64Array(requests.length);
  const ends = new Float64Array(requests.length);
  const placed = new Map<Uint8Array, number>();
  let size = 0;
  for (const [index, { prepared }] of requests.entries()) {
    const { body } = prepared;
    let start = placed.get(body);
    if (start === undefined) {
      start = size;
      placed.set(body, start);
      size += body.byteLength;
    }
    starts[index] = start;
    ends[index] = start + body.byteLength;
  }
  const bodies = new SharedArrayBuffer(size);
  const bytes = new Uint8Array(bodies);
  for (const [body, start] of placed) bytes.set(body, start);
  return { starts, ends, bodies };
}

/** One request of a packed phase; its body is a view of the shared buffer. */
export function unpackRequest(packed: PackedRequests, index: number): PlannedRequest {
  const shape = packed.shapes[packed.shapeOf[index] ?? -1];
  const facts = packed.facts[index];
  const start = packed.starts[index];
  const end = packed.ends[index];
  if (!shape || !facts || start === undefined || end === undefined)
    throw new Error(`request ${index} is not in the phase`);
  const headers =
    facts.requestId === null
      ? shape.headers
      : [...shape.headers, [requestIdHeader, facts.requestId] as const];
  return { prepared: { ...shape, headers, body: Buffer.from(packed.bodies, start, end - start) }, facts };
}
