import { nowMs } from '../../foundation/clock.ts';
import type { StageChunk } from '../engine/stage-engine.ts';
import type { Connector } from '../pipeline/connector.ts';

const nowhere: Readonly<Record<string, never>> = {};

/** Hands payloads over by reference; the sizes it counts are those that a real payload would have. */
export function inProcessConnector(): Connector {
  const payloads = new Map<string, Map<string, StageChunk>>();
  const inFlight = (): number => [...payloads.values()].reduce((sum, ofRequest) => sum + ofRequest.size, 0);
  return {
    name: 'in-process',
    put(_edge, requestId, key, chunk, sizeBytes) {
      const startMs = nowMs();
      let ofRequest = payloads.get(requestId);
      if (ofRequest === undefined) {
        ofRequest = new Map();
        payloads.set(requestId, ofRequest);
      }
      ofRequest.set(key, chunk);
      const putMs = nowMs();
      return { requestId, key, sizeBytes, putMs, txMs: putMs - startMs, location: nowhere };
    },
    get(_edge, { requestId, key, putMs }, deliver) {
      const startMs = nowMs();
      const ofRequest = payloads.get(requestId);
      const chunk = ofRequest?.get(key);
      if (ofRequest === undefined || chunk === undefined) {
        deliver({ kind: 'gone' });
        return;
      }
      ofRequest.delete(key);
      if (ofRequest.size === 0) payloads.delete(requestId);
      deliver({ kind: 'payload', chunk, rxMs: nowMs() - startMs, inFlightMs: startMs - putMs });
    },
    cleanup: (requestId) => {
      payloads.delete(requestId);
    },
    inFlight,
    health: () => ({ status: 'up', payloads: inFlight(), heldBytes: 0 }),
    close: () => payloads.clear(),
  };
}
