/** A distribution by its quantiles, joined by straight lines: [share, value], the first 0, the last 1. */
export type Quantiles = readonly (readonly [share: number, value: number])[];

/** How fast a duplex model is, and how much it says of itself. */
export type DuplexLaws = {
  /** From the start of a response until its first text and sound, ms. */
  readonly ttftMs: Quantiles;
  /** From the start of a response until its last sound, over the sound's length. */
  readonly rtf: Quantiles;
  /** Between the tokens of a unit, ms. */
  readonly tpotMs: Quantiles;
  /** The language stage's own first token, ms. */
  readonly firstTokenMs: number;
  /** From the end of a unit until it is known that the model listens on, ms. */
  readonly listenMs: number;
};

/**
 * The published run of OmniInteract's 1q1a (per response first text and first sound 547.8 ms in the mean, 492 in the
 * median, 968 at P99; real-time factor 0.977, 0.966, 1.43; 11.46, 10.98, 14.24 ms a token), and that of
 * Omni-DuplexEval's RTD_OCR (341, 308, 417 ms; 0.49; 11.99 ms). The values between are chosen so that the means hold.
 */
export const duplexCalibrations = {
  omniinteract: {
    ttftMs: [
      [0, 380],
      [0.5, 492],
      [0.9, 726.5],
      [0.99, 968],
      [1, 1000],
    ],
    rtf: [
      [0, 0.8],
      [0.5, 0.966],
      [0.9, 1.0757],
      [0.99, 1.43],
      [1, 1.45],
    ],
    tpotMs: [
      [0, 10],
      [0.5, 10.98],
      [0.9, 13.2],
      [0.99, 14.24],
      [1, 14.5],
    ],
    firstTokenMs: 59.9,
    listenMs: 59.9,
  },
  rtd_ocr: {
    ttftMs: [
      [0, 290],
      [0.5, 308],
      [0.6, 369.8],
      [0.99, 417],
      [1, 420],
    ],
    rtf: [
      [0, 0.45],
      [1, 0.53],
    ],
    tpotMs: [
      [0, 11.5],
      [1, 12.48],
    ],
    firstTokenMs: 59.9,
    listenMs: 59.9,
  },
} as const satisfies Record<string, DuplexLaws>;

/** The names that a script may give. */
export const calibrationNames = [
  'omniinteract',
  'rtd_ocr',
] as const satisfies readonly (keyof typeof duplexCalibrations)[];

/** @param share uniform in [0, 1) */
export function drawQuantile(quantiles: Quantiles, share: number): number {
  let [fromShare, fromValue] = quantiles[0] ?? [0, 0];
  for (const [toShare, toValue] of quantiles) {
    if (share <= toShare && toShare > fromShare)
      return fromValue + ((share - fromShare) / (toShare - fromShare)) * (toValue - fromValue);
    [fromShare, fromValue] = [toShare, toValue];
  }
  return fromValue;
}
