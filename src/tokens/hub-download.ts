import type { HubCache } from './hub-cache.ts';
import { abandon, type HubAnswer, type HubClient } from './hub-client.ts';
import { HubError } from './hub-errors.ts';
import type { HubRepository } from './hub-repository.ts';
import type { PartialBlob } from './partial-blob.ts';

/** A file on the hub. */
export type HubFileRequest = {
  readonly repository: HubRepository;
  /** A branch, a tag, a ref or a commit. */
  readonly revision: string;
  readonly name: string;
};

/** What came of a download: where the file is, or that the commit has none; with the commit, where the hub said it. */
export type Downloaded = { readonly path: string | null; readonly commit: string | null };

export type DownloadOptions = {
  /** How often a download that broke off goes on before it fails. */
  readonly retries: number;
  /** Pause before the first of them; doubled each time, up to 8 s. */
  readonly retryDelayMs: number;
  /** Bytes of the file that are here, and how many there are, where known. */
  progress?(bytes: number, total: number | null): void;
};

type Found = Extract<HubAnswer, { kind: 'found' }>;

/** The body broke off, which going on may mend. */
class BrokenOff extends HubError {}

/** Large files are stored by their SHA-256, which is their etag then. */
function statedSha256(etag: string): string | null {
  return /^[0-9a-f]{64}$/.test(etag) ? etag : null;
}

async function receive(answer: Found, partial: PartialBlob, options: DownloadOptions): Promise<void> {
  let bytes = answer.fromByte;
  answer.body.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    options.progress?.(bytes, answer.sizeBytes);
  });
  try {
    await partial.append(answer.body, answer.fromByte);
  } catch (cause) {
    if (cause instanceof HubError) throw new BrokenOff(cause.message, { cause });
    throw cause;
  }
}

/** What the server sends is what it announced, or nothing of it is kept. */
async function check(partial: PartialBlob, answer: Found, name: string): Promise<void> {
  const sha256 = statedSha256(answer.etag);
  if (answer.sizeBytes !== null && partial.bytes !== answer.sizeBytes) {
    const { bytes } = partial;
    await partial.discard();
    throw new HubError(`"${name}" has ${bytes} bytes, but the hub said ${answer.sizeBytes}; try again`);
  }
  if (sha256 === null || (await partial.sha256()) === sha256) return;
  await partial.discard();
  throw new HubError(`"${name}" arrived damaged: its SHA-256 is not ${sha256}, as the hub says; try again`);
}

/** The rest of a file of which a part is here, if the hub still has the same file. */
async function restOf(
  first: Found,
  { client, file, fromByte }: { client: HubClient; file: HubFileRequest; fromByte: number },
): Promise<Found> {
  if (fromByte === 0 || fromByte >= (first.sizeBytes ?? Number.POSITIVE_INFINITY)) return first;
  abandon(first.body);
  const rest = await client.fetch({ ...file, revision: first.commit, fromByte });
  if (rest.kind === 'absent') throw new HubError(`"${file.name}" is gone from the hub`);
  // A body that starts further on than it should is no use; one from the beginning is.
  if (rest.etag === first.etag && rest.fromByte <= fromByte) return rest;
  abandon(rest.body);
  throw new HubError(`the hub sent another part of "${file.name}" than was asked for`);
}

/** One try. */
async function attempt(
  tools: { readonly client: HubClient; readonly cache: HubCache },
  file: HubFileRequest,
  options: DownloadOptions,
): Promise<Downloaded> {
  const { client, cache } = tools;
  const first = await client.fetch(file);
  if (first.kind === 'absent') {
    if (first.commit !== null) await cache.markAbsent(first.commit, file.name);
    return { path: null, commit: first.commit };
  }
  const { commit, etag } = first;
  if (cache.has(etag)) {
    abandon(first.body);
  } else {
    const partial = await cache.partial(etag);
    try {
      const answer = await restOf(first, { client, file, fromByte: partial.bytes });
      await receive(answer, partial, options);
      await check(partial, answer, file.name);
      await partial.complete();
    } catch (error) {
      await partial.leave();
      throw error;
    }
  }
  return { path: await cache.publish({ commit, etag, name: file.name }), commit };
}

/**
 * Fetches a file into the cache. What breaks off is gone on with, at once or in a later run; a file that is large
 * enough to be stored by its SHA-256 is checked against it.
 * @throws HubError where the hub is out of reach, refuses, or the file does not arrive whole
 */
export async function downloadFile(
  tools: { readonly client: HubClient; readonly cache: HubCache },
  file: HubFileRequest,
  options: DownloadOptions,
): Promise<Downloaded> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await attempt(tools, file, options);
    } catch (error) {
      if (!(error instanceof BrokenOff) || tries >= options.retries) throw error;
      const delayMs = Math.min(options.retryDelayMs * 2 ** tries, 8_000);
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
  }
}
