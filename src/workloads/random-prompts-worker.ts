import { existsSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { threadEntry } from '../foundation/thread-entry.ts';
import type { TokenizerSource } from '../tokens/tokenizer.ts';
import type { RandomPrompt } from './random-prompt-maker.ts';
import { generatorVersion, type RandomPromptsJob } from './random-prompts.ts';
import type { RandomPromptsOrder, RandomPromptsReport } from './random-prompts-messages.ts';

/**
 * Makes a job's prompts in a thread of its own.
 * @param entry the built thread; another one only in tests
 * @returns `null` where no usable thread is built, which happens only when sources run unbuilt
 */
export async function makeRandomPromptsInThread(
  request: {
    readonly source: TokenizerSource;
    readonly job: RandomPromptsJob;
    readonly onProgress: (made: number) => void;
  },
  entry: string = threadEntry('random-prompts-thread', import.meta.url),
): Promise<readonly RandomPrompt[] | null> {
  if (!existsSync(entry)) return null;
  const order: RandomPromptsOrder = { version: generatorVersion, source: request.source, job: request.job };
  const worker = new Worker(entry, { workerData: order });
  try {
    return await new Promise((resolve, reject) => {
      worker.on('message', (report: RandomPromptsReport) => {
        if (report.kind === 'progress') request.onProgress(report.made);
        else resolve(report.kind === 'done' ? report.prompts : null);
      });
      worker.on('error', reject);
      worker.on('exit', (code) => reject(new Error(`the prompt thread ended early with code ${code}`)));
    });
  } finally {
    await worker.terminate();
  }
}
