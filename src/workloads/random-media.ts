import { availableParallelism } from 'node:os';
import { randomStream } from '../foundation/random.ts';
import { noiseWav } from '../media/noise-audio.ts';
import { noiseJpeg } from '../media/noise-image.ts';
import { NoiseSource } from '../media/noise-source.ts';
import { noiseVideo, type VideoEncoder } from '../media/noise-video.ts';
import type { MmItem } from './mm-plan.ts';

/** To be raised whenever the same job would give other bytes: it names cache entries and checks threads. */
export const mediaGeneratorVersion = 1;

/** Which media to make; plain data, so that it can go to a thread and name a cache entry. */
export type RandomMediaJob = {
  readonly seed: number;
  /** In the order of the requests that they belong to. */
  readonly items: readonly MmItem[];
  /** Makes the videos, and its version: another one gives other bytes. */
  readonly videoEncoder: { readonly kind: VideoEncoder; readonly version: string };
};

/** Frames per second of every video, as in the reference. */
const fps = 30;
/** Beyond this many at once nothing gets faster, and each holds its pixels in memory. */
const maxLanes = 8;

async function makeItem(job: RandomMediaJob, index: number, noise: NoiseSource): Promise<Uint8Array> {
  const item = job.items[index];
  if (item === undefined) throw new Error(`there is no item ${index}`);
  const random = randomStream(job.seed, `random-mm-media-${index}`);
  switch (item.kind) {
    case 'image':
      return await noiseJpeg(item, random, noise);
    case 'video':
      return await noiseVideo({ ...item, fps }, job.videoEncoder.kind, random, noise);
    case 'audio':
      return noiseWav(item, random, noise);
  }
}

/**
 * Makes the media of a job, several at once. Each draws from a random stream of its own, so that neither their
 * number nor their order changes any of them.
 * @param onItem called with each, in the order in which they are done
 * @param lanes how many are made at once
 */
export async function makeRandomMedia(
  job: RandomMediaJob,
  onItem: (index: number, bytes: Uint8Array) => void | Promise<void>,
  lanes: number = Math.min(maxLanes, availableParallelism() + 1),
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    const noise = new NoiseSource();
    while (next < job.items.length) {
      const index = next;
      next += 1;
      await onItem(index, await makeItem(job, index, noise));
    }
  };
  await Promise.all(Array.from({ length: Math.min(lanes, job.items.length) }, lane));
}
