import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseDatasetReference } from './dataset-reference.ts';
import { type HubDatasetOptions, openHubDataset } from './hub-dataset.ts';
import { type HubStandIn, hubStandIn } from './hub-stand-in.suite.ts';

const first = 'a'.repeat(40);
const second = 'b'.repeat(40);
const converted = 'c'.repeat(40);
const large = Buffer.from(Array.from({ length: 300_000 }, (_, i) => (i * 7919) % 251));

let home: string;
let hub: HubStandIn;
let notes: string[];

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'omnimeter-hub-dataset-'));
  notes = [];
  hub = await hubStandIn({
    'acme/talks': {
      main: {
        commit: second,
        files: {
          'README.md': 'new',
          'data/a b.bin': large,
          'x.jsonl': '{}',
          'y.jsonl': '{}',
          'z/q.txt': 'q',
        },
      },
      v1: { commit: first, files: { 'README.md': 'old' } },
      'refs/convert/parquet': { commit: converted, files: { 'default/train/0000.parquet': 'PAR1' } },
    },
  });
});
afterEach(async () => {
  await hub.close();
  rmSync(home, { recursive: true });
});

const open = (reference: string, more: Partial<HubDatasetOptions> = {}, env: Record<string, string> = {}) =>
  openHubDataset(reference, {
    env: { HF_HOME: home, HF_ENDPOINT: hub.endpoint, ...env },
    note: (line) => notes.push(line),
    retryDelayMs: 0,
    ...more,
  });
const repository = () => join(home, 'hub', 'datasets--acme--talks');

describe('a data set on the hub', () => {
  test('lists its files page by page', async () => {
    const dataset = await open('acme/talks');
    expect(dataset.commit).toBe(second);
    expect(await dataset.files()).toEqual([
      { name: 'README.md', sizeBytes: 3 },
      { name: 'data/a b.bin', sizeBytes: 300_000 },
      { name: 'x.jsonl', sizeBytes: 2 },
      { name: 'y.jsonl', sizeBytes: 2 },
      { name: 'z/q.txt', sizeBytes: 1 },
    ]);
    await dataset.close();
  });

  test('keeps files as the hub’s own client does, and fetches none twice', async () => {
    const dataset = await open('acme/talks');
    const path = await dataset.file('data/a b.bin');
    expect(path).toBe(join(repository(), 'snapshots', second, 'data', 'a b.bin'));
    expect(readFileSync(path).equals(large)).toBe(true);
    expect(readFileSync(join(repository(), 'refs', 'main'), 'utf8')).toBe(second);
    const asked = hub.seen.length;
    expect(await dataset.file('data/a b.bin')).toBe(path);
    expect(hub.seen).toHaveLength(asked);
    await dataset.close();
  });

  test('at a tag, at a commit', async () => {
    const tagged = await open('acme/talks@v1');
    expect(tagged.commit).toBe(first);
    expect(readFileSync(await tagged.file('README.md'), 'utf8')).toBe('old');
    await tagged.close();
    const pinned = await open(`acme/talks@${second}`);
    expect(readFileSync(await pinned.file('README.md'), 'utf8')).toBe('new');
    await pinned.close();
  });

  test('has its rows as Parquet on a branch that follows main', async () => {
    const dataset = await open('acme/talks');
    const parquet = await dataset.parquet();
    expect(parquet?.commit).toBe(converted);
    expect(await parquet?.files()).toEqual([{ name: 'default/train/0000.parquet', sizeBytes: 4 }]);
    expect(readFileSync((await parquet?.file('default/train/0000.parquet')) ?? '', 'utf8')).toBe('PAR1');
    expect(readFileSync(join(repository(), 'refs', 'refs', 'convert', 'parquet'), 'utf8')).toBe(converted);
    await dataset.close();
    const tagged = await open('acme/talks@v1');
    expect(await tagged.parquet()).toBeNull();
    await tagged.close();
  });
});

describe('a download that breaks off', () => {
  const ranges = () => hub.seen.filter(({ host }) => host === 'storage').map(({ range }) => range);

  test('goes on where it was', async () => {
    hub.breakAfter.push(200_000);
    const dataset = await open('acme/talks');
    const path = await dataset.file('data/a b.bin');
    expect(readFileSync(path).equals(large)).toBe(true);
    expect(ranges().at(-1)).toMatch(/^bytes=[1-9]\d*-$/);
    expect(readdirSync(join(repository(), 'blobs'))).toHaveLength(1);
    await dataset.close();
  });

  test('goes on in a later run', async () => {
    hub.breakAfter.push(150_000, 1);
    const dataset = await open('acme/talks', { retries: 0 });
    await expect(dataset.file('data/a b.bin')).rejects.toThrow(/broke off|ended after/);
    await dataset.close();
    expect(readdirSync(join(repository(), 'blobs'))).toEqual([
      expect.stringMatching(/^[0-9a-f]{64}\.incomplete$/),
    ]);
    hub.breakAfter.length = 0;
    const again = await open('acme/talks');
    expect(readFileSync(await again.file('data/a b.bin')).equals(large)).toBe(true);
    expect(ranges().at(-1)).toMatch(/^bytes=[1-9]\d*-$/);
    await again.close();
  });

  test('and was damaged is thrown away', async () => {
    const dataset = await open('acme/talks');
    mkdirSync(join(repository(), 'blobs'), { recursive: true });
    const { createHash } = await import('node:crypto');
    const digest = createHash('sha256').update(large).digest('hex');
    writeFileSync(join(repository(), 'blobs', `${digest}.incomplete`), 'not what the hub has');
    await expect(dataset.file('data/a b.bin')).rejects.toThrow(/damaged: its SHA-256/);
    expect(readFileSync(await dataset.file('data/a b.bin')).equals(large)).toBe(true);
    await dataset.close();
  });
});

describe('without the hub', () => {
  test('the cache is enough', async () => {
    const dataset = await open('acme/talks');
    const path = await dataset.file('x.jsonl');
    await dataset.close();
    const asked = hub.seen.length;
    const offline = await open('acme/talks', {}, { HF_HUB_OFFLINE: '1' });
    expect(await offline.files()).toEqual([{ name: 'x.jsonl', sizeBytes: null }]);
    expect(await offline.file('x.jsonl')).toBe(path);
    await expect(offline.file('y.jsonl')).rejects.toThrow(/"y\.jsonl".*HF_HUB_OFFLINE/);
    expect(await offline.parquet()).toBeNull();
    expect(hub.seen).toHaveLength(asked);
  });

  test('out of reach, the cache is used and it is said', async () => {
    const dataset = await open('acme/talks');
    const path = await dataset.file('x.jsonl');
    await dataset.close();
    const gone = { HF_ENDPOINT: 'http://127.0.0.1:1' };
    const cached = await open('acme/talks', {}, gone);
    expect(await cached.file('x.jsonl')).toBe(path);
    expect(notes[0]).toMatch(/acme\/talks: the copy in the cache is used \(no hub in reach/);
    await cached.close();
    await expect(open('acme/other', {}, gone)).rejects.toThrow(/no hub in reach/);
  });

  test('nothing cached, offline', async () => {
    await expect(open('acme/talks', {}, { HF_HUB_OFFLINE: '1' })).rejects.toThrow(
      /"acme\/talks" at main is not in the cache .*hub \(HF_HUB_CACHE .*; unset HF_HUB_OFFLINE, or fetch it/,
    );
    expect(existsSync(join(home, 'hub'))).toBe(false);
  });
});

describe('what goes wrong', () => {
  test('is said', async () => {
    await expect(open('acme/none')).rejects.toThrow(/no data set "acme\/none".*; check the id/);
    await expect(open('acme/talks@nope')).rejects.toThrow(
      /"acme\/talks" has no revision "nope"; it has: main, v1, refs\/convert\/parquet$/,
    );
    const dataset = await open('acme/talks');
    await expect(dataset.file('nope.bin')).rejects.toThrow(/has no file "nope\.bin" at main/);
    await expect(dataset.file('../../etc/passwd')).rejects.toThrow(/not the name of a file/);
    await dataset.close();
  });

  test('a cache that cannot be written', async () => {
    writeFileSync(join(home, 'hub'), 'a file where the folder should be');
    await expect(open('acme/talks')).rejects.toThrow(/could not be kept in .*set HF_HUB_CACHE/);
  });

  test('a listing that leads out of the folder is refused', async () => {
    const hostile = await hubStandIn({
      'acme/talks': { main: { commit: first, files: { '../../../evil': 'x' } } },
    });
    const dataset = await open('acme/talks', {}, { HF_ENDPOINT: hostile.endpoint });
    await expect(dataset.files()).rejects.toThrow(/no path of a file/);
    await dataset.close();
    await hostile.close();
  });
});

test.each([
  ['acme/talks', { id: 'acme/talks', revision: 'main' }],
  ['acme/talks@v1.0', { id: 'acme/talks', revision: 'v1.0' }],
  ['squad@refs/pr/3', { id: 'squad', revision: 'refs/pr/3' }],
  ['acme/talks@', null],
  ['acme/talks@../x', null],
  ['acme/talks@a@b', null],
  ['/data/talks', null],
])('%j is read as %j', (text, expected) => {
  expect(parseDatasetReference(text)).toEqual(expected);
});
