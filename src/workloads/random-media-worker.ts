import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { threadEntry } from '../foundation/thread-entry.ts';
import type { ShelvedMedia } from './media-shelf.ts';
import { mediaGeneratorVersion, type RandomMediaJob } from './random-media.ts';
import type { MediaKeeping, MediaOrigin } from './random-media-cache.ts';
import type { RandomMediaOrder, RandomMediaReport } from './random-media-messages.ts';

function unpack({ memory, places }: ShelvedMedia, onItem: MediaKeeping['onItem']): void {
  for (const { index, start, length } of places) onItem(index, new Uint8Array(memory, start, length));
}

/**
 * Obtains a job's media in a thread of its own.
 * @param entry the built thread; another one only in tests
 * @returns `null` where no usable thread is built, which happens only when sources run unbuilt
 */
export async function obtainRandomMediaInThread(
  job: RandomMediaJob,
  { env, note, onItem }: Omit<MediaKeeping, 'maxBytes'>,
  entry: string = threadEntry('random-media-thread', import.meta.url),
): Promise<MediaOrigin | null> {
  if (!existsSync(entry)) return null;
  const { OMNIMETER_CACHE, XDG_CACHE_HOME, HOME } = env;
  const order: RandomMediaOrder = {
    version: mediaGeneratorVersion,
    job,
    env: { OMNIMETER_CACHE, XDG_CACHE_HOME, HOME },
  };
  const worker = new Worker(entry, { workerData: order, name: 'omnimeter-media' });
  try {
    return await new Promise((resolve, reject) => {
      worker.on('message', (report: RandomMediaReport) => {
        if (report.kind === 'media') unpack(report.media, onItem);
        else if (report.kind === 'note') note(report.line);
        else resolve(report.kind === 'done' ? report.origin : null);
      });
      worker.on('error', reject);
      worker.on('exit', (code) => reject(new Error(`the media thread ended early with code ${code}`)));
    });
  } finally {
    await worker.terminate();
  }
}
