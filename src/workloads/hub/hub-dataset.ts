import { messageOf } from '../../foundation/errors.ts';
import { type HubCache, hubCache } from '../../tokens/hub-cache.ts';
import { type HubClient, hubClient } from '../../tokens/hub-client.ts';
import { downloadFile } from '../../tokens/hub-download.ts';
import { type HubEnvironment, hubEnvironment } from '../../tokens/hub-environment.ts';
import { HubError, offlineError } from '../../tokens/hub-errors.ts';
import { type HubRepository, isFullCommit, isRepositoryPath } from '../../tokens/hub-repository.ts';
import { type DatasetReference, parseDatasetReference } from './dataset-reference.ts';
import { type HubFile, listFiles, type RevisionFacts, revisionFacts, revisionNames } from './hub-listing.ts';

/** The branch that the hub keeps for each data set, with its rows as Parquet: `<config>/<split>/0000.parquet`. */
export const parquetBranch = 'refs/convert/parquet';

export type HubDatasetOptions = {
  /** HF_ENDPOINT, HF_HOME, HF_HUB_CACHE, HF_TOKEN, HF_HUB_OFFLINE and the proxies, as the hub's own client has them. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A line for the user, e.g. that the hub is out of reach and the cache is used. */
  note(line: string): void;
  /** Bytes of a file that are here, and how many there are, where known. */
  progress?(name: string, bytes: number, total: number | null): void;
  /** How long the hub may take to begin an answer; 20 s by default. */
  readonly lookupTimeoutMs?: number;
  /** How often a download that broke off goes on before it fails; 5 by default. */
  readonly retries?: number;
  /** Pause before the first of them, doubled each time; 500 ms by default. */
  readonly retryDelayMs?: number;
};

/** A data set at one commit; its files come from the cache that is shared with the hub's own client, or from the hub. */
export type HubDataset = {
  readonly id: string;
  /** What was asked for: a branch, a tag, a ref or a commit. */
  readonly revision: string;
  /** The commit that it was at; `id@commit` gives the same files again. */
  readonly commit: string;
  /** The files of the commit; without the hub, those in the cache. */
  files(): Promise<readonly HubFile[]>;
  /**
   * The path of a file, fetched first where it is not in the cache yet.
   * @throws HubError where the data set has no such file, or it can't be got
   */
  file(name: string): Promise<string>;
  /** The same data set's rows as the hub converts them, or `null` where it does not. */
  parquet(): Promise<HubDataset | null>;
  close(): Promise<void>;
};

type Tools = {
  readonly hub: HubEnvironment;
  readonly options: HubDatasetOptions;
  /** Makes the client when it is first needed. */
  client(): Promise<HubClient>;
};

/** The commit that a revision is at now; the one that it was at, where the hub is out of reach. */
async function resolveCommit(
  tools: Tools,
  cache: HubCache,
  { repository, revision }: { readonly repository: HubRepository; readonly revision: string },
): Promise<RevisionFacts | null> {
  const { hub, options } = tools;
  if (isFullCommit(revision)) return { commit: revision };
  const known = cache.commitOf(revision);
  if (hub.offline) {
    if (known !== null) return { commit: known };
    throw offlineError(hub, `data set "${repository.id}" at ${revision}`);
  }
  let facts: RevisionFacts | null;
  try {
    facts = await revisionFacts(await tools.client(), repository, revision);
  } catch (cause) {
    if (known === null || !(cause instanceof HubError)) throw cause;
    options.note(`${repository.id}: the copy in the cache is used (${cause.message}).`);
    return { commit: known };
  }
  if (facts !== null) await cache.setCommit(revision, facts.commit);
  return facts;
}

async function at(
  tools: Tools,
  { id, revision }: DatasetReference,
  close: () => Promise<void>,
): Promise<HubDataset | null> {
  const { hub, options } = tools;
  const repository: HubRepository = { kind: 'dataset', id };
  const cache = hubCache(hub.cacheFolder, repository);
  const facts = await resolveCommit(tools, cache, { repository, revision });
  if (facts === null) return null;
  const { commit } = facts;
  const cachedFiles = () => cache.names(commit).map((name) => ({ name, sizeBytes: null }));
  let listing: Promise<readonly HubFile[]> | null = null;

  const list = async (): Promise<readonly HubFile[]> => {
    if (hub.offline) return cachedFiles();
    try {
      return await listFiles(await tools.client(), repository, commit);
    } catch (cause) {
      const cached = cachedFiles();
      if (cached.length === 0 || !(cause instanceof HubError)) throw cause;
      options.note(`${id}: only the files in the cache are used (${cause.message}).`);
      return cached;
    }
  };

  const fetchFile = async (name: string): Promise<string> => {
    if (!isRepositoryPath(name)) throw new HubError(`"${name}" is not the name of a file in "${id}"`);
    const cached = cache.find(commit, name);
    if (cached !== null && cached !== 'absent') return cached;
    if (hub.offline) throw offlineError(hub, `"${name}" of data set "${id}" at ${commit}`);
    const client = await tools.client();
    const { path } = await downloadFile(
      { client, cache },
      { repository, revision: commit, name },
      {
        retries: options.retries ?? 5,
        retryDelayMs: options.retryDelayMs ?? 500,
        progress: (bytes, total) => options.progress?.(name, bytes, total),
      },
    );
    if (path === null)
      throw new HubError(`data set "${id}" has no file "${name}" at ${revision} (${commit})`);
    return path;
  };

  return {
    id,
    revision,
    commit,
    files: () => {
      listing ??= list();
      return listing;
    },
    file: (name) => kept(hub, () => fetchFile(name)),
    parquet: async () => {
      // The branch follows `main`, and says nothing of other revisions.
      if (revision !== 'main' || (hub.offline && cache.commitOf(parquetBranch) === null)) return null;
      try {
        return await at(tools, { id, revision: parquetBranch }, async () => undefined);
      } catch (cause) {
        if (!(cause instanceof HubError)) throw cause;
        options.note(`${id}: its files are read as they are, without the hub's Parquet (${cause.message}).`);
        return null;
      }
    },
    close,
  };
}

/** Turns a failing disk into an error that says what to do. */
async function kept<T>(hub: HubEnvironment, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof Error && 'syscall' in cause)) throw cause;
    throw new HubError(
      `a data set could not be kept in ${hub.cacheFolder} (${messageOf(cause)}); set HF_HUB_CACHE to a folder ` +
        'that can be written and has room',
      { cause },
    );
  }
}

/** Says which revisions there are, as far as the hub tells. */
async function noRevision(client: HubClient, { id, revision }: DatasetReference): Promise<HubError> {
  const names = await revisionNames(client, { kind: 'dataset', id }).catch(() => []);
  const listed =
    names.length > 0 ? `it has: ${names.slice(0, 20).join(', ')}` : 'see its page for those it has';
  return new HubError(`data set "${id}" has no revision "${revision}"; ${listed}`);
}

/**
 * A data set on the hub, `org/name` or `org/name@revision`. A branch's commit is asked for each time, as the hub's own
 * client does; files that are in the cache are not fetched again.
 * @throws HubError saying what was in the way: offline, out of reach, refused, no such data set or revision
 */
export async function openHubDataset(reference: string, options: HubDatasetOptions): Promise<HubDataset> {
  const parsed = parseDatasetReference(reference);
  if (parsed === null)
    throw new HubError(`"${reference}" is not a data set's id of the form org/name or org/name@revision`);
  const hub = hubEnvironment(options.env);
  let client: Promise<HubClient> | null = null;
  const tools: Tools = {
    hub,
    options,
    client: () => {
      client ??= hubClient(hub, { lookupTimeoutMs: options.lookupTimeoutMs ?? 20_000 });
      return client;
    },
  };
  const close = async (): Promise<void> => {
    await (await client)?.close();
  };
  try {
    const dataset = await kept(hub, () => at(tools, parsed, close));
    if (dataset !== null) return dataset;
    throw await noRevision(await tools.client(), parsed);
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
}
