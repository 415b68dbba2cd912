import {
  type Conductor,
  type ConductorOptions,
  loadThreadCount,
  type RunningPhase,
} from '../../drive/conductor.ts';
import type { RawRecord } from '../../drive/messages.ts';
import { type PackedRequests, type PlannedRequest, packRequests } from '../../drive/request-table.ts';
import { nowMs } from '../../foundation/clock.ts';
import { messageOf } from '../../foundation/errors.ts';
import type { RecordRole, RequestRecord } from '../../records/request-record.ts';
import type { RunFacts } from '../../records/run-facts.ts';
import type { Pacer } from '../../schedule/pacer.ts';
import type { Tokenizer } from '../../tokens/tokenizer.ts';
import { finishRecord } from './finish-record.ts';
import type { Interrupts } from './interrupts.ts';
import type { BenchServeOptions, CommandIo } from './options.ts';
import { type Probes, startProbes } from './probes.ts';
import { ProgressDisplay } from './progress-display.ts';
import type { RunCompanion } from './run-companion.ts';
import { localIso, rpsChangeEvents, selfMeasurement } from './run-facts.ts';
import type { RunFolder } from './run-folder.ts';

/** How long open requests may still take after the first Ctrl-C, ms. */
const graceMs = 10_000;

type Parts = {
  readonly conductor: Conductor;
  readonly conductorOptions: ConductorOptions;
  readonly folder: RunFolder;
  readonly io: CommandIo;
  readonly interrupts: Interrupts;
  readonly companion: RunCompanion | null;
};

export type RunResult = {
  /** Measured requests in order of their index, then probes. */
  readonly records: readonly RequestRecord[];
  readonly facts: RunFacts;
};

/** Sends the phases of one run and completes, journals and gathers their records. */
export class MeasuredRun {
  readonly io: CommandIo;
  readonly interrupts: Interrupts;
  readonly #plan: {
    readonly requests: PackedRequests;
    readonly places: readonly number[] | null;
    readonly probe: PlannedRequest | null;
    readonly tokenizer: Tokenizer | null;
  };
  readonly #options: BenchServeOptions;
  readonly #conductor: Conductor;
  readonly #conductorOptions: ConductorOptions;
  readonly #folder: RunFolder;
  readonly #companion: RunCompanion | null;

  constructor(
    plan: {
      readonly requests: PackedRequests;
      readonly places: readonly number[] | null;
      readonly probe: PlannedRequest | null;
      readonly tokenizer: Tokenizer | null;
    },
    options: BenchServeOptions,
    parts: Parts,
  ) {
    this.#plan = plan;
    this.#options = options;
    this.#conductor = parts.conductor;
    this.#conductorOptions = parts.conductorOptions;
    this.#folder = parts.folder;
    this.#companion = parts.companion;
    this.io = parts.io;
    this.interrupts = parts.interrupts;
  }

  /** One unmeasured request; `null` = a Ctrl-C came before it was sent. */
  async one(request: PlannedRequest, role: RecordRole, timeoutMs: number): Promise<RequestRecord | null> {
    const [record] = await this.all(packRequests([request]), role, null, timeoutMs);
    return record ?? null;
  }

  /** Unmeasured requests, all at once but for the cap. A Ctrl-C aborts them. */
  async all(
    requests: PackedRequests,
    role: RecordRole,
    maxConcurrency: number | null,
    timeoutMs = this.#timeoutMs,
  ): Promise<RequestRecord[]> {
    const records: RequestRecord[] = [];
    const pending: Promise<void>[] = [];
    const phase = await this.#conductor.begin({
      role,
      requests,
      dueMs: null,
      maxConcurrency,
      timeoutMs,
      onRecord: (raw) => pending.push(this.#complete(raw, records)),
    });
    const forget = this.interrupts.listen(() => {
      phase.stop();
      this.#conductor.abort();
    });
    await phase.done;
    forget();
    await Promise.all(pending);
    return records;
  }

  /** Waits, but not for a user who wants to leave. */
  async pause(ms: number): Promise<void> {
    if (this.interrupts.count > 0) return;
    let timer: NodeJS.Timeout | undefined;
    await this.interrupts.race(
      new Promise<void>((resolve) => {
        timer = setTimeout(resolve, ms);
      }),
    );
    clearTimeout(timer);
  }

  /** The measured part: every request at its due time, probes beside it, progress on the terminal. */
  async run(planned: RunFacts, pacer: Pacer, dueMs: Float64Array): Promise<RunResult> {
    const records: RequestRecord[] = [];
    const pending: Promise<void>[] = [];
    const progress = new ProgressDisplay(this.#plan.requests.count, this.#options, this.io);
    const probes = await startProbes(this.#options, this.#plan.probe, this.#conductorOptions, (raw, into) =>
      this.#complete(raw, into),
    );
    this.#conductor.startWatch();
    const cpuBefore = process.cpuUsage();
    const phase = await this.#conductor.begin({
      role: 'measured',
      requests: this.#plan.requests,
      dueMs,
      maxConcurrency: this.#options.maxConcurrency,
      timeoutMs: this.#timeoutMs,
      onRecord: (raw) => {
        // Counted once it is complete: encoded audio that does not decode is a failure.
        const ended = (record: RequestRecord): RequestRecord => {
          progress.count(record);
          return this.#handOn(record, raw);
        };
        pending.push(this.#complete(raw, records, ended));
      },
    });
    const kept = this.#companion?.start(phase.startMs) ?? { records: [], lengthMs: 0 };
    for (const record of kept.records) this.#folder.append(record);
    const startEpochMs = Date.now() - (nowMs() - phase.startMs);
    const begun: RunFacts = {
      ...planned,
      startedAt: localIso(startEpochMs),
      startMs: phase.startMs - kept.lengthMs,
      rpsChangeEvents: rpsChangeEvents(this.#options, pacer, this.#plan.requests.count, startEpochMs),
    };
    this.#folder.describe(begun);
    progress.start(() => phase.state());
    const forget = this.#obeyInterrupts(phase, probes);
    const end = await phase.done;
    const cpu = process.cpuUsage(cpuBefore);
    const health = await this.#conductor.finishWatch();
    const probed = await probes.finish();
    forget();
    await Promise.all(pending);
    progress.finish();
    const measured = [...kept.records, ...records].sort((a, b) => a.index - b.index);
    const facts: RunFacts = {
      ...begun,
      endMs: lastEndMs([...measured, ...probed]) ?? end.endMs,
      interrupted: this.interrupts.count > 0,
      measuredCount: measured.length,
      self: selfMeasurement(this.#options, {
        threads: loadThreadCount(this.#options.loadThreads),
        records,
        health,
        cpuS: (cpu.user + cpu.system) / 1e6,
        maxInFlight: end.maxInFlight,
      }),
    };
    this.#folder.describe(facts);
    return { records: [...measured, ...probed], facts };
  }

  get #timeoutMs(): number {
    return this.#options.requestTimeoutS * 1000;
  }

  /** First Ctrl-C: nothing more is sent, open requests get a moment. Second: they are aborted. */
  #obeyInterrupts(phase: RunningPhase, probes: Probes): () => void {
    let timer: NodeJS.Timeout | undefined;
    const abort = (): void => {
      this.#conductor.abort();
      probes.abort();
    };
    const forget = this.interrupts.listen((count) => {
      phase.stop();
      probes.stop();
      if (count > 1) abort();
      else {
        const open = phase.state().inFlight + probes.inFlight();
        this.io.stderr(
          `Interrupted: nothing more is sent; waiting up to ${graceMs / 1000} s for ${open} open requests (Ctrl-C again aborts them).`,
        );
        timer = setTimeout(abort, graceMs);
      }
    });
    return () => {
      clearTimeout(timer);
      forget();
    };
  }

  async #complete(
    raw: RawRecord,
    into: RequestRecord[],
    handOn: (record: RequestRecord) => RequestRecord = (record) => record,
  ): Promise<void> {
    let completed = raw.record;
    try {
      completed = await finishRecord(raw, this.#plan.tokenizer);
    } catch (error) {
      // A tokenizer that stumbles over a reply must not cost the record.
      this.io.stderr(`warning: request ${raw.record.index} could not be completed: ${messageOf(error)}`);
    }
    const record = handOn(completed);
    this.#folder.append(record);
    into.push(record);
  }

  /** Gives a measured record its place in the plan, and the dataset what came with it. */
  #handOn(record: RequestRecord, { duplexArtifacts }: RawRecord): RequestRecord {
    const placed = { ...record, index: this.#plan.places?.[record.index] ?? record.index };
    this.#companion?.take(placed, duplexArtifacts ?? null);
    return placed;
  }
}

/** When the last request of all ended, ms; `null` where none was sent. */
function lastEndMs(records: readonly RequestRecord[]): number | null {
  let last: number | null = null;
  for (const { attempts } of records) {
    const end = attempts.at(-1)?.endMs;
    if (end !== undefined) last = Math.max(last ?? 0, end);
  }
  return last;
}
