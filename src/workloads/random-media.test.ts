import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { threadEntry } from '../foundation/thread-entry.ts';
import { MediaShelf, type ShelvedMedia } from './media-shelf.ts';
import type { MmItem } from './mm-plan.ts';
import { makeRandomMedia, type RandomMediaJob } from './random-media.ts';
import { obtainRandomMedia, randomMediaKey } from './random-media-cache.ts';
import { obtainRandomMediaInThread } from './random-media-worker.ts';

let home: string;
let notes: string[];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'omnimeter-media-'));
  notes = [];
});
afterEach(() => rmSync(home, { recursive: true }));

const image: MmItem = { kind: 'image', widthPx: 40, heightPx: 24 };
const video: MmItem = { kind: 'video', widthPx: 32, heightPx: 32, numFrames: 2 };
const audio: MmItem = { kind: 'audio', durationS: 0.05, channels: 2 };
const job: RandomMediaJob = {
  seed: 5,
  items: [image, audio, image, video, image, audio, video, image],
  videoEncoder: { kind: 'built-in', version: '1' },
};

const folder = () => join(home, 'omnimeter', 'random-media');
const entries = () => readdirSync(folder());
const env = () => ({ XDG_CACHE_HOME: home });

/** Puts items where they belong. */
function into(items: Buffer[]) {
  return (index: number, bytes: Uint8Array): void => {
    items[index] = Buffer.from(bytes);
  };
}

async function made(of: RandomMediaJob, lanes?: number): Promise<Buffer[]> {
  const items: Buffer[] = [];
  await makeRandomMedia(of, into(items), lanes);
  return items;
}

async function obtained(of: RandomMediaJob, maxBytes?: number): Promise<Buffer[]> {
  const items: Buffer[] = [];
  await obtainRandomMedia(of, {
    env: env(),
    note: (line) => notes.push(line),
    onItem: into(items),
    ...(maxBytes === undefined ? {} : { maxBytes }),
  });
  return items;
}

describe('random media', () => {
  test('are the same bytes however many are made at once', async () => {
    const [one, two, five, many] = await Promise.all([
      made(job, 1),
      made(job, 2),
      made(job, 5),
      made(job, 64),
    ]);
    expect(one).toHaveLength(job.items.length);
    expect(two).toEqual(one);
    expect(five).toEqual(one);
    expect(many).toEqual(one);
    expect(new Set(one?.map((bytes) => bytes.toString('hex'))).size).toBe(job.items.length);
  });

  test('of more requests begin with those of fewer', async () => {
    const fewer = await made({ ...job, items: job.items.slice(0, 3) });
    expect((await made(job)).slice(0, 3)).toEqual(fewer);
  });

  test('are others for another seed', async () => {
    const [first, other] = await Promise.all([made(job), made({ ...job, seed: 6 })]);
    for (const [index, bytes] of first.entries()) expect(bytes.equals(other[index] ?? bytes)).toBe(false);
  });
});

describe('media that were made before', () => {
  test('are read back, and not made again', async () => {
    const first = await obtained(job);
    expect(entries()).toEqual([`${randomMediaKey(job)}.media`]);
    // Others stand in their place now, under checksums of their own.
    const other = { ...job, seed: 6 };
    const second = await obtained(other);
    writeFileSync(
      join(folder(), `${randomMediaKey(job)}.media`),
      readFileSync(join(folder(), `${randomMediaKey(other)}.media`)),
    );
    expect(await obtained(job)).toEqual(second);
    expect(second).not.toEqual(first);
    expect(notes).toEqual([]);
  });

  test('that are damaged are made again', async () => {
    const whole = await obtained(job);
    const path = join(folder(), `${randomMediaKey(job)}.media`);
    const bytes = readFileSync(path);
    const flipped = Buffer.from(bytes);
    flipped[200] = (flipped[200] ?? 0) ^ 1;
    const table = Buffer.from(bytes);
    table[bytes.length - 20] = 0x20;
    for (const damaged of [Buffer.alloc(0), bytes.subarray(0, 3), bytes.subarray(0, -1), flipped, table]) {
      writeFileSync(path, damaged);
      expect(await obtained(job)).toEqual(whole);
      expect(readFileSync(path).length).toBe(bytes.length);
    }
  });

  test('are not kept with OMNIMETER_CACHE=off', async () => {
    const items: Buffer[] = [];
    await obtainRandomMedia(job, {
      env: { ...env(), OMNIMETER_CACHE: 'off' },
      note: (line) => notes.push(line),
      onItem: into(items),
    });
    expect(items).toEqual(await made(job));
    expect(existsSync(folder())).toBe(false);
  });

  test('that cannot be kept are said, and the run goes on', async () => {
    writeFileSync(join(home, 'omnimeter'), 'a file where the folder should be');
    expect(await obtained(job)).toEqual(await made(job));
    expect(notes).toEqual([expect.stringMatching(/could not be kept in .*OMNIMETER_CACHE=off/)]);
  });

  test('that are too many are not kept, and leave nothing behind', async () => {
    expect(await obtained(job, 5000)).toEqual(await made(job));
    expect(entries()).toEqual([]);
    expect(notes).toEqual([expect.stringContaining('they take more than 0.005 MB')]);
  });

  test('make room for those that are needed now', async () => {
    const jobs = [1, 2, 3].map((seed) => ({ ...job, seed }));
    for (const each of jobs) await obtained(each);
    const paths = jobs.map((each) => join(folder(), `${randomMediaKey(each)}.media`));
    for (const [index, path] of paths.entries())
      utimesSync(path, new Date(), new Date(Date.now() - (300 - index * 100) * 1000));
    await obtained(jobs[0] ?? job);
    const size = readFileSync(paths[0] ?? '').length;
    await obtained({ ...job, seed: 4 }, size * 3 + 4096);
    expect(existsSync(paths[0] ?? '')).toBe(true);
    expect(existsSync(paths[1] ?? '')).toBe(false);
    expect(existsSync(paths[2] ?? '')).toBe(true);
  });

  test('are named by all that they depend on', () => {
    const key = randomMediaKey(job);
    expect(key).toMatch(/^[0-9a-f]{64}$/);
    expect(randomMediaKey({ ...job, seed: 1 })).not.toBe(key);
    expect(randomMediaKey({ ...job, items: job.items.slice(1) })).not.toBe(key);
    const other = { kind: 'ffmpeg', version: 'ffmpeg version 5.1.9' } as const;
    expect(randomMediaKey({ ...job, videoEncoder: other })).not.toBe(key);
    // Without a video, what would encode one does not matter.
    const silent = { ...job, items: [image, audio] };
    expect(randomMediaKey({ ...silent, videoEncoder: other })).toBe(randomMediaKey(silent));
  });
});

test('a shelf keeps items apart, whatever their sizes', () => {
  const handed: ShelvedMedia[] = [];
  const shelf = new MediaShelf((media) => handed.push(media));
  const mib = 1024 * 1024;
  const sizes = [3, 10 * mib, 0, 7 * mib, 20 * mib, 1];
  for (const [index, size] of sizes.entries()) shelf.add(index, new Uint8Array(size).fill(index + 1));
  shelf.flush();
  shelf.flush();
  expect(handed.map(({ places }) => places.map(({ index }) => index))).toEqual([[0, 1, 2], [3], [4], [5]]);
  for (const { memory, places } of handed) {
    for (const { index, start, length } of places) {
      expect(length).toBe(sizes[index]);
      expect(new Uint8Array(memory, start, length).every((byte) => byte === index + 1)).toBe(true);
    }
  }
});

describe('the media thread', () => {
  function threadOf(name: string, code: string): string {
    const path = join(home, `${name}.mjs`);
    writeFileSync(path, `import { parentPort, workerData } from 'node:worker_threads';\n${code}`);
    return path;
  }
  const keeping = (items: Buffer[] = []) => ({
    env: env(),
    note: (line: string) => notes.push(line),
    onItem: into(items),
  });

  test('is told the job and where caches lie, and gives items, notes and an end', async () => {
    const entry = threadOf(
      'good',
      `const { job, env } = workerData;
       parentPort.postMessage({ kind: 'note', line: env.XDG_CACHE_HOME });
       const memory = new SharedArrayBuffer(job.items.length);
       const places = job.items.map((_, index) => ({ index, start: index, length: 1 }));
       for (const { index } of places) new Uint8Array(memory)[index] = index;
       parentPort.postMessage({ kind: 'media', media: { memory, places: places.slice(0, 3) } });
       parentPort.postMessage({ kind: 'media', media: { memory, places: places.slice(3) } });
       parentPort.postMessage({ kind: 'done', origin: 'kept' });
       setInterval(() => undefined, 1000);`,
    );
    const items: Buffer[] = [];
    expect(await obtainRandomMediaInThread(job, keeping(items), entry)).toBe('kept');
    expect(items.map((bytes) => [...bytes])).toEqual(job.items.map((_, index) => [index]));
    expect(notes).toEqual([home]);
  });

  test('that is not built or outdated leaves the work to the caller', async () => {
    expect(await obtainRandomMediaInThread(job, keeping(), join(home, 'absent.mjs'))).toBeNull();
    const outdated = threadOf('outdated', "parentPort.postMessage({ kind: 'outdated' });");
    expect(await obtainRandomMediaInThread(job, keeping(), outdated)).toBeNull();
  });

  test('that fails or ends early is an error, not a hang', async () => {
    const failing = threadOf('failing', "throw new Error('no memory');");
    await expect(obtainRandomMediaInThread(job, keeping(), failing)).rejects.toThrow('no memory');
    const ending = threadOf('ending', 'process.exit(3);');
    await expect(obtainRandomMediaInThread(job, keeping(), ending)).rejects.toThrow(
      'ended early with code 3',
    );
  });

  const built = existsSync(threadEntry('random-media-thread', import.meta.url));
  test.skipIf(!built)('as built makes the media that are made here (needs npm run build)', async () => {
    const items: Buffer[] = [];
    expect(await obtainRandomMediaInThread(job, keeping(items))).toBe('made');
    expect(items).toEqual(await made(job));
  });
});
