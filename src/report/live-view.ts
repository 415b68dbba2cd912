import { formatFixed } from '../foundation/python-format.ts';
import { type ProgressState, progressBar } from './progress-line.ts';
import { sanitizeForTerminal } from './sanitize-for-terminal.ts';

/** A latency over the last seconds; ms. */
export type LiveLatency = { readonly label: string; readonly p50Ms: number; readonly p99Ms: number };

/** What is seen of a run while it goes on. */
export type LiveState = {
  readonly progress: ProgressState;
  /** Requests a second over the last seconds: due, sent, ended. `null` = not known yet. */
  readonly offeredPerS: number | null;
  readonly sentPerS: number | null;
  readonly endedPerS: number | null;
  /** Due and not yet sent: waiting for a slot. */
  readonly waiting: number;
  /** How long the "last seconds" are. */
  readonly windowS: number;
  readonly latencies: readonly LiveLatency[];
  /** Mean time of each stage over the last seconds, in order of the pipeline; names as the server sent them. */
  readonly stages: readonly { readonly name: string; readonly meanMs: number }[];
  /** Failures of the whole run, the most frequent first. */
  readonly failures: readonly { readonly what: string; readonly count: number }[];
};

const labelWidth = 10;
const nameWidth = 14;
const longestBar = 40;
const mostStages = 6;
const mostFailures = 4;

/**
 * The live view as lines of a terminal, to be redrawn in place; none is wider than the terminal. What a server said
 * stands in it without its control characters.
 */
export function liveLines(state: LiveState, columns: number): string[] {
  const { progress } = state;
  const room = Math.max(columns - 1, 0);
  return [
    progressBar({ ...progress, lastError: null }, columns),
    labelled('rate', rates(state)),
    ...latencyLine(state),
    ...stageLines(state, room),
    ...failureLines(state),
    ...(progress.lastError === null
      ? []
      : [labelled('error', narrow(progress.lastError, room - labelWidth))]),
  ].map((line) => line.slice(0, room));
}

function labelled(label: string, text: string): string {
  return `${label.padEnd(labelWidth)}${text}`;
}

function rates({ offeredPerS, sentPerS, endedPerS, waiting, progress }: LiveState): string {
  const rate = (value: number | null): string =>
    value === null ? '?' : formatFixed(value, value < 100 ? 1 : 0);
  return `offered ${rate(offeredPerS)}, sent ${rate(sentPerS)}, ended ${rate(endedPerS)} req/s; ${waiting} waiting, ${progress.inFlight} in flight`;
}

function latencyLine({ latencies, windowS }: LiveState): string[] {
  if (latencies.length === 0) return [];
  const figures = latencies.map(({ label, p50Ms, p99Ms }) => `${label} ${ms(p50Ms)} / ${ms(p99Ms)}`);
  return [labelled(`last ${windowS} s`, `${figures.join(', ')} ms (p50 / p99)`)];
}

function stageLines({ stages }: LiveState, room: number): string[] {
  const shown = stages.slice(0, mostStages);
  const longestMs = Math.max(...shown.map(({ meanMs }) => meanMs), 0);
  const width = Math.min(longestBar, room - labelWidth - nameWidth - 12);
  if (longestMs <= 0 || width < 5) return [];
  return shown.map(({ name, meanMs }, i) => {
    const bar = '█'.repeat(Math.max(1, Math.round((meanMs / longestMs) * width))).padEnd(width);
    return labelled(
      i === 0 ? 'stages' : '',
      `${narrow(name, nameWidth - 1).padEnd(nameWidth)}${bar} ${ms(meanMs).padStart(7)} ms`,
    );
  });
}

function failureLines({ failures }: LiveState): string[] {
  if (failures.length === 0) return [];
  const shown = failures.slice(0, mostFailures).map(({ what, count }) => `${count} × ${what}`);
  const hidden = failures.slice(mostFailures).reduce((sum, { count }) => sum + count, 0);
  return [labelled('failures', [...shown, ...(hidden > 0 ? [`${hidden} others`] : [])].join(', '))];
}

function ms(value: number): string {
  return formatFixed(value, value < 10 ? 2 : value < 100 ? 1 : 0);
}

/** Clean text in so many columns; characters beyond ASCII may take two. */
function narrow(text: string, columns: number): string {
  if (columns < 1) return '';
  const shown = sanitizeForTerminal(text, columns);
  return /^[ -~…]*$/.test(shown) ? shown : sanitizeForTerminal(text, Math.max(1, Math.floor(columns / 2)));
}
