// Times inside events: microseconds of the host's CLOCK_MONOTONIC, which all processes of a host share, as text of a
// fixed length.

/** Digits of a stamp: enough for three years of uptime. */
export const stampDigits = 14;

/** What to add to `performance.now()` to get CLOCK_MONOTONIC, ms: the best of several readings. */
export const hostOffsetMs = (() => {
  let best = Number.POSITIVE_INFINITY;
  let offsetMs = 0;
  for (let i = 0; i < 64; i += 1) {
    const before = performance.now();
    const hostMs = Number(process.hrtime.bigint()) / 1e6;
    const after = performance.now();
    if (after - before >= best) continue;
    best = after - before;
    offsetMs = hostMs - (before + after) / 2;
  }
  return offsetMs;
})();

/** @param {number} timeMs a reading of `performance.now()` */
export function stampOf(timeMs) {
  return String(Math.round((timeMs + hostOffsetMs) * 1000)).padStart(stampDigits, '0');
}

/** The stamps in a reply's text, ms of CLOCK_MONOTONIC. */
export function stampsMs(text) {
  const stamps = [];
  for (let at = 0; at + stampDigits <= text.length; at += stampDigits) {
    stamps.push(Number(text.slice(at, at + stampDigits)) / 1000);
  }
  return stamps;
}
