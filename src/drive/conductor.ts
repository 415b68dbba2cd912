import { availableParallelism } from 'node:os';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { nowMs } from '../foundation/clock.ts';
import { growHeapsAtOnce } from '../foundation/heap.ts';
import { threadEntry } from '../foundation/thread-entry.ts';
import type { RecordRole } from '../records/request-record.ts';
import { growFileTable } from './file-table.ts';
import type {
  ArrivalClock,
  ArrivalClockConfig,
  FromLoadThread,
  LoadThreadConfig,
  PhaseMessage,
  PhaseRecord,
  RawRecord,
  ThreadHealth,
  ToLoadThread,
} from './messages.ts';
import type { PackedRequests } from './request-table.ts';
import { SharedControl } from './shared-control.ts';

export type PhasePlan = {
  readonly role: RecordRole;
  readonly requests: PackedRequests;
  /** Due times after the phase's start, ms; `null` = all at once. */
  readonly dueMs: Float64Array | null;
  /** Most requests under way at once over all threads; `null` = no cap. */
  readonly maxConcurrency: number | null;
  readonly timeoutMs: number;
  /** Called on the main thread for each finished request. */
  readonly onRecord: (raw: RawRecord) => void;
};

export type PhaseState = {
  readonly total: number;
  readonly taken: number;
  readonly due: number;
  readonly inFlight: number;
};
export type PhaseEnd = {
  readonly startMs: number;
  readonly endMs: number;
  readonly taken: number;
  readonly maxInFlight: number;
};

/** A phase under way. */
export type RunningPhase = {
  readonly startMs: number;
  readonly done: Promise<PhaseEnd>;
  state(): PhaseState;
  /** Sends nothing more; requests under way go on. */
  stop(): void;
};

export type ConductorOptions = {
  readonly threads: number;
  readonly clock: ArrivalClock;
  readonly thread: LoadThreadConfig;
};

/** `auto`: one thread per core that the server under test does not need, up to four; one on small machines. */
export function loadThreadCount(asked: number | 'auto'): number {
  return asked === 'auto' ? Math.min(4, Math.max(1, Math.floor((availableParallelism() - 1) / 2))) : asked;
}

/** Owns the load threads of a run and turns plans into records. */
export class Conductor {
  readonly #options: ConductorOptions;
  readonly #threads: Worker[];
  #phases = 0;
  #current: {
    number: number;
    plan: PhasePlan;
    control: SharedControl;
    received: number;
    settle: (end: PhaseEnd) => void;
    fail: (error: unknown) => void;
    startMs: number;
  } | null = null;
  #health: ThreadHealth[] = [];
  #onHealth: () => void = () => {};
  #onLoaded: () => void = () => {};

  private constructor(options: ConductorOptions, threads: Worker[]) {
    this.#options = options;
    this.#threads = threads;
    for (const thread of threads) {
      thread.on('message', (message: FromLoadThread) => this.#receive(message));
      thread.on('error', (error) => this.#current?.fail(error));
      thread.on('exit', (code) =>
        this.#current?.fail(new Error(`a load thread ended by itself (exit ${code})`)),
      );
    }
  }

  /** Starts the threads; they have warmed their own code when this resolves. */
  static async start(options: ConductorOptions): Promise<Conductor> {
    growHeapsAtOnce();
    const threads = Array.from(
      { length: options.threads },
      () =>
        new Worker(threadEntry('load-thread', import.meta.url), {
          workerData: options.thread,
          name: 'omnimeter-load',
          resourceLimits: { maxYoungGenerationSizeMb: 12 },
        }),
    );
    await Promise.all(threads.map(firstMessage));
    return new Conductor(options, threads);
  }

  /** Starts a phase; one at a time. */
  async begin(plan: PhasePlan): Promise<RunningPhase> {
    if (this.#current) throw new Error('a phase is already under way');
    const control = SharedControl.create(plan.maxConcurrency);
    const number = ++this.#phases;
    const { requests } = plan;
    const allAtOnce = plan.dueMs === null || plan.dueMs.every((due) => due === 0);
    const dueMs = allAtOnce ? null : shared(plan.dueMs ?? new Float64Array());
    const release =
      dueMs && this.#options.clock === 'worker' ? await this.#startClock(control, dueMs) : () => {};
    const phase: PhaseMessage = {
      type: 'phase',
      phase: number,
      role: plan.role,
      requests,
      control: control.memory,
      dueMs,
      clock: this.#options.clock,
      timeoutMs: plan.timeoutMs,
    };
    growFileTable(Math.min(requests.count, plan.maxConcurrency ?? requests.count));
    await this.#load(phase);
    const startMs = nowMs();
    const done = new Promise<PhaseEnd>((settle, fail) => {
      this.#current = { number, plan, control, received: 0, settle, fail, startMs };
    });
    if (allAtOnce) control.raiseDue(requests.count);
    release(startMs);
    this.#broadcast({ type: 'go', startMs });
    this.#endIfComplete();
    return {
      startMs,
      done,
      state: () => ({
        total: requests.count,
        taken: control.taken,
        due: control.due,
        inFlight: control.inFlight,
      }),
      stop: () => {
        control.stop();
        this.#endIfComplete();
      },
    };
  }

  /** Aborts every request under way in all threads; the threads can't be used for another phase. */
  abort(): void {
    this.#broadcast({ type: 'abort' });
  }

  startWatch(): void {
    this.#broadcast({ type: 'watch', report: false });
  }

  /** What the threads saw of themselves since `startWatch`. */
  async finishWatch(): Promise<readonly ThreadHealth[]> {
    this.#health = [];
    const all = new Promise<void>((resolve) => {
      this.#onHealth = resolve;
    });
    this.#broadcast({ type: 'watch', report: true });
    await all;
    return this.#health;
  }

  async close(): Promise<void> {
    for (const thread of this.#threads) thread.removeAllListeners('exit');
    this.#broadcast({ type: 'close' });
    await Promise.all(this.#threads.map((thread) => thread.terminate()));
  }

  /** Hands the phase to all threads; copying its tables takes time that must not count. */
  async #load(phase: PhaseMessage): Promise<void> {
    const loaded = new Promise<void>((resolve) => {
      let missing = this.#threads.length;
      this.#onLoaded = () => {
        missing -= 1;
        if (missing === 0) resolve();
      };
    });
    this.#broadcast(phase);
    await loaded;
  }

  #broadcast(message: ToLoadThread): void {
    for (const thread of this.#threads) thread.postMessage(message);
  }

  /** @returns a function that tells the clock when the phase began */
  async #startClock(control: SharedControl, dueMs: Float64Array): Promise<(startMs: number) => void> {
    const start = new SharedArrayBuffer(8);
    const startCell = new Float64Array(start);
    startCell[0] = Number.NaN;
    const config: ArrivalClockConfig = { control: control.memory, dueMs, start };
    const clock = new Worker(threadEntry('arrival-clock-thread', import.meta.url), {
      workerData: config,
      name: 'omnimeter-clock',
    });
    clock.on('error', (error) => this.#current?.fail(error));
    const ports: MessagePort[] = this.#threads.map((thread) => {
      const { port1, port2 } = new MessageChannel();
      thread.postMessage({ clockPort: port2 }, [port2]);
      return port1;
    });
    clock.postMessage({ ports }, ports);
    await firstMessage(clock);
    clock.unref();
    return (startMs) => {
      startCell[0] = startMs;
    };
  }

  #receive(message: FromLoadThread): void {
    if (message.type === 'health') {
      this.#health.push(message.health);
      if (this.#health.length === this.#threads.length) this.#onHealth();
    } else if (message.type === 'loaded') this.#onLoaded();
    else if (message.type === 'records') for (const record of message.records) this.#take(record);
  }

  #take({ phase, ...raw }: PhaseRecord): void {
    if (this.#current?.number !== phase) return;
    this.#current.received += 1;
    this.#current.plan.onRecord(raw);
    this.#endIfComplete();
  }

  /** A phase ends when all its requests, or after a stop all that were sent, have come back. */
  #endIfComplete(): void {
    const current = this.#current;
    if (!current) return;
    const { control, plan, received, startMs } = current;
    const expected = control.stopped ? control.taken : plan.requests.count;
    if (received < expected) return;
    this.#current = null;
    current.settle({ startMs, endMs: nowMs(), taken: control.taken, maxInFlight: control.maxInFlight });
  }
}

function firstMessage(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    const settled = (end: () => void) => (): void => {
      worker.off('message', ready);
      worker.off('error', failed);
      worker.off('exit', left);
      end();
    };
    const ready = settled(resolve);
    const failed = (error: unknown): void => settled(() => reject(error))();
    const left = (code: number): void =>
      settled(() => reject(new Error(`a thread ended before it was ready (exit ${code})`)))();
    worker.once('message', ready);
    worker.once('error', failed);
    worker.once('exit', left);
  });
}

function shared(values: Float64Array): Float64Array {
  const copy = new Float64Array(new SharedArrayBuffer(values.byteLength));
  copy.set(values);
  return copy;
}
