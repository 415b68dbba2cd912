import type { RequestTimeline, TimelineRequest } from '../../report/plot/request-timeline.ts';

/** What a bar stands for, in the order of the legend. */
export type BarKind = 'ttft' | 'fast' | 'medium' | 'slow';

/** A bar of a request: ms after the run's first start. */
export type Bar = { readonly kind: BarKind; readonly startMs: number; readonly endMs: number };

/** The reference's colours. */
export const barColours: Readonly<Record<BarKind, string>> = {
  ttft: '#636EFA',
  fast: '#109618',
  medium: '#FF7F0E',
  slow: '#D62728',
};

/** The legend's words. */
export function barLabels([low, high]: RequestTimeline['thresholdsMs']): Readonly<Record<BarKind, string>> {
  return {
    ttft: 'TTFT',
    fast: `ITL < ${low}ms`,
    medium: `${low}ms ≤ ITL < ${high}ms`,
    slow: `ITL ≥ ${high}ms`,
  };
}

export function gapKind(gapMs: number, [low, high]: RequestTimeline['thresholdsMs']): BarKind {
  if (gapMs < low) return 'fast';
  return gapMs < high ? 'medium' : 'slow';
}

/** The bars of a request, one after the other. */
export function barsOf(request: TimelineRequest, thresholdsMs: RequestTimeline['thresholdsMs']): Bar[] {
  let endMs = request.startMs + request.ttftMs;
  const bars: Bar[] = [{ kind: 'ttft', startMs: request.startMs, endMs }];
  for (const gapMs of request.gapsMs) {
    bars.push({ kind: gapKind(gapMs, thresholdsMs), startMs: endMs, endMs: endMs + gapMs });
    endMs += gapMs;
  }
  return bars;
}

/** `HH:MM:SS.mmm` */
export function clockLabel(ms: number): string {
  const whole = Math.round(ms);
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  const rest = String(whole % 1000).padStart(3, '0');
  return `${two(whole / 3_600_000)}:${two((whole / 60_000) % 60)}:${two((whole / 1000) % 60)}.${rest}`;
}

/** A round step for ticks: 1, 2 or 5 times a power of ten, and what clocks have beyond a minute, ms. */
export function tickStepMs(spanMs: number, most: number): number {
  const clock = [60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000, 7_200_000, 21_600_000, 86_400_000];
  const decimal = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000];
  return [...decimal, ...clock].find((step) => spanMs / step <= most) ?? 86_400_000;
}
