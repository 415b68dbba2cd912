import { readFileSync } from 'node:fs';

/** One line of the server's truth log: what left the process, stamped just before the write (CLOCK_MONOTONIC, ms). */
export type TruthEvent = {
  readonly t: number;
  readonly id: string;
  readonly event: string;
  readonly tokens?: number;
  readonly bytes?: number;
  readonly samples?: number;
};

/** Events by request, in order. */
export function readTruth(path: string): Map<string, TruthEvent[]> {
  const requests = new Map<string, TruthEvent[]>();
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    if (line === '') continue;
    const event: TruthEvent = JSON.parse(line);
    const list = requests.get(event.id);
    if (list) list.push(event);
    else requests.set(event.id, [event]);
  }
  return requests;
}

/** The truth of one measured request, whatever the server put around the id that the client sent. */
export function truthOf(truth: Map<string, TruthEvent[]>, requestId: string): TruthEvent[] {
  for (const [id, events] of truth)
    if (id === requestId || id.endsWith(`-${requestId}`) || id === `chatcmpl-${requestId}`) return events;
  throw new Error(
    `the truth log does not know ${requestId}; it has ${[...truth.keys()].slice(0, 5).join(', ')}…`,
  );
}

/** Most requests that the server had before it at one moment. */
export function mostOpen(truth: Map<string, TruthEvent[]>): number {
  const changes: [number, number][] = [];
  for (const events of truth.values()) {
    const begin = events.find(({ event }) => event === 'accepted');
    const end = events.findLast(({ event }) => event === 'done');
    if (begin && end) changes.push([begin.t, 1], [end.t, -1]);
  }
  changes.sort(([a, up], [b, down]) => a - b || up - down);
  let open = 0;
  let most = 0;
  for (const [, change] of changes) {
    open += change;
    most = Math.max(most, open);
  }
  return most;
}
