import type { IncomingHttpHeaders } from 'node:http';
import { type Readable, Transform } from 'node:stream';
import type { Dispatcher } from 'undici';
import { InputFileError, messageOf } from '../foundation/errors.ts';
import { isCommit, isEtag } from './hub-cache.ts';
import type { HubEnvironment } from './hub-environment.ts';

/** The hub did not give what was asked for; the message says why and what to do. */
export class HubError extends InputFileError {}

/** A file of a commit, or the fact that the commit has none of that name. */
export type HubAnswer =
  | { readonly kind: 'found'; readonly commit: string; readonly etag: string; readonly body: Readable }
  | { readonly kind: 'absent'; readonly commit: string | null };

export type HubClient = {
  /**
   * @param revision a branch or a commit
   * @throws HubError where the hub is out of reach, refuses, or gives no usable answer
   */
  fetch(id: string, revision: string, name: string): Promise<HubAnswer>;
  close(): Promise<void>;
};

const maxRedirects = 5;
/** The largest tokenizer.json known are about 35 MB. */
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

function refusal(id: string, status: number, hasToken: boolean): HubError {
  if (status === 401 || status === 403)
    return new HubError(
      `the hub answered ${status} for "${id}": it does not exist, or it is private or gated. ` +
        (hasToken
          ? 'The token in use has no access to it; ask for access on its page.'
          : 'Set HF_TOKEN, or log in with the hub’s own client, if you have access.'),
    );
  if (status === 404) return new HubError(`the hub has no model "${id}"`);
  return new HubError(`the hub answered ${status} for "${id}"; try again, or give a folder instead`);
}

/** Refuses a body that is longer than any tokenizer, or shorter than the server said. */
function checkedBody(answer: Answer, id: string): Readable {
  const stated = header(answer.headers, 'content-length');
  let bytes = 0;
  const check = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > maxBodyBytes)
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

/**
 * @param options.lookupTimeoutMs how long the hub may take to begin its answer, name lookup, connection and
 *   redirects included
 */
export async function hubClient(
  hub: HubEnvironment,
  options: { readonly lookupTimeoutMs: number },
): Promise<HubClient> {
  if (!URL.canParse(hub.endpoint)) throw new HubError(`HF_ENDPOINT is "${hub.endpoint}", which is not a URL`);
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

  const get = async (url: URL, signal: AbortSignal): Promise<Answer> => {
    const headers: Record<string, string> = { 'accept-encoding': 'identity', 'user-agent': 'omnimeter' };
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
  const follow = async (start: URL, signal: AbortSignal) => {
    let url = start;
    let commit: string | null = null;
    let etag: string | null = null;
    for (let hops = 0; hops <= maxRedirects; hops += 1) {
      const answer = await get(url, signal);
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

  const lookUp = async (url: URL) => {
    const abort = new AbortController();
    const timer = setTimeout(
      () => abort.abort(new Error(`no answer in ${lookupTimeoutMs / 1000} s`)),
      lookupTimeoutMs,
    );
    try {
      return await follow(url, abort.signal);
    } catch (cause) {
      if (cause instanceof HubError) throw cause;
      throw new HubError(`no hub in reach at ${hub.endpoint} (${messageOf(cause)})`, { cause });
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    fetch: async (id, revision, name) => {
      const url = new URL(`${hub.endpoint}/${id}/resolve/${encodeURIComponent(revision)}/${name}`);
      const { answer, commit, etag } = await lookUp(url);
      const usable = commit !== null && isCommit(commit) ? commit : null;
      if (answer.statusCode === 200) {
        if (usable !== null && etag !== null && isEtag(etag))
          return { kind: 'found', commit: usable, etag, body: checkedBody(answer, id) };
        await answer.body.dump();
        throw new HubError(`${url.href} does not answer like a model hub (no commit or etag in its headers)`);
      }
      await answer.body.dump();
      const reason = header(answer.headers, 'x-error-code');
      if (answer.statusCode === 404 && reason !== 'RepoNotFound' && reason !== 'RevisionNotFound')
        return { kind: 'absent', commit: usable };
      throw refusal(id, answer.statusCode, hub.token !== null);
    },
    // Not `close`, which would wait for downloads that nobody wants any more.
    close: () => dispatcher.destroy(),
  };
}
