import type { LookupAddress, LookupAllOptions } from 'node:dns';
import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** The reference client keeps resolved names this long. */
const keptMs = 300_000;

type Waiting = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

/**
 * A `lookup` for `net.connect` that resolves a name once and keeps it. Resolving takes a thread of a small pool, so
 * that a thousand simultaneous connections would otherwise wait for a thousand look-ups of one name. Failures are
 * not kept.
 * @param now ms
 */
export function cachedLookup(now: () => number): LookupFunction {
  const known = new Map<string, { addresses: LookupAddress[]; untilMs: number }>();
  const waiting = new Map<string, Waiting[]>();

  const resolveAll = (hostname: string, options: LookupAllOptions, done: Waiting): void => {
    const key = `${options.family ?? 0} ${options.hints ?? 0} ${hostname}`;
    const kept = known.get(key);
    if (kept !== undefined && kept.untilMs > now()) {
      process.nextTick(done, null, kept.addresses);
      return;
    }
    const queue = waiting.get(key);
    if (queue !== undefined) {
      queue.push(done);
      return;
    }
    waiting.set(key, [done]);
    lookup(hostname, options, (error, addresses) => {
      if (error === null) known.set(key, { addresses, untilMs: now() + keptMs });
      const all = waiting.get(key) ?? [];
      waiting.delete(key);
      for (const answer of all) answer(error, addresses);
    });
  };

  return (hostname, options, callback) => {
    resolveAll(hostname, { ...options, all: true }, (error, addresses) => {
      const first = addresses?.[0];
      if (error !== null) callback(error, []);
      else if (options.all) callback(null, addresses);
      else callback(null, first?.address ?? '', first?.family);
    });
  };
}
