import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One revision of a data set on the stand-in. */
export type StandInRevision = {
  readonly commit: string;
  readonly files: Readonly<Record<string, Uint8Array | string>>;
};

/** What the stand-in holds: data sets by id, their revisions by branch, tag or ref. */
export type StandInDatasets = Readonly<Record<string, Readonly<Record<string, StandInRevision>>>>;

export type HubStandIn = {
  readonly endpoint: string;
  /** Every request: method and path, with the range asked for. */
  readonly seen: { readonly path: string; readonly host: 'hub' | 'storage'; readonly range: string | null }[];
  /** The next bodies from the storage end after so many bytes. */
  readonly breakAfter: number[];
  close(): Promise<void>;
};

/** As on the hub, files from this size on lie in a storage behind a redirect, with their SHA-256 as etag. */
const largeBytes = 1_000;
const pageSize = 3;

async function listen(respond: (request: IncomingMessage, response: ServerResponse) => void) {
  const server: Server = createServer(respond);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

function json(response: ServerResponse, value: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

function missing(response: ServerResponse, code: string, commit?: string): void {
  response
    .writeHead(404, { 'x-error-code': code, ...(commit === undefined ? {} : { 'x-repo-commit': commit }) })
    .end('{}');
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/**
 * The part of the hub's HTTP API that data sets need, over loopback: `/api/datasets/<id>/revision|tree|refs`, and
 * `/datasets/<id>/resolve/…` with redirects to a storage of its own, etags and ranges.
 */
export async function hubStandIn(datasets: StandInDatasets): Promise<HubStandIn> {
  const seen: HubStandIn['seen'] = [];
  const breakAfter: number[] = [];
  const blobs = new Map<string, Buffer>();
  const note = (host: 'hub' | 'storage', request: IncomingMessage) =>
    seen.push({ path: request.url ?? '', host, range: request.headers.range ?? null });

  const storage = await listen((request, response) => {
    note('storage', request);
    const blob = blobs.get((request.url ?? '').slice(1)) ?? Buffer.alloc(0);
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const part = blob.subarray(from);
    response.writeHead(from > 0 ? 206 : 200, {
      'content-length': part.length,
      etag: '"of-the-storage"',
      ...(from > 0 ? { 'content-range': `bytes ${from}-${blob.length - 1}/${blob.length}` } : {}),
    });
    const cut = breakAfter.shift();
    if (cut === undefined) response.end(part);
    else response.write(part.subarray(0, cut), () => setTimeout(() => response.destroy(), 30));
  });

  const revisionOf = (id: string, revision: string): StandInRevision | undefined => {
    const revisions = datasets[id] ?? {};
    return revisions[revision] ?? Object.values(revisions).find(({ commit }) => commit === revision);
  };

  const resolve = (response: ServerResponse, found: StandInRevision, name: string): void => {
    const content = found.files[name];
    if (content === undefined) {
      missing(response, 'EntryNotFound', found.commit);
      return;
    }
    const bytes = Buffer.from(content);
    const digest = sha256(bytes);
    const facts = { 'x-repo-commit': found.commit };
    if (bytes.length < largeBytes) {
      response.writeHead(200, {
        ...facts,
        etag: `"${digest.slice(0, 40)}"`,
        'content-length': bytes.length,
      });
      response.end(bytes);
      return;
    }
    blobs.set(digest, bytes);
    response
      .writeHead(302, {
        ...facts,
        location: `${storage.origin}/${digest}`,
        etag: '"of-the-pointer"',
        'x-linked-etag': `"${digest}"`,
        'x-linked-size': String(bytes.length),
      })
      .end();
  };

  const tree = (response: ServerResponse, found: StandInRevision, url: URL): void => {
    const entries = Object.entries(found.files).map(([path, content]) => ({
      type: 'file',
      path,
      oid: 'f'.repeat(40),
      size: Buffer.from(content).length,
    }));
    const from = Number(url.searchParams.get('cursor') ?? 0);
    const next = from + pageSize;
    url.searchParams.set('cursor', String(next));
    // As a mirror does, the stand-in names another host in its links.
    const link = `<https://hub.example${url.pathname}${url.search}>; rel="next"`;
    json(response, entries.slice(from, next), next < entries.length ? { link } : {});
  };

  const hub = await listen((request, response) => {
    note('hub', request);
    const url = new URL(request.url ?? '', 'http://hub');
    const route =
      /^\/(api\/)?datasets\/([^/]+\/[^/]+)\/(revision|tree|resolve|refs)(?:\/([^/]+))?(?:\/(.+))?$/.exec(
        url.pathname,
      );
    const [, , id = '', action, revision = '', name = ''] = route ?? [];
    const found = revisionOf(id, decodeURIComponent(revision));
    if (datasets[id] === undefined) missing(response, 'RepoNotFound');
    else if (action === 'refs')
      json(response, { branches: Object.keys(datasets[id] ?? {}).map((name) => ({ name })), tags: [] });
    else if (found === undefined) missing(response, 'RevisionNotFound');
    else if (action === 'revision') json(response, { id, sha: found.commit });
    else if (action === 'tree') tree(response, found, url);
    else resolve(response, found, decodeURIComponent(name));
  });

  return {
    endpoint: hub.origin,
    seen,
    breakAfter,
    close: async () => {
      for (const { server } of [hub, storage]) {
        server.closeAllConnections();
        server.close();
        await once(server, 'close');
      }
    },
  };
}
