import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InputFileError } from '../../foundation/errors.ts';
import type { LoadContext } from '../dataset.ts';
import { hubStandIn } from '../hub/hub-stand-in.suite.ts';
import { testContext } from '../load-context.suite.ts';
import { hubArchive } from './hub-archive.ts';
import { type MadeDataset, makeClip, makeDatasetIn } from './made-dataset.suite.ts';
import { omniinteract } from './omniinteract.ts';
import { defaultOmniInteractOptions, type OmniInteractOptions } from './omniinteract-options.ts';

let made: MadeDataset;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'omnimeter-omniinteract-load-'));
  made = await makeDatasetIn(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const context = (options: Partial<OmniInteractOptions> = {}, more: Partial<LoadContext> = {}) =>
  testContext(
    {
      name: 'omniinteract',
      path: made.root,
      disableShuffle: true,
      omniinteract: { ...defaultOmniInteractOptions, refAudio: made.refAudio, ...options },
    },
    { numPrompts: 2, ...more },
  );

describe('samples', () => {
  it('are decoded conversations with their case', async () => {
    const load = context({ timeoutS: 7, requireResponse: true });
    const samples = await omniinteract.load(load);
    expect(samples).toHaveLength(2);
    const [first] = samples;
    expect(first).toMatchObject({
      requestId: 'bench-0',
      promptTokens: 0,
      // 2.4 s, heard in whole seconds.
      inputAudioDurationS: 3,
      live: {
        sampleRateHz: 16_000,
        timeoutS: 7,
        requireResponse: true,
        caseFacts: {
          subset: '1q1a',
          videoRel: 'videos/0001.mp4',
          videoPath: join(made.root, '1q1a/videos/0001.mp4'),
          annotationPath: join(made.root, '1q1a/annotations/0001.json'),
          sceneType: 'multi_turn',
        },
      },
    });
    expect(first?.live?.durationS).toBeCloseTo(2.4, 1);
    expect(first?.live?.pcm.byteLength).toBe(3 * 32_000);
    expect(first?.live?.frames).toHaveLength(3);
    expect(Buffer.from(first?.live?.refAudio ?? []).equals(readFileSync(made.refAudio))).toBe(true);
    expect(load.notes).toEqual([
      'omniinteract: decoding 2 videos, 6 s in all, into memory: 0.2 MB of sound and about 0.3 MB of pictures, and as much again while requests are made.',
    ]);
  });

  it('that an earlier run has done are not decoded', async () => {
    const load = context({}, { isFinished: (key) => key === '1q1a/videos/0001.mp4' });
    const [done, other] = await omniinteract.load(load);
    expect(done).toMatchObject({ finishedBefore: true, live: { frames: [], durationS: 0 } });
    expect(done?.live?.caseFacts.videoRel).toBe('videos/0001.mp4');
    expect(other?.finishedBefore).toBeUndefined();
    expect(load.notes[0]).toContain('decoding 1 videos, 3 s');
  });

  it('are all there for 0, and have numbers in their order', async () => {
    const samples = await omniinteract.load(context({}, { numPrompts: 0 }));
    expect(samples.map(({ requestId, live }) => [requestId, live?.caseFacts.subset])).toEqual([
      ['bench-0', '1q1a'],
      ['bench-1', '1q1a'],
      ['bench-2', '1q1a_math'],
      ['bench-3', '1q1a_math'],
      ['bench-4', '1qna'],
      ['bench-5', '1qna'],
    ]);
  });

  it('come from a list', async () => {
    const videoList = join(folder, 'list.jsonl');
    const row = { video_path: join(made.root, '1qna/videos_bench/egoper/salad.mp4'), subset: '1qna' };
    writeFileSync(videoList, JSON.stringify(row));
    const samples = await omniinteract.load(context({ videoList }));
    expect(samples.map(({ live }) => live?.caseFacts.videoRel)).toEqual(['videos_bench/egoper/salad.mp4']);
  });
});

describe('refusals', () => {
  it.each<[string, Partial<OmniInteractOptions>, string]>([
    ['no voice', { refAudio: null }, 'OmniInteract requires --omniinteract-ref-audio'],
    ['a voice that is gone', { refAudio: '/no/voice.wav' }, 'Reference audio does not exist: /no/voice.wav'],
    ['a voice that is a folder', { refAudio: '/' }, '--omniinteract-ref-audio: / cannot be read: EISDIR'],
    ['a video that is too long', { maxVideoDurationS: 1 }, 'Invalid video duration for '],
    ['too little time', { mediaTimeoutS: 0.001 }, 'Media command timed out after 0.001s: ffprobe '],
  ])('%s', async (_, options, message) => {
    await expect(omniinteract.load(context(options))).rejects.toThrow(message);
  });

  it('a video without sound', async () => {
    const root = join(folder, 'silent');
    await makeClip(join(root, '1q1a/videos/0001.mp4'), 1, { silent: true });
    writeFileSync(join(root, '1q1a/0001.json'), '[]');
    const entries = [{ video: 'videos/0001.mp4', annotation: '0001.json' }];
    writeFileSync(join(root, '1q1a/video_json_map.json'), JSON.stringify({ entries }));
    const load = context({ subsets: ['1q1a'] });
    const options = { ...load.options, path: root };
    await expect(omniinteract.load({ ...load, options })).rejects.toThrow(
      `${join(root, '1q1a/videos/0001.mp4')} has no sound. Expected a video with both.`,
    );
  });
});

describe('what the system refuses is told as wrong input', () => {
  const loadFrom = (path: string) => {
    const load = context();
    return omniinteract.load({ ...load, options: { ...load.options, path } });
  };

  it.each<[string, () => string, string]>([
    ['a NUL in the path', () => '/no\0where', 'cannot read /no\\0where: a name of a file holds no NUL.'],
    [
      'a path that leads to itself',
      () => {
        symlinkSync('round', join(folder, 'round'));
        return join(folder, 'round');
      },
      'its links lead to each other in a loop.',
    ],
    [
      'a file where an archive is to be unpacked',
      () => {
        const root = mkdtempSync(join(folder, 'archive-'));
        writeFileSync(join(root, 'data.tar'), 'x');
        writeFileSync(join(root, '.vllm_omni_extracted'), '');
        return root;
      },
      'cannot read the OmniInteract dataset: ENOTDIR: not a directory, lstat ',
    ],
  ])('%s', async (_, made, message) => {
    const refused = loadFrom(made());
    await expect(refused).rejects.toThrow(InputFileError);
    await expect(refused).rejects.toThrow(message);
  });
});

describe('a dataset on the hub', () => {
  const commit = 'a'.repeat(40);

  async function archive(): Promise<Buffer> {
    const out = pack();
    out.entry({ name: 'data/1q1a/video_json_map.json' }, '{"entries": []}');
    out.finalize();
    const chunks: Buffer[] = [];
    for await (const chunk of out) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
    return gzipSync(Buffer.concat(chunks));
  }

  it('is fetched once, and unpacked beside the cache', async () => {
    const content = await archive();
    const hub = await hubStandIn({
      'org/omni': { main: { commit, files: { 'data.tar.gz': content, 'README.md': 'x' } } },
    });
    const env = { HF_HOME: join(folder, 'hf'), HF_ENDPOINT: hub.endpoint };
    try {
      const note = () => {};
      const first = await hubArchive('org/omni', { env, note });
      expect(first.unpackInto).toBe(join(folder, 'hf/vllm_omni/omniinteract/org__omni'));
      expect(readFileSync(first.archive).equals(content)).toBe(true);
      const pinned = await hubArchive(`org/omni@${commit}`, { env: { ...env, HF_HUB_OFFLINE: '1' }, note });
      expect(pinned).toEqual(first);
      await expect(hubArchive('org/none', { env, note })).rejects.toThrow(
        "Could not download OmniInteract from 'org/none': ",
      );
    } finally {
      await hub.close();
    }
  });

  it.each<[string, Record<string, string>, string]>([
    ['no archive', { 'README.md': 'x' }, 'it has neither data.tar.gz nor data.tar at main'],
    ['an empty one', { 'data.tar': '' }, 'data.tar is empty'],
  ])('with %s is refused', async (_, content, message) => {
    const hub = await hubStandIn({ 'org/bad': { main: { commit, files: content } } });
    const env = { HF_HOME: mkdtempSync(join(folder, 'hf-')), HF_ENDPOINT: hub.endpoint };
    try {
      await expect(hubArchive('org/bad', { env, note: () => {} })).rejects.toThrow(
        `Could not download OmniInteract from 'org/bad': ${message}`,
      );
    } finally {
      await hub.close();
    }
  });
});
