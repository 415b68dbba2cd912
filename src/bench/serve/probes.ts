import { Conductor, type ConductorOptions, type RunningPhase } from '../../drive/conductor.ts';
import type { RawRecord } from '../../drive/messages.ts';
import { type PlannedRequest, packRequests } from '../../drive/request-table.ts';
import type { RequestRecord } from '../../records/request-record.ts';
import type { BenchServeOptions } from './options.ts';

/** Probes are scheduled for this long in one go, s, and at most so many; then the schedule starts anew. */
const roundS = 3600;
const roundProbes = 100_000;

export type Probes = {
  /** Probes under way. */
  inFlight(): number;
  /** Sends no more probes; open ones go on. */
  stop(): void;
  /** Aborts the open ones. */
  abort(): void;
  /** Sends no more probes and waits for the open ones. */
  finish(): Promise<readonly RequestRecord[]>;
};

const noProbes: Probes = { inFlight: () => 0, stop: () => {}, abort: () => {}, finish: async () => [] };

/**
 * Sends a tiny request at a fixed rate beside the load, to see what a bystander sees. Probes have a thread and
 * connections of their own and an open-loop schedule, so that neither the load's cap nor a slow answer thins them out.
 */
export async function startProbes(
  options: BenchServeOptions,
  probe: PlannedRequest | null,
  conductorOptions: ConductorOptions,
  complete: (raw: RawRecord, into: RequestRecord[]) => Promise<void>,
): Promise<Probes> {
  if (probe === null) return noProbes;
  const conductor = await Conductor.start({ ...conductorOptions, threads: 1 });
  const rate = options.probeRequestRate;
  const count = Math.min(roundProbes, Math.ceil(roundS * rate));
  const requests = packRequests(Array.from({ length: count }, () => probe));
  const dueMs = Float64Array.from({ length: count }, (_, index) => (index / rate) * 1000);
  const records: RequestRecord[] = [];
  const pending: Promise<void>[] = [];
  let rounds = 0;
  const begin = (): Promise<RunningPhase> => {
    const before = rounds * count;
    rounds += 1;
    return conductor.begin({
      role: 'probe',
      requests,
      dueMs,
      maxConcurrency: null,
      timeoutMs: options.requestTimeoutS * 1000,
      onRecord: (raw) =>
        pending.push(
          complete({ ...raw, record: { ...raw.record, index: before + raw.record.index } }, records),
        ),
    });
  };
  let stopped = false;
  let phase = await begin();
  const stop = (): void => {
    stopped = true;
    phase.stop();
  };
  const ended = (async () => {
    await phase.done;
    while (!stopped) {
      phase = await begin();
      if (stopped) phase.stop();
      await phase.done;
    }
  })();
  // Whoever finishes hears of it; until then it must not count as unhandled.
  ended.catch(() => {});
  return {
    inFlight: () => phase.state().inFlight,
    stop,
    abort: () => conductor.abort(),
    finish: async () => {
      stop();
      await ended;
      await Promise.all(pending);
      await conductor.close();
      return records;
    },
  };
}
