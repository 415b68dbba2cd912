import type { PhaseState } from '../../drive/conductor.ts';
import { nowMs } from '../../foundation/clock.ts';
import type { RequestRecord } from '../../records/request-record.ts';
import { ProgressRate, type ProgressState, progressBar, progressLine } from '../../report/progress-line.ts';
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
  #lastError: string | null = null;
  readonly #rate = new ProgressRate();
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
    if (record.outcome.ok) return;
    this.#failed += 1;
    this.#lastError = record.outcome.message;
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
    if (this.#io.isTty) this.#io.stderr('');
  }

  #averagePerS(atMs: number): number | null {
    const elapsedS = (atMs - this.#startedMs) / 1000;
    return this.#done > 0 && elapsedS > 0 ? this.#done / elapsedS : null;
  }

  #draw(): void {
    const atMs = nowMs();
    const state: ProgressState = {
      label: 'Requests',
      done: this.#done,
      total: this.#total,
      failed: this.#failed,
      inFlight: this.#state().inFlight,
      elapsedMs: atMs - this.#startedMs,
      ratePerS: this.#rate.update(atMs, this.#done) ?? this.#averagePerS(atMs),
      lastError: this.#lastError,
    };
    if (this.#io.isTty) this.#io.redraw(progressBar(state, this.#io.columns));
    else this.#io.stderr(progressLine(state));
  }
}
