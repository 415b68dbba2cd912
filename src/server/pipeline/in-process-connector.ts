import { nowMs } from '../../foundation/clock.ts';
import type { StageChunk } from '../engine/stage-engine.ts';
import type { Connector, Edge, TransferStats } from './connector.ts';

type EdgeCounters = { transfers: number; bytes: number; txMs: number; rxMs: number; inFlightMs: number };

/** Hands payloads over by reference; the sizes it counts are those that a real payload would have. */
export function inProcessConnector(): Connector {
  const payloads = new Map<string, Map<string, StageChunk>>();
  const counters = new Map<Edge, EdgeCounters>();

  const countersOf = (edge: Edge): EdgeCounters => {
    let of = counters.get(edge);
    if (of === undefined) {
      of = { transfers: 0, bytes: 0, txMs: 0, rxMs: 0, inFlightMs: 0 };
      counters.set(edge, of);
    }
    return of;
  };
  return {
    name: 'in-process',
    put(edge, requestId, key, payload, sizeBytes) {
      const startMs = nowMs();
      let ofRequest = payloads.get(requestId);
      if (ofRequest === undefined) {
        ofRequest = new Map();
        payloads.set(requestId, ofRequest);
      }
      ofRequest.set(key, payload);
      const putMs = nowMs();
      const counts = countersOf(edge);
      counts.transfers += 1;
      counts.bytes += sizeBytes;
      counts.txMs += putMs - startMs;
      return { requestId, key, sizeBytes, putMs };
    },
    get(edge, { requestId, key, putMs }, deliver) {
      const startMs = nowMs();
      const ofRequest = payloads.get(requestId);
      const payload = ofRequest?.get(key) ?? null;
      ofRequest?.delete(key);
      if (ofRequest?.size === 0) payloads.delete(requestId);
      const counts = countersOf(edge);
      counts.inFlightMs += startMs - putMs;
      counts.rxMs += nowMs() - startMs;
      deliver(payload);
    },
    cleanup: (requestId) => {
      payloads.delete(requestId);
    },
    inFlight: () => [...payloads.values()].reduce((sum, ofRequest) => sum + ofRequest.size, 0),
    stats: (): TransferStats[] => [...counters].map(([edge, counts]) => ({ edge, ...counts })),
  };
}
