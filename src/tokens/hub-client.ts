import type { IncomingHttpHeaders } from 'node:http';
import { type Readable, Transform } from 'node:stream';
import type { Dispatcher } from 'undici';
import { messageOf } from '../foundation/errors.ts';
import { isCommit, isEtag } from './hub-cache.ts';
import type { HubEnvironment } from './hub-environment.ts';
import { HubError, type Refusal, refusalError, unreachableError } from './hub-errors.ts';
import type { HubRepository } from './hub-repository.ts';

/** A file of a commit, or the fact that the commit has none of that name. */
export type HubAnswer =
  | {
      readonly kind: 'found';
      readonly commit: string;
      readonly etag: string;
      /** From where in the file the body starts; 0 where the hub gave all of it, whatever was asked. */
      readonly fromByte: number;
      /** Length of the whole file, where the hub said it. */
      readonly sizeBytes: number | null;
      readonly body: Readable;
    }
  | { readonly kind: 'absent'; readonly commit: string | null };

/** What a path of the hub's API answered. */
export type HubJson = {
  readonly value: unknown;
  /** Where a long listing goes on, or `null`. */
  readonly next: URL | null;
};

export type HubClient = {
  /**
   * @param file.revision a branch, a tag, a ref or a commit
   * @param file.fromByte asks for the rest of a file from there on
   * @throws HubError where the hub is out of reach, refuses, or gives no usable answer
   */
  fetch(file: {
    readonly repository: HubRepository;
    readonly revision: string;
    readonly name: string;
    readonly fromByte?: number;
  }): Promise<HubAnswer>;
  /**
   * Asks the hub's API about a repository.
   * @param what a path below `/api/<kind>s/<id>`, such as `/tree/main?recursive=true`, or a listing's next page
   * @returns `null` where the hub has no such thing in a repository that exists
   * @throws HubError as `fetch`
   */
  ask(repository: HubRepository, what: string | URL): Promise<HubJson | null>;
  close(): Promise<void>;
};

const maxRedirects = 5;
/** The largest files of a tokenizer are about 35 MB, and the largest listings a few; data sets have no such limit. */
const maxBodyBytes = 512 * 1024 * 1024;
const idleTimeoutMs = 30_000;

type Answer = Dispatcher.ResponseData;

function header(headers: IncomingHttpHeaders, name: string): string | null {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? null;
}

/** `W/"abc"` and `"abc"` are both abc. */
function etagOf(headers: IncomingHttpHeaders): string | null {
  const stated = header(headers, 'x-linked-etag') ?? header(headers, 'etag');
  return stated?.replace(/^W\//, '').replaceAll('"', '') ?? null;
}

function refusalOf(answer: Answer): Refusal {
  return {
    status: answer.statusCode,
    code: header(answer.headers, 'x-error-code'),
    retryAfter: header(answer.headers, 'retry-after'),
  };
}

/** Refuses a body that is longer than it can be meant to be, or shorter than the server said. */
function checkedBody(answer: Answer, { kind, id }: HubRepository): Readable {
  const stated = header(answer.headers, 'content-length');
  let bytes = 0;
  const check = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (kind === 'model' && bytes > maxBodyBytes)
        done(new HubError(`a tokenizer file of "${id}" is over ${maxBodyBytes} bytes`));
      else done(null, chunk);
    },
    flush(done) {
      const whole = stated === null || Number(stated) === bytes;
      done(whole ? null : new HubError(`a file of "${id}" ended after ${bytes} of ${stated} bytes`));
    },
  });
  const brokenOff = (cause: Error): HubError =>
    new HubError(`the download of a file of "${id}" broke off: ${cause.message}`, { cause });
  // Whoever reads the stream gets the error; until somebody does, it must not end the process.
  check.on('error', () => undefined);
  return answer.body.on('error', (cause) => check.destroy(brokenOff(cause))).pipe(check);
}

/** Gives up a body that nobody will read, and its connection with it. */
export function abandon(body: Readable): void {
  body.on('error', () => undefined).destroy();
}

/** Where the body of a partial answer starts, and how long the whole file is. */
function extentOf(answer: Answer): { fromByte: number; sizeBytes: number | null } {
  if (answer.statusCode === 206) {
    const range = /^bytes (\d+)-\d+\/(\d+|\*)$/.exec(header(answer.headers, 'content-range') ?? '');
    const [, from, size] = range ?? [];
    if (from !== undefined && size !== undefined)
      return { fromByte: Number(from), sizeBytes: size === '*' ? null : Number(size) };
    throw new HubError('the hub answered 206 without saying which part of the file it sends');
  }
  const stated = header(answer.headers, 'content-length');
  return { fromByte: 0, sizeBytes: stated === null ? null : Number(stated) };
}

/** `<https://…&cursor=…>; rel="next"` */
function nextPage(answer: Answer, base: URL): URL | null {
  const link = /<([^>]+)>\s*;\s*rel="?next"?/.exec(header(answer.headers, 'link') ?? '')?.[1];
  if (link === undefined || !URL.canParse(link, base.href)) return null;
  const next = new URL(link, base.href);
  // A mirror hands on the links of the hub that it mirrors.
  next.protocol = base.protocol;
  next.host = base.host;
  return next;
}

async function textOf(body: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    if (!Buffer.isBuffer(chunk)) continue;
    bytes += chunk.length;
    if (bytes > maxBodyBytes) throw new HubError(`a listing is over ${maxBodyBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function isAbsence(answer: Answer): boolean {
  const reason = header(answer.headers, 'x-error-code');
  return answer.statusCode === 404 && reason !== 'RepoNotFound' && reason !== 'RevisionNotFound';
}

function resolveUrl(endpoint: string, file: Parameters<HubClient['fetch']>[0]): URL {
  const { repository, revision, name } = file;
  const path = name.split('/').map(encodeURIComponent).join('/');
  const root = repository.kind === 'dataset' ? 'datasets/' : '';
  return new URL(`${endpoint}/${root}${repository.id}/resolve/${encodeURIComponent(revision)}/${path}`);
}

/**
 * @param options.lookupTimeoutMs how long the hub may take to begin its answer, name lookup, connection and
 *   redirects included
 */
export async function hubClient(
  hub: HubEnvironment,
  options: { readonly lookupTimeoutMs: number },
): Promise<HubClient> {
  if (!URL.canParse(hub.endpoint))
    throw new HubError(
      `HF_ENDPOINT is "${hub.endpoint}", which is not a URL; set it to one such as https://huggingface.co, or unset it`,
    );
  // Lazy, because only a hub id that is not cached needs it.
  const { EnvHttpProxyAgent } = await import('undici');
  const { lookupTimeoutMs } = options;
  const dispatcher = new EnvHttpProxyAgent({
    httpProxy: hub.proxies.http ?? '',
    httpsProxy: hub.proxies.https ?? '',
    noProxy: hub.proxies.no ?? '',
    connect: { timeout: lookupTimeoutMs },
    bodyTimeout: idleTimeoutMs,
  });
  const hubOrigin = new URL(hub.endpoint).origin;

  const get = async (url: URL, signal: AbortSignal, fromByte: number): Promise<Answer> => {
    const headers: Record<string, string> = { 'accept-encoding': 'identity', 'user-agent': 'omnimeter' };
    if (fromByte > 0) headers.range = `bytes=${fromByte}-`;
    // A redirect leads to a storage host, which must not see the token.
    if (hub.token !== null && url.origin === hubOrigin) headers.authorization = `Bearer ${hub.token}`;
    return dispatcher.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'GET',
      headers,
      signal,
    });
  };

  /** Follows redirects; commit and etag stand in the hub's own answers, not in those of its storage. */
  const follow = async (start: URL, signal: AbortSignal, fromByte: number) => {
    let url = start;
    let commit: string | null = null;
    let etag: string | null = null;
    for (let hops = 0; hops <= maxRedirects; hops += 1) {
      const answer = await get(url, signal, fromByte);
      commit ??= header(answer.headers, 'x-repo-commit');
      if (url.origin === hubOrigin) etag = etagOf(answer.headers) ?? etag;
      const location = header(answer.headers, 'location');
      if (answer.statusCode < 300 || answer.statusCode > 399 || location === null)
        return { answer, commit, etag };
      await answer.body.dump();
      url = new URL(location, url);
    }
    throw new HubError(`more than ${maxRedirects} redirects from ${start.href}`);
  };

  const lookUp = async (url: URL, fromByte = 0) => {
    const abort = new AbortController();
    const timer = setTimeout(
      () => abort.abort(new Error(`no answer in ${lookupTimeoutMs / 1000} s`)),
      lookupTimeoutMs,
    );
    try {
      return await follow(url, abort.signal, fromByte);
    } catch (cause) {
      if (cause instanceof HubError) throw cause;
      throw unreachableError(hub, cause);
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    fetch: async (file) => {
      const url = resolveUrl(hub.endpoint, file);
      const { answer, commit, etag } = await lookUp(url, file.fromByte);
      const usable = commit !== null && isCommit(commit) ? commit : null;
      if (answer.statusCode === 200 || answer.statusCode === 206) {
        if (usable !== null && etag !== null && isEtag(etag)) {
          const extent = extentOf(answer);
          return {
            kind: 'found',
            commit: usable,
            etag,
            ...extent,
            body: checkedBody(answer, file.repository),
          };
        }
        abandon(answer.body);
        throw new HubError(`${url.href} does not answer like a model hub (no commit or etag in its headers)`);
      }
      await answer.body.dump();
      if (isAbsence(answer)) return { kind: 'absent', commit: usable };
      throw refusalError(hub, file.repository, refusalOf(answer));
    },
    ask: async (repository, what) => {
      const url =
        typeof what === 'string'
          ? new URL(`${hub.endpoint}/api/${repository.kind}s/${repository.id}${what}`)
          : what;
      const { answer } = await lookUp(url);
      if (answer.statusCode !== 200) {
        await answer.body.dump();
        if (answer.statusCode === 404 && header(answer.headers, 'x-error-code') !== 'RepoNotFound')
          return null;
        throw refusalError(hub, repository, refusalOf(answer));
      }
      try {
        const text = await textOf(checkedBody(answer, repository));
        return { value: JSON.parse(text), next: nextPage(answer, url) };
      } catch (cause) {
        if (cause instanceof HubError) throw cause;
        throw new HubError(`${url.href} did not answer with JSON (${messageOf(cause)})`, { cause });
      }
    },
    // Not `close`, which would wait for downloads that nobody wants any more.
    close: () => dispatcher.destroy(),
  };
}
