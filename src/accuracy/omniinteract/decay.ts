/**
 * What an answer is worth by its time: whole until `peakS`, falling evenly to nothing at `endS` (α = γ = 1 of the
 * official protocol). A window without length is worth all or nothing.
 */
export function decay(valueS: number, peakS: number, endS: number): number {
  if (valueS <= peakS) return 1;
  if (endS <= peakS || valueS >= endS) return 0;
  return 1 - (valueS - peakS) / (endS - peakS);
}
