import { messageOf } from '../foundation/errors.ts';
import { type HubCache, hubCache } from './hub-cache.ts';
import { type HubClient, HubError, hubClient } from './hub-client.ts';
import { type Environment, hubEnvironment } from './hub-environment.ts';
import type { TokenizerSource } from './tokenizer.ts';
import {
  collectTokenizerFiles,
  isTokenizer,
  type TokenizerFiles,
  tokenizerFileNames,
  tokenizerFilesWanted,
} from './tokenizer-files.ts';

const segment = /^[\w](?:[\w.-]{0,94}[\w])?$/;

/**
 * Whether a text can be a model's id on the hub: `name` or `org/name` of letters, digits, `_`, `-` and `.`, as
 * the hub itself allows; never a path that leaves its folder.
 */
export function isHubId(text: string): boolean {
  const segments = text.split('/');
  return (
    segments.length <= 2 &&
    text.length <= 96 &&
    segments.every((part) => segment.test(part)) &&
    !/--|\.\.|\.git$/.test(text)
  );
}

function cachedFiles(cache: HubCache, commit: string): TokenizerFiles {
  return collectTokenizerFiles((name) => {
    const found = cache.find(commit, name);
    return found === 'absent' ? null : found;
  });
}

/** Fetches one file into the cache; returns the commit it belongs to, where the hub said so. */
async function download(
  client: HubClient,
  cache: HubCache,
  file: { readonly id: string; readonly revision: string; readonly name: string },
): Promise<string | null> {
  const answer = await client.fetch(file.id, file.revision, file.name);
  if (answer.kind === 'found') await cache.store({ ...answer, name: file.name });
  else if (answer.commit !== null) await cache.markAbsent(answer.commit, file.name);
  return answer.commit;
}

/** Fetches what `main` has of the tokenizer's files; all of them from the commit that the first answer names. */
async function downloadAll(client: HubClient, cache: HubCache, id: string): Promise<TokenizerFiles> {
  const [first, ...others] = tokenizerFileNames.map(([, name]) => name);
  const commit = await download(client, cache, { id, revision: 'main', name: first ?? '' });
  if (commit === null) return {};
  const fast = cache.find(commit, first ?? '') !== 'absent';
  const wanted = others.filter((name) => !(fast && (name === 'vocab.json' || name === 'merges.txt')));
  await Promise.all(wanted.map((name) => download(client, cache, { id, revision: commit, name })));
  await cache.setMainCommit(commit);
  return cachedFiles(cache, commit);
}

/**
 * A model's tokenizer on the hub. A cached one is used as it stands, without a request; the cache is shared with
 * the hub's own Python client.
 * @param options.lookupTimeoutMs how long the hub may take to begin an answer
 * @throws HubError saying what was in the way: offline, out of reach, refused, or a model without tokenizer files
 */
export async function hubTokenizer(
  id: string,
  options: { readonly env: Environment; readonly lookupTimeoutMs: number },
): Promise<TokenizerSource> {
  if (!isHubId(id)) throw new HubError(`"${id}" is neither a path nor a model id of the form org/name`);
  const hub = hubEnvironment(options.env);
  const cache = hubCache(hub.cacheFolder, id);
  const commit = cache.mainCommit();
  const cached = commit === null ? {} : cachedFiles(cache, commit);
  if (isTokenizer(cached)) return { id, files: cached };
  if (hub.offline)
    throw new HubError(
      `"${id}" has no tokenizer in ${hub.cacheFolder}, and HF_HUB_OFFLINE forbids to ask the hub`,
    );
  const client = await hubClient(hub, options);
  try {
    const files = await downloadAll(client, cache, id);
    if (isTokenizer(files)) return { id, files };
    throw new HubError(`"${id}" on the hub has no ${tokenizerFilesWanted}`);
  } catch (cause) {
    // Anything but a failing disk is a HubError already, or a bug.
    if (!(cause instanceof Error && 'syscall' in cause)) throw cause;
    throw new HubError(
      `the tokenizer of "${id}" could not be kept in ${hub.cacheFolder} (${messageOf(cause)}); ` +
        'set HF_HUB_CACHE to a folder that can be written',
      { cause },
    );
  } finally {
    await client.close();
  }
}
