import type { RandomMediaJob } from './random-media.ts';
import type { MediaOrigin } from './random-media-cache.ts';

/** What the media thread is started with. */
export type RandomMediaOrder = {
  /** {@link mediaGeneratorVersion} of whoever asks; a thread built from older sources must not answer. */
  readonly version: number;
  readonly job: RandomMediaJob;
  /** Where caches lie. */
  readonly env: Readonly<Record<string, string | undefined>>;
};

/** What the media thread says. */
export type RandomMediaReport =
  | { readonly kind: 'outdated' }
  | { readonly kind: 'note'; readonly line: string }
  /** The bytes are in shared memory. */
  | { readonly kind: 'item'; readonly index: number; readonly bytes: Uint8Array }
  | { readonly kind: 'done'; readonly origin: MediaOrigin };
