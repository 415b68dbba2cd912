import { Conductor, type ConductorOptions } from '../../drive/conductor.ts';
import type { RawRecord } from '../../drive/messages.ts';
import { type PlannedRequest, packRequests } from '../../drive/request-table.ts';
import type { RequestRecord } from '../../records/request-record.ts';
import type { BenchServeOptions } from './options.ts';

/** Longest run that probes are scheduled for, s, and most of them. */
const horizonS = 6 * 3600;
const mostProbes = 200_000;

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
  const count = Math.min(mostProbes, Math.ceil(horizonS * options.probeRequestRate));
  const records: RequestRecord[] = [];
  const pending: Promise<void>[] = [];
  const phase = await conductor.begin({
    role: 'probe',
    requests: packRequests(Array.from({ length: count }, () => probe)),
    dueMs: Float64Array.from({ length: count }, (_, index) => (index / options.probeRequestRate) * 1000),
    maxConcurrency: null,
    timeoutMs: options.requestTimeoutS * 1000,
    onRecord: (raw) => pending.push(complete(raw, records)),
  });
  return {
    inFlight: () => phase.state().inFlight,
    stop: () => phase.stop(),
    abort: () => conductor.abort(),
    finish: async () => {
      phase.stop();
      await phase.done;
      await Promise.all(pending);
      await conductor.close();
      return records;
    },
  };
}
