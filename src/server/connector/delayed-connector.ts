import type { Scheduler } from '../engine/scheduler.ts';
import type { ScheduledTask } from '../engine/task-heap.ts';
import type { Connector, Delivery } from '../pipeline/connector.ts';
import type { Edge } from '../pipeline/transfer-metadata.ts';

/** What a link between two stages costs beside what it really does. */
export type LinkDelay = {
  /** From the end of sending until arrival, ms. */
  readonly latencyMs: number;
  /** `null` = as fast as it is. */
  readonly bytesPerMs: number | null;
};

/**
 * A connector over slower links: payloads of an edge are sent one after another at its bandwidth, and arrive a latency
 * later. What a consumer gets was ready when it arrived.
 */
export function delayedConnector(connector: Connector, delay: LinkDelay, scheduler: Scheduler): Connector {
  const freeMs = new Map<Edge, number>();
  const waiting = new Map<string, Set<ScheduledTask>>();

  const schedule = (requestId: string, dueMs: number, run: () => void): void => {
    const ofRequest = waiting.get(requestId) ?? new Set();
    waiting.set(requestId, ofRequest);
    const task: ScheduledTask = {
      dueMs,
      heapSlot: -1,
      run: () => {
        ofRequest.delete(task);
        if (ofRequest.size === 0) waiting.delete(requestId);
        run();
      },
    };
    ofRequest.add(task);
    scheduler.add(task);
  };
  const forget = (requestId: string): void => {
    for (const task of waiting.get(requestId) ?? []) scheduler.remove(task);
    waiting.delete(requestId);
  };

  return {
    ...connector,
    name: `${connector.name}, slowed`,
    get(edge, metadata, deliver) {
      const { latencyMs, bytesPerMs } = delay;
      const sentMs =
        Math.max(freeMs.get(edge) ?? 0, scheduler.nowMs()) +
        (bytesPerMs === null ? 0 : metadata.sizeBytes / bytesPerMs);
      freeMs.set(edge, sentMs);
      const arrivalMs = sentMs + latencyMs;
      const late = (delivery: Delivery): void => {
        if (delivery.kind !== 'payload') deliver(delivery);
        else {
          const { chunk } = delivery;
          deliver({ ...delivery, chunk: { ...chunk, readyMs: Math.max(chunk.readyMs, arrivalMs) } });
        }
      };
      schedule(metadata.requestId, arrivalMs, () => connector.get(edge, metadata, late));
    },
    cleanup(requestId) {
      forget(requestId);
      connector.cleanup(requestId);
    },
    close() {
      for (const requestId of [...waiting.keys()]) forget(requestId);
      connector.close();
    },
  };
}
