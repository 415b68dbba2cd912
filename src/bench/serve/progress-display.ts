import type { PhaseState } from '../../drive/conductor.ts';
import { nowMs } from '../../foundation/clock.ts';
import type { RequestRecord } from '../../records/request-record.ts';
import { progressLine } from '../../report/progress-line.ts';
import type { BenchServeOptions, CommandIo } from './options.ts';

const redrawMs = 200;
/** Without a terminal a line appears this often, ms. */
const plainMs = 10_000;

/** Shows how a run goes: a line redrawn in place on a terminal, a plain line now and then elsewhere. */
export class ProgressDisplay {
  readonly #total: number;
  readonly #io: CommandIo;
  readonly #shown: boolean;
  #done = 0;
  #failed = 0;
  #startedMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #state: () => PhaseState = () => ({ total: 0, taken: 0, due: 0, inFlight: 0 });

  constructor(total: number, options: BenchServeOptions, io: CommandIo) {
    this.#total = total;
    this.#io = io;
    this.#shown = !options.disableProgress;
  }

  count(record: RequestRecord): void {
    this.#done += 1;
    if (!record.outcome.ok) this.#failed += 1;
  }

  start(state: () => PhaseState): void {
    if (!this.#shown) return;
    this.#state = state;
    this.#startedMs = nowMs();
    this.#timer = setInterval(() => this.#draw(), this.#io.isTty ? redrawMs : plainMs);
  }

  finish(): void {
    if (!this.#shown) return;
    clearInterval(this.#timer);
    this.#draw();
    if (this.#io.isTty) process.stderr.write('\n');
  }

  #draw(): void {
    const line = progressLine({
      done: this.#done,
      total: this.#total,
      failed: this.#failed,
      inFlight: this.#state().inFlight,
      elapsedMs: nowMs() - this.#startedMs,
      columns: this.#io.columns,
      isTty: this.#io.isTty,
    });
    if (this.#io.isTty) process.stderr.write(`\r${line}\x1b[K`);
    else this.#io.stderr(line);
  }
}
