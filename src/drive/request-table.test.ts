import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { type PlannedRequest, packRequests, unpackRequest } from './request-table.ts';

const planned = fc
  .record({
    body: fc.uint8Array({ maxLength: 50 }),
    requestId: fc.option(fc.string()),
    model: fc.constantFrom('a', 'b'),
    header: fc.constantFrom('x', 'y'),
  })
  .map(
    ({ body, requestId, model, header }): PlannedRequest => ({
      prepared: {
        method: 'POST',
        url: 'http://127.0.0.1/v1/x',
        headers: [
          ['Content-Type', header],
          ...(requestId === null ? [] : [['x-request-id', requestId] as const]),
        ],
        body,
        model,
        reading: { stream: true },
      },
      facts: { requestId, plannedPromptTokens: 1, expectedOutputTokens: null, inputAudioDurationS: null },
    }),
  );

function requestOf(body: Uint8Array): PlannedRequest {
  const facts = {
    requestId: null,
    plannedPromptTokens: null,
    expectedOutputTokens: null,
    inputAudioDurationS: null,
  };
  const prepared = {
    method: 'POST',
    url: 'http://127.0.0.1/v1/x',
    headers: [],
    model: 'm',
    reading: {},
  } as const;
  return { prepared: { ...prepared, body }, facts };
}

describe('packed requests', () => {
  property([fc.array(planned), fc.nat(5)])(
    'come out as they went in, shared bodies once',
    (requests, copies) => {
      const first = requests[0];
      const all = first ? [...requests, ...Array.from({ length: copies }, () => first)] : requests;
      const packed = packRequests(all);
      const ends = new Set(Array.from(packed.ends, (end, index) => `${packed.segmentOf[index]} ${end}`));
      expect(ends.size).toBeLessThanOrEqual(Math.max(1, requests.length));
      for (const [index, { prepared, facts }] of all.entries()) {
        const found = unpackRequest(packed, index);
        expect({ ...found.prepared, body: [...found.prepared.body] }).toEqual({
          ...prepared,
          body: [...prepared.body],
        });
        expect(found.facts).toEqual(facts);
      }
    },
  );

  it('large bodies that repeat lie there once, however they were prepared', () => {
    const media = (last: number) => new Uint8Array(100_000).fill(7).fill(last, 99_999);
    const packed = packRequests([media(1), media(2), media(1), media(1)].map(requestOf));
    expect([...packed.starts]).toEqual([
      packed.starts[0],
      packed.starts[1],
      packed.starts[0],
      packed.starts[0],
    ]);
    expect([...packed.segmentOf].map((segment) => packed.segments[segment]?.byteLength)).toEqual([
      100_000, 200_000, 100_000, 100_000,
    ]);
    for (const [index, last] of [1, 2, 1, 1].entries())
      expect(unpackRequest(packed, index).prepared.body.at(-1)).toBe(last);
  });

  it('bodies of every size keep apart', () => {
    const sizes = [40_000, 40_000, 0, 1, 300_000, 20 * 1024 * 1024, 7, 40_000];
    const requests = sizes.map((size, index) => requestOf(new Uint8Array(size).fill(index + 1)));
    const packed = packRequests(requests);
    for (const [index, size] of sizes.entries()) {
      const { body } = unpackRequest(packed, index).prepared;
      expect(body.byteLength).toBe(size);
      expect(body.every((byte) => byte === index + 1)).toBe(true);
    }
  });
});
