/** What requests may bring. */
export type ApiLimits = {
  /** Largest request body. */
  readonly bodyBytes: number;
  /** Largest image, sound or video, wherever it comes from. */
  readonly mediaBytes: number;
  /** Most pixels of an image or video frame, taken or made: width · height. */
  readonly imagePixels: number;
  /** Longest sound or video taken, and longest video made, s. */
  readonly mediaS: number;
  /** Most frames of a video made. */
  readonly videoFrames: number;
  /** Longest wait for media that a request names by URL. */
  readonly fetchTimeoutMs: number;
  /** Hosts from which media that a request names by URL are fetched, in lower case; `null` = any. */
  readonly mediaHosts: readonly string[] | null;
};

export const apiLimits: ApiLimits = {
  bodyBytes: 512 * 1024 * 1024,
  mediaBytes: 256 * 1024 * 1024,
  imagePixels: 8192 * 8192,
  mediaS: 3600,
  videoFrames: 20_000,
  fetchTimeoutMs: 30_000,
  mediaHosts: null,
};
