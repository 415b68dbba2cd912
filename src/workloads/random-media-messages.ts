import type { ShelvedMedia } from './media-shelf.ts';
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
  | { readonly kind: 'media'; readonly media: ShelvedMedia }
  | { readonly kind: 'done'; readonly origin: MediaOrigin };
