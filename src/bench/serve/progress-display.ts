import type { PhaseState } from '../../drive/conductor.ts';
import { nowMs } from '../../foundation/clock.ts';
import type { RequestRecord } from '../../records/request-record.ts';
import { type LiveState, liveLines } from '../../report/live-view.ts';
import { ProgressRate, type ProgressState, progressBar, progressLine } from '../../report/progress-line.ts';
import { LiveWindow } from './live-window.ts';
import type { BenchServeOptions, CommandIo } from './options.ts';

const redrawMs = 250;
/** Without a terminal a line appears this often, ms. */
const plainMs = 10_000;

/**
 * Shows how a run goes: on a terminal a view of several lines redrawn in place (`--no-live`: one line), elsewhere a
 * plain line now and then.
 */
export class ProgressDisplay {
  readonly #total: number;
  readonly #io: CommandIo;
  readonly #look: 'none' | 'lines' | 'bar' | 'live';
  readonly #window = new LiveWindow();
  readonly #failures = new Map<string, number>();
  #done = 0;
  #failed = 0;
  #lastError: string | null = null;
  readonly #rate = new ProgressRate();
  readonly #offered = new ProgressRate();
  readonly #sent = new ProgressRate();
  #startedMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #state: () => PhaseState = () => ({ total: 0, taken: 0, due: 0, inFlight: 0 });

  constructor(total: number, options: Pick<BenchServeOptions, 'disableProgress' | 'live'>, io: CommandIo) {
    this.#total = total;
    this.#io = io;
    this.#look = options.disableProgress ? 'none' : !io.isTty ? 'lines' : options.live ? 'live' : 'bar';
  }

  count(record: RequestRecord): void {
    this.#done += 1;
    if (this.#look === 'live') this.#window.add(record, nowMs());
    const { outcome } = record;
    if (outcome.ok) return;
    this.#failed += 1;
    this.#lastError = outcome.message;
    const what = outcome.status === null ? outcome.kind : `${outcome.kind} ${outcome.status}`;
    this.#failures.set(what, (this.#failures.get(what) ?? 0) + 1);
  }

  start(state: () => PhaseState): void {
    if (this.#look === 'none') return;
    this.#state = state;
    this.#startedMs = nowMs();
    this.#timer = setInterval(() => this.#draw(), this.#io.isTty ? redrawMs : plainMs);
  }

  finish(): void {
    if (this.#look === 'none') return;
    clearInterval(this.#timer);
    this.#draw();
    this.#io.settle();
  }

  #averagePerS(atMs: number): number | null {
    const elapsedS = (atMs - this.#startedMs) / 1000;
    return this.#done > 0 && elapsedS > 0 ? this.#done / elapsedS : null;
  }

  #draw(): void {
    const atMs = nowMs();
    const state = this.#state();
    const progress: ProgressState = {
      label: 'Requests',
      done: this.#done,
      total: this.#total,
      failed: this.#failed,
      inFlight: state.inFlight,
      elapsedMs: atMs - this.#startedMs,
      ratePerS: this.#rate.update(atMs, this.#done) ?? this.#averagePerS(atMs),
      lastError: this.#lastError,
    };
    const { columns } = this.#io;
    if (this.#look === 'lines') this.#io.stderr(progressLine(progress));
    else if (this.#look === 'bar') this.#io.redraw([progressBar(progress, columns)]);
    else this.#io.redraw(liveLines(this.#liveState(progress, state, atMs), columns));
  }

  #liveState(progress: ProgressState, { due, taken }: PhaseState, atMs: number): LiveState {
    return {
      progress,
      offeredPerS: this.#offered.update(atMs, due),
      sentPerS: this.#sent.update(atMs, taken),
      endedPerS: progress.ratePerS,
      waiting: Math.max(due - taken, 0),
      windowS: this.#window.windowMs / 1000,
      latencies: this.#window.latencies(atMs),
      stages: this.#window.stages(atMs),
      failures: [...this.#failures].sort(([, a], [, b]) => b - a).map(([what, count]) => ({ what, count })),
    };
  }
}
