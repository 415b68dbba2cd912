import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
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

describe('packed requests', () => {
  test.prop([fc.array(planned), fc.nat(5)])(
    'come out as they went in, shared bodies once',
    (requests, copies) => {
      const first = requests[0];
      const all = first ? [...requests, ...Array.from({ length: copies }, () => first)] : requests;
      const packed = packRequests(all);
      expect(packed.bodies.byteLength).toBe(
        requests.reduce((sum, { prepared }) => sum + prepared.body.length, 0),
      );
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
});
