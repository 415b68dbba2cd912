import { setTimeout as wait } from 'node:timers/promises';
import { nowMs } from '../foundation/clock.ts';
import { CannedServer } from './canned-server.ts';

export type WarmUpOptions = {
  /** Requests under way at once. */
  readonly connections: number;
  /** Each connection makes this many, so that reuse is warm too. */
  readonly requestsPerConnection: number;
  readonly textEventsPerRequest: number;
  /** Longest time that the warm-up may take, ms. */
  readonly limitMs: number;
};

/** What a warm-up did, for the log. */
export type WarmUpResult = {
  readonly requests: number;
  /** Requests that the given function rejected. */
  readonly failures: number;
  readonly tookMs: number;
  /** All requests were made before the time limit. */
  readonly complete: boolean;
};

const defaults: WarmUpOptions = {
  connections: 8,
  requestsPerConnection: 5,
  textEventsPerRequest: 160,
  limitMs: 1000,
};

/**
 * Makes this thread read some thousands of canned events over the loopback before anything is measured: V8 compiles
 * the code from the socket to the record only once it has run often, and the first events of a run would be stamped
 * hundreds of microseconds late. The stand-in answers any request with an event stream of chat and completion chunks.
 * @param perform makes one whole request to the URL, as a measured one is made, on a transport without proxies
 */
export async function warmUpClient(
  perform: (url: string) => Promise<unknown>,
  options: Partial<WarmUpOptions> = {},
): Promise<WarmUpResult> {
  const chosen = { ...defaults, ...options };
  const startMs = nowMs();
  const server = await CannedServer.listen(chosen.textEventsPerRequest);
  let requests = 0;
  let failures = 0;
  let over = false;
  const work = async (): Promise<void> => {
    for (let i = 0; i < chosen.requestsPerConnection && !over; i += 1) {
      requests += 1;
      try {
        await perform(`${server.url}/v1/chat/completions`);
      } catch {
        failures += 1;
      }
    }
  };
  const limit = new AbortController();
  const all = Promise.all(Array.from({ length: chosen.connections }, work)).then(() => true);
  // A request that hears of its connection's end may never settle; the warm-up ends nevertheless.
  const cut = wait(chosen.limitMs, false, { signal: limit.signal }).catch(() => false);
  const complete = await Promise.race([all, cut]);
  over = true;
  limit.abort();
  server.close();
  return { requests, failures, tookMs: nowMs() - startMs, complete };
}
