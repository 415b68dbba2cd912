import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../foundation/errors.ts';
import type { TokenizerSource } from '../tokens/tokenizer.ts';
import { cacheFolder, makeRoom, markUsed } from './cache-folder.ts';
import type { RandomPrompt } from './random-prompt-maker.ts';
import { generatorVersion, type RandomPromptsJob } from './random-prompts.ts';

/** Prompts made earlier, on disk. It only saves time: whatever is wrong with it, prompts are made again. */
export type RandomPromptsCache = {
  /** @returns `null` where nothing usable is kept under this key */
  read(key: string): Promise<RandomPrompt[] | null>;
  write(key: string, prompts: readonly RandomPrompt[]): Promise<void>;
};

/** Older entries make room beyond this. */
const maxFolderBytes = 512 * 1024 * 1024;

/**
 * Names a job's result by everything it depends on, the contents of the tokenizer's files included.
 * @throws Error where a file of the tokenizer cannot be read
 */
export async function randomPromptsKey(source: TokenizerSource, job: RandomPromptsJob): Promise<string> {
  const hash = createHash('sha256').update(JSON.stringify({ generatorVersion, job }));
  for (const [role, path] of Object.entries(source.files).sort())
    hash.update(role).update(await readFile(path));
  return hash.digest('hex');
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Two lines: the digest of the second, and the prompts as `[text, tokens]` pairs. */
function parseEntry(text: string): RandomPrompt[] | null {
  const end = text.indexOf('\n');
  const body = text.slice(end + 1);
  // The digest proves that the body is what was written, so that its form needs no check of its own.
  if (end < 0 || digest(body) !== text.slice(0, end)) return null;
  const pairs: [text: string, tokens: number][] = JSON.parse(body);
  return pairs.map(([prompt, tokens]) => ({ text: prompt, tokens }));
}

/**
 * The cache in `$XDG_CACHE_HOME/omnimeter/random-prompts`, or under `~/.cache`.
 * @param options.note gets one line when an entry cannot be written
 * @returns `null` with `OMNIMETER_CACHE=off`
 */
export function randomPromptsCache(options: {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly note: (line: string) => void;
  readonly maxBytes?: number;
}): RandomPromptsCache | null {
  const { env, note, maxBytes = maxFolderBytes } = options;
  const folder = cacheFolder(env, 'random-prompts');
  if (folder === null) return null;
  const pathOf = (key: string): string => join(folder, `${key}.txt`);
  return {
    read: async (key) => {
      try {
        const prompts = parseEntry(await readFile(pathOf(key), 'utf8'));
        if (prompts !== null) await markUsed(pathOf(key));
        return prompts;
      } catch {
        return null;
      }
    },
    write: async (key, prompts) => {
      const body = JSON.stringify(prompts.map(({ text, tokens }) => [text, tokens]));
      if (Buffer.byteLength(body) > maxBytes) return;
      const temporary = `${pathOf(key)}.${process.pid}.${randomBytes(4).toString('hex')}.incomplete`;
      try {
        await mkdir(folder, { recursive: true });
        await writeFile(temporary, `${digest(body)}\n${body}`);
        await rename(temporary, pathOf(key));
        await makeRoom(folder, '.txt', maxBytes);
      } catch (cause) {
        await rm(temporary, { force: true }).catch(() => undefined);
        note(
          `random: the prompts could not be kept in ${folder} for the next run (${messageOf(cause)}). ` +
            'OMNIMETER_CACHE=off turns this cache off.',
        );
      }
    },
  };
}
