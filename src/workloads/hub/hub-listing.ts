import { z } from 'zod';
import { isCommit } from '../../tokens/hub-cache.ts';
import type { HubClient } from '../../tokens/hub-client.ts';
import { HubError } from '../../tokens/hub-errors.ts';
import { type HubRepository, isRepositoryPath } from '../../tokens/hub-repository.ts';

/** A file of a repository. */
export type HubFile = {
  /** Its path in the repository. */
  readonly name: string;
  /** `null` where it is known from the cache alone. */
  readonly sizeBytes: number | null;
};

/** What a revision is. */
export type RevisionFacts = { readonly commit: string };

const revisionAnswer = z.object({ sha: z.string() });

const treeAnswer = z.array(
  z.object({ type: z.string(), path: z.string(), size: z.number().nonnegative().optional() }),
);

/** The hub lists a thousand entries a page; more pages than this are no data set but a loop. */
const maxPages = 1_000;

function parsed<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  throw new HubError(
    `${what} does not answer like a model hub: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`.trim(),
  );
}

/** Asks `/api/datasets/<id>/revision/<revision>`; `null` where there is no such revision. */
export async function revisionFacts(
  client: HubClient,
  repository: HubRepository,
  revision: string,
): Promise<RevisionFacts | null> {
  const what = `/revision/${encodeURIComponent(revision)}`;
  const answer = await client.ask(repository, what);
  if (answer === null) return null;
  const { sha } = parsed(revisionAnswer, answer.value, what);
  if (!isCommit(sha)) throw new HubError(`the hub names "${sha}" as a commit of "${repository.id}"`);
  return { commit: sha };
}

const refNames = z.array(z.object({ name: z.string() })).default([]);
const refsAnswer = z.object({ branches: refNames, tags: refNames });

/** Asks `/api/datasets/<id>/refs` for the names of branches and tags. */
export async function revisionNames(client: HubClient, repository: HubRepository): Promise<string[]> {
  const answer = await client.ask(repository, '/refs');
  if (answer === null) return [];
  const { branches, tags } = parsed(refsAnswer, answer.value, `the list of revisions of ${repository.id}`);
  return [...branches, ...tags].map(({ name }) => name);
}

/** Asks `/api/datasets/<id>/tree/<commit>`, page after page; names that would leave the folder are refused. */
export async function listFiles(
  client: HubClient,
  repository: HubRepository,
  commit: string,
): Promise<readonly HubFile[]> {
  const files: HubFile[] = [];
  let what: string | URL | null = `/tree/${commit}?recursive=true&expand=false`;
  for (let page = 0; what !== null; page += 1) {
    if (page >= maxPages) throw new HubError(`the listing of "${repository.id}" has no end`);
    const answer = await client.ask(repository, what);
    if (answer === null) throw new HubError(`the hub has no listing of "${repository.id}" at ${commit}`);
    for (const { type, path, size } of parsed(treeAnswer, answer.value, `the listing of ${repository.id}`)) {
      if (type !== 'file') continue;
      if (!isRepositoryPath(path))
        throw new HubError(`the hub lists "${path}" in "${repository.id}", which is no path of a file`);
      files.push({ name: path, sizeBytes: size ?? null });
    }
    what = answer.next;
  }
  return files;
}
