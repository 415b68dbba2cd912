import { messageOf } from '../foundation/errors.ts';
import { type HubCache, hubCache } from './hub-cache.ts';
import { type HubClient, hubClient } from './hub-client.ts';
import { downloadFile } from './hub-download.ts';
import { type Environment, hubEnvironment } from './hub-environment.ts';
import { HubError, offlineError } from './hub-errors.ts';
import { isHubId } from './hub-repository.ts';
import type { TokenizerSource } from './tokenizer.ts';
import {
  collectTokenizerFiles,
  isTokenizer,
  type TokenizerFiles,
  tokenizerFileNames,
  tokenizerFilesWanted,
} from './tokenizer-files.ts';

function cachedFiles(cache: HubCache, commit: string): TokenizerFiles {
  return collectTokenizerFiles((name) => {
    const found = cache.find(commit, name);
    return found === 'absent' ? null : found;
  });
}

/** Fetches what `main` has of the tokenizer's files; all of them from the commit that the first answer names. */
async function downloadAll(client: HubClient, cache: HubCache, id: string): Promise<TokenizerFiles> {
  const repository = { kind: 'model', id } as const;
  const download = (revision: string, name: string) =>
    downloadFile({ client, cache }, { repository, revision, name }, { retries: 0, retryDelayMs: 0 });
  const [first, ...others] = tokenizerFileNames.map(([, name]) => name);
  const { commit } = await download('main', first ?? '');
  if (commit === null) return {};
  const fast = cache.find(commit, first ?? '') !== 'absent';
  const wanted = others.filter((name) => !(fast && (name === 'vocab.json' || name === 'merges.txt')));
  await Promise.all(wanted.map((name) => download(commit, name)));
  await cache.setCommit('main', commit);
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
  const cache = hubCache(hub.cacheFolder, { kind: 'model', id });
  const commit = cache.commitOf('main');
  const cached = commit === null ? {} : cachedFiles(cache, commit);
  if (isTokenizer(cached)) return { id, files: cached };
  if (hub.offline) throw offlineError(hub, `the tokenizer of "${id}"`);
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
