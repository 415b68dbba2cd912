/** Whole requests and sounds, seconds. */
export const longSeconds = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300];
/** Steps and conversions, seconds. */
export const fineSeconds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60];
/** Synthesis time over the sound's length. */
export const ratios = [0.1, 0.25, 0.5, 0.75, 0.9, 1, 1.25, 1.5, 2, 5, 10];

/** B: 1 KiB times four, nine times over. */
export const byteSizes = Array.from({ length: 10 }, (_, k) => 1024 * 4 ** k);
