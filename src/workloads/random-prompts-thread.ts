import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { loadTokenizer } from '../tokens/load-tokenizer.ts';
import { generatorVersion, makeRandomPrompts } from './random-prompts.ts';
import type { RandomPromptsOrder, RandomPromptsReport } from './random-prompts-messages.ts';

/** The prompt thread: makes one job's prompts and ends. */
async function main(port: MessagePort, order: RandomPromptsOrder): Promise<void> {
  const send = (report: RandomPromptsReport): void => port.postMessage(report);
  if (order.version !== generatorVersion) return send({ kind: 'outdated' });
  const tokenizer = await loadTokenizer(order.source);
  const prompts = await makeRandomPrompts(tokenizer, order.job, (made) => send({ kind: 'progress', made }));
  send({ kind: 'done', prompts });
}

if (parentPort !== null) await main(parentPort, workerData);
