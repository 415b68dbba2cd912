import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { MediaShelf } from './media-shelf.ts';
import { mediaGeneratorVersion } from './random-media.ts';
import { obtainRandomMedia } from './random-media-cache.ts';
import type { RandomMediaOrder, RandomMediaReport } from './random-media-messages.ts';

/** The media thread: makes one job's media and ends. */
async function main(port: MessagePort, order: RandomMediaOrder): Promise<void> {
  const send = (report: RandomMediaReport): void => port.postMessage(report);
  if (order.version !== mediaGeneratorVersion) return send({ kind: 'outdated' });
  const shelf = new MediaShelf((media) => send({ kind: 'media', media }));
  const origin = await obtainRandomMedia(order.job, {
    env: order.env,
    note: (line) => send({ kind: 'note', line }),
    onItem: (index, bytes) => shelf.add(index, bytes),
  });
  shelf.flush();
  send({ kind: 'done', origin });
}

if (parentPort !== null) await main(parentPort, workerData);
