/**
 * The most intervals that are open at one moment. One that ends as another starts has ended: the value can't exceed
 * a concurrency limit that was kept.
 * @param starts @param ends parallel columns, ms
 */
export function peakOverlap(starts: ArrayLike<number>, ends: ArrayLike<number>): number {
  const rises = new Float64Array(starts).sort();
  const falls = new Float64Array(ends).sort();
  let open = 0;
  let peak = 0;
  let fall = 0;
  for (const rise of rises) {
    while (fall < falls.length && (falls[fall] ?? 0) <= rise) {
      open -= 1;
      fall += 1;
    }
    open += 1;
    peak = Math.max(peak, open);
  }
  return peak;
}
