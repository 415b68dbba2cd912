import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { threadEntry } from '../foundation/thread-entry.ts';
import { carriedTokenizer } from '../tokens/carried-tokenizer.ts';
import { makeRandomPrompts } from './random-prompts.ts';
import { makeRandomPromptsInThread } from './random-prompts-worker.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'omnimeter-thread-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const job = { seed: 3, prefixTokens: 4, bodyTokens: [5, 6, 7], starts: [1000, 2000, 3000] };
const source = { id: 'none', files: {} };

/** A thread of a few lines that does what a real one may do. */
function threadOf(name: string, code: string): string {
  const path = join(folder, `${name}.mjs`);
  writeFileSync(path, `import { parentPort, workerData } from 'node:worker_threads';\n${code}`);
  return path;
}

describe('the prompt thread', () => {
  test('is told the job, reports progress and ends with the prompts', async () => {
    const entry = threadOf(
      'good',
      `parentPort.postMessage({ kind: 'progress', made: 2 });
       const prompts = workerData.job.bodyTokens.map((tokens) => ({ text: 'x', tokens }));
       parentPort.postMessage({ kind: 'done', prompts });
       setInterval(() => undefined, 1000);`,
    );
    const progress: number[] = [];
    const request = { source, job, onProgress: (made: number) => progress.push(made) };
    const prompts = await makeRandomPromptsInThread(request, entry);
    expect(prompts?.map(({ tokens }) => tokens)).toEqual([5, 6, 7]);
    expect(progress).toEqual([2]);
  });

  const request = { source, job, onProgress: () => undefined };
  test('that is not built or outdated leaves the work to the caller', async () => {
    expect(await makeRandomPromptsInThread(request, join(folder, 'absent.mjs'))).toBeNull();
    const outdated = threadOf('outdated', "parentPort.postMessage({ kind: 'outdated' });");
    expect(await makeRandomPromptsInThread(request, outdated)).toBeNull();
  });

  test('that fails or ends early is an error, not a hang', async () => {
    const failing = threadOf('failing', "throw new Error('no such file');");
    await expect(makeRandomPromptsInThread(request, failing)).rejects.toThrow('no such file');
    const ending = threadOf('ending', 'process.exit(3);');
    await expect(makeRandomPromptsInThread(request, ending)).rejects.toThrow('ended early with code 3');
  });

  const built = existsSync(threadEntry('random-prompts-thread', import.meta.url));
  test.skipIf(!built)('as built makes the prompts that are made here (needs npm run build)', async () => {
    const tokenizer = await carriedTokenizer();
    if (tokenizer.source === undefined) throw new Error('the carried tokenizer has a source');
    const made: number[] = [];
    const onProgress = (count: number) => made.push(count);
    const prompts = await makeRandomPromptsInThread({ source: tokenizer.source, job, onProgress });
    expect(prompts).toEqual(await makeRandomPrompts(tokenizer, job, () => undefined));
    expect(prompts?.map(({ tokens }) => tokens)).toEqual([9, 10, 11]);
    expect(made.at(-1)).toBe(3);
  });
});
