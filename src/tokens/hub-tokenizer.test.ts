import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isHubId } from './hub-repository.ts';
import { hubTokenizer } from './hub-tokenizer.ts';
import { loadTokenizer } from './load-tokenizer.ts';

const fixture = fileURLToPath(new URL('./__fixtures__/tiny-wordpiece/', import.meta.url));
const tokenizerJson = readFileSync(join(fixture, 'tokenizer.json'));
const configJson = readFileSync(join(fixture, 'tokenizer_config.json'));
const commit = '2439f60ef33a0d46d85da5001d52aeda5b00ce9f';
const sha256 = createHash('sha256').update(tokenizerJson).digest('hex');
const gitSha = '7cb18dc9bafbfcf74629a4b760af1b160957a83e';

type Seen = { readonly path: string; readonly host: string; readonly authorization: string | undefined };
type Respond = (request: IncomingMessage, response: ServerResponse) => void;

async function listen(respond: Respond): Promise<{ server: Server; origin: string }> {
  const server = createServer(respond);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

let home: string;
let seen: Seen[];
let servers: Server[];
let respond: Respond;
let env: Record<string, string>;

/** A hub and its storage host: tokenizer.json lies in the storage behind a redirect, as large files do. */
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'omnimeter-hub-'));
  seen = [];
  const note = (host: string, { url, headers }: IncomingMessage) =>
    seen.push({ path: url ?? '', host, authorization: headers.authorization });
  const storage = await listen((request, response) => {
    note('storage', request);
    response.writeHead(200, { etag: '"storage-etag"', 'content-length': tokenizerJson.length });
    response.end(tokenizerJson);
  });
  respond = (request, response) => {
    const file = request.url?.split('/').at(-1);
    const facts = { 'x-repo-commit': commit };
    if (file === 'tokenizer.json')
      response.writeHead(302, {
        ...facts,
        location: `${storage.origin}/blob?signed=1`,
        'x-linked-etag': `"${sha256}"`,
        etag: '"of-the-pointer"',
      });
    else if (file === 'tokenizer_config.json') {
      response.writeHead(200, { ...facts, etag: `W/"${gitSha}"` });
      response.write(configJson);
    } else response.writeHead(404, { ...facts, 'x-error-code': 'EntryNotFound' });
    response.end();
  };
  const hub = await listen((request, response) => {
    note('hub', request);
    respond(request, response);
  });
  servers = [hub.server, storage.server];
  env = { HF_HOME: home, HF_ENDPOINT: `${hub.origin}/` };
});
afterEach(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  rmSync(home, { recursive: true });
});

const find = (id: string, more: Record<string, string> = {}) =>
  hubTokenizer(id, { env: { ...env, ...more }, lookupTimeoutMs: 5_000 });
const repository = () => join(home, 'hub', 'models--acme--tiny');

describe('a hub id', () => {
  test('is fetched through redirects into the cache layout of the hub’s own client', async () => {
    const source = await find('acme/tiny');
    const snapshot = join(repository(), 'snapshots', commit);
    expect(source).toEqual({
      id: 'acme/tiny',
      files: { tokenizer: join(snapshot, 'tokenizer.json'), config: join(snapshot, 'tokenizer_config.json') },
    });
    expect(readFileSync(join(repository(), 'refs', 'main'), 'utf8')).toBe(commit);
    expect(lstatSync(join(snapshot, 'tokenizer.json')).isSymbolicLink()).toBe(true);
    expect(readlinkSync(join(snapshot, 'tokenizer.json'))).toBe(`../../blobs/${sha256}`);
    expect(readlinkSync(join(snapshot, 'tokenizer_config.json'))).toBe(`../../blobs/${gitSha}`);
    expect(readdirSync(join(repository(), 'blobs')).sort()).toEqual([sha256, gitSha].sort());
    expect(readdirSync(join(repository(), '.no_exist', commit)).sort()).toEqual([
      'chat_template.jinja',
      'chat_template.json',
    ]);
    expect((await loadTokenizer(source)).encode('hello world')).toEqual([4, 5]);
  });

  test('is asked for at main once and then at the commit that main was', async () => {
    await find('acme/tiny');
    const paths = seen.filter(({ host }) => host === 'hub').map(({ path }) => path);
    expect(paths[0]).toBe('/acme/tiny/resolve/main/tokenizer.json');
    expect(paths.slice(1).every((path) => path.startsWith(`/acme/tiny/resolve/${commit}/`))).toBe(true);
    expect(paths).toHaveLength(4);
  });

  test('is not asked for again', async () => {
    const first = await find('acme/tiny');
    seen = [];
    expect(await find('acme/tiny')).toEqual(first);
    expect(await find('acme/tiny', { HF_HUB_OFFLINE: '1' })).toEqual(first);
    expect(seen).toEqual([]);
  });

  test('is found where the Python client has put it', async () => {
    const snapshot = join(home, 'elsewhere', 'models--acme--tiny', 'snapshots', commit);
    const blobs = join(home, 'elsewhere', 'models--acme--tiny', 'blobs');
    const refs = join(home, 'elsewhere', 'models--acme--tiny', 'refs');
    for (const folder of [snapshot, blobs, refs]) mkdirSync(folder, { recursive: true });
    writeFileSync(join(blobs, sha256), tokenizerJson);
    symlinkSync(`../../blobs/${sha256}`, join(snapshot, 'tokenizer.json'));
    writeFileSync(join(refs, 'main'), commit);
    const source = await find('acme/tiny', { HF_HUB_CACHE: join(home, 'elsewhere'), HF_HUB_OFFLINE: 'true' });
    expect(source.files).toEqual({ tokenizer: join(snapshot, 'tokenizer.json') });
    expect(seen).toEqual([]);
  });

  test('sends the token to the hub and to no other host', async () => {
    await find('acme/tiny', { HF_TOKEN: 'hf_secret' });
    const by = (host: string) => new Set(seen.filter((s) => s.host === host).map((s) => s.authorization));
    expect(by('hub')).toEqual(new Set(['Bearer hf_secret']));
    expect(by('storage')).toEqual(new Set([undefined]));
  });

  test('takes the token from the file that a login leaves', async () => {
    writeFileSync(join(home, 'token'), 'hf_from_file\n');
    await find('acme/tiny');
    expect(seen[0]?.authorization).toBe('Bearer hf_from_file');
    rmSync(join(home, 'hub'), { recursive: true });
    seen = [];
    await find('acme/tiny', { HF_HUB_DISABLE_IMPLICIT_TOKEN: '1' });
    expect(seen[0]?.authorization).toBeUndefined();
  });

  test('is fetched through the proxy of the environment, unless no_proxy says otherwise', async () => {
    const tunnels: string[] = [];
    const proxy = await listen(() => undefined);
    servers.push(proxy.server);
    proxy.server.on('connect', (request, client) => {
      tunnels.push(request.url ?? '');
      const [host, port] = (request.url ?? '').split(':');
      const upstream = connect(Number(port), host, () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
      upstream.on('error', () => client.destroy());
      client.on('error', () => upstream.destroy());
      upstream.pipe(client).pipe(upstream);
    });
    await find('acme/tiny', { http_proxy: proxy.origin, no_proxy: '127.0.0.1' });
    expect(tunnels).toEqual([]);
    rmSync(join(home, 'hub'), { recursive: true });
    await find('acme/tiny', { http_proxy: proxy.origin });
    expect(tunnels).toContain(new URL(env.HF_ENDPOINT ?? '').host);
  });

  test('that moved is followed on the hub itself', async () => {
    const original = respond;
    respond = (request, response) => {
      if (!request.url?.startsWith('/old/')) return original(request, response);
      response.writeHead(307, { location: request.url.replace('/old/tiny', '/acme/tiny') }).end();
    };
    const source = await find('old/tiny');
    expect((await loadTokenizer(source)).vocabSize).toBe(9);
  });

  test('without tokenizer.json is fetched as vocab.json and merges.txt', async () => {
    const bodies: Record<string, string> = {
      'vocab.json': '{"a": 0, "b": 1, "ab": 2}',
      'merges.txt': '#version: 0.2\na b\n',
      'tokenizer_config.json': '{"tokenizer_class": "Qwen2Tokenizer"}',
    };
    respond = (request, response) => {
      const body = bodies[request.url?.split('/').at(-1) ?? ''];
      const facts = { 'x-repo-commit': commit, etag: `"e${body?.length ?? 0}"` };
      response.writeHead(body === undefined ? 404 : 200, facts).end(body);
    };
    const tokenizer = await loadTokenizer(await find('acme/tiny'));
    expect(tokenizer.encode('abb')).toEqual([2, 1]);
  });
});

describe('what goes wrong', () => {
  test.each([
    [401, 'RepoNotFound', /401 for "acme\/tiny": it does not exist, or .*; check the id, and set HF_TOKEN/],
    [
      401,
      'GatedRepo',
      /it is gated; accept its terms on http:\/\/127\.0\.0\.1:\d+\/acme\/tiny and set HF_TOKEN/,
    ],
    [404, 'RepoNotFound', /no model "acme\/tiny" of that revision; check the id and the revision.*HF_TOKEN/],
    [404, 'RevisionNotFound', /no such revision of the model "acme\/tiny"; check the branch/],
    [404, 'EntryNotFound', /no tokenizer\.json, or vocab\.json with merges\.txt/],
    [
      429,
      '',
      /429 for "acme\/tiny": too many.*; wait the 77 s that it asks for and start again, or set HF_TOKEN/,
    ],
    [503, '', /answered 503 for "acme\/tiny"; try again later, or give a folder/],
  ])('status %d %s is said, and what to do', async (status, code, message) => {
    const headers = { 'x-error-code': code, 'x-repo-commit': commit, 'retry-after': '77' };
    respond = (_, response) => response.writeHead(status, headers).end('{}');
    await expect(find('acme/tiny')).rejects.toThrow(message);
    expect(existsSync(join(repository(), 'snapshots'))).toBe(false);
  });

  test.each([
    [401, 'RepoNotFound', /the token in use .* is not valid or has no access; check the id and the token/],
    [
      403,
      'GatedRepo',
      /the account of the token in use .* has no access; accept its terms on http.*with that/,
    ],
    [429, '', /wait some minutes and start again$/],
  ])('status %d %s is said otherwise where there is a token', async (status, code, message) => {
    respond = (_, response) => response.writeHead(status, { 'x-error-code': code }).end('{}');
    await expect(find('acme/tiny', { HF_TOKEN: 'hf_secret' })).rejects.toThrow(message);
  });

  test.each(['HF_HUB_OFFLINE', 'TRANSFORMERS_OFFLINE'])('offline by %s, nobody is asked', async (name) => {
    await expect(find('acme/tiny', { [name]: '1' })).rejects.toThrow(
      `the tokenizer of "acme/tiny" is not in the cache ${join(home, 'hub')} (HF_HUB_CACHE names another), and ${name} forbids to ask the hub; unset ${name}, or`,
    );
    expect(seen).toEqual([]);
    // The first that is set decides.
    await expect(
      find('acme/tiny', { HF_HUB_OFFLINE: '0', TRANSFORMERS_OFFLINE: '1' }),
    ).resolves.toBeDefined();
  });

  test('a hub that is not there', async () => {
    const gone = await listen(() => undefined);
    gone.server.close();
    await expect(find('acme/tiny', { HF_ENDPOINT: gone.origin })).rejects.toThrow(
      /no hub in reach at http.*ECONNREFUSED.*; check the network.*HF_ENDPOINT to a mirror.*give a folder/,
    );
    await expect(find('acme/tiny', { HF_ENDPOINT: 'hub' })).rejects.toThrow(/HF_ENDPOINT is "hub"/);
  });

  test('a hub that does not answer is given up', async () => {
    respond = () => undefined;
    await expect(hubTokenizer('acme/tiny', { env, lookupTimeoutMs: 50 })).rejects.toThrow(/no hub in reach/);
  });

  test('redirects without end', async () => {
    respond = (request, response) => response.writeHead(302, { location: `${request.url}` }).end();
    await expect(find('acme/tiny')).rejects.toThrow(/more than 5 redirects/);
  });

  test('a body that breaks off leaves nothing that could be taken for the file', async () => {
    respond = (_, response) => {
      response.writeHead(200, { 'x-repo-commit': commit, etag: '"abc"', 'content-length': 1000 });
      response.write('half', () => response.destroy());
    };
    await expect(find('acme/tiny')).rejects.toThrow(/broke off|ended after/);
    expect(existsSync(join(repository(), 'blobs', 'abc'))).toBe(false);
    expect(existsSync(join(repository(), 'snapshots'))).toBe(false);
  });

  test.each([
    ['../../../etc', 'abc'],
    [commit, '../../escape'],
    [commit, '..'],
  ])('headers that would leave the cache (%j, %j) are refused', async (badCommit, etag) => {
    respond = (_, response) => response.writeHead(200, { 'x-repo-commit': badCommit, etag }).end('{}');
    await expect(find('acme/tiny')).rejects.toThrow(/does not answer like a model hub/);
    expect(existsSync(join(home, 'hub'))).toBe(false);
  });

  test('a cache that cannot be written', async () => {
    writeFileSync(join(home, 'hub'), 'a file where the folder should be');
    await expect(find('acme/tiny')).rejects.toThrow(/could not be kept in .*set HF_HUB_CACHE/);
  });
});

test.each([
  ['gpt2', true],
  ['Qwen/Qwen3-Omni-30B-A3B-Instruct', true],
  ['a/b/c', false],
  ['../x', false],
  ['a/..', false],
  ['a--b/c', false],
  ['a/b.git', false],
  ['', false],
  ['/etc', false],
  ['a b/c', false],
])('%j is a hub id: %s', (text, valid) => {
  expect(isHubId(text)).toBe(valid);
});
