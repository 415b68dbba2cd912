import type { StageDurationSummary } from '../metrics/summary.ts';
import { titleLine, valueLine } from './report-lines.ts';
import { sanitizeForTerminal } from './sanitize-for-terminal.ts';

/** The server's profiler durations; those of whole stages are the stage report's. */
export function stageDurationLines(
  durations: readonly StageDurationSummary[],
  percentiles: readonly number[],
): string[] {
  const shown = durations.filter(({ key }) => !/^stage_\d+_gen_ms$/.test(key));
  if (shown.length === 0) return [];
  return [titleLine(' Stage Durations ', '-'), ...shown.flatMap((each) => linesOf(each, percentiles))];
}

function linesOf({ key, mean, median, p99 }: StageDurationSummary, percentiles: readonly number[]): string[] {
  const name = `${durationLabel(key)} ${key.endsWith('_ms') ? '(ms)' : '(s)'}:`;
  const lines = [valueLine(`Mean ${name}`, mean, 'fixed'), valueLine(`Median ${name}`, median, 'fixed')];
  return percentiles.includes(99) ? [...lines, valueLine(`P99 ${name}`, p99, 'fixed')] : lines;
}

/** `Wan22I2VPipeline.text_encoder.forward` → `Text Encoder Forward`. */
function durationLabel(key: string): string {
  const words = sanitizeForTerminal(key, 100)
    .replace(/^\w*Pipeline\./, '')
    .replace(/_ms$/, '')
    .replace(/[_.]/g, ' ');
  // As Python's `str.title`: a letter after anything but a letter is a capital.
  return words.toLowerCase().replace(/(?<!\p{L})\p{L}/gu, (letter) => letter.toUpperCase());
}
