import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A case of a made dataset: a clip with a tone and a moving test picture, and what should have been said when. */
export type MadeCase = {
  readonly subset: '1q1a' | '1q1a_math' | '1qna';
  /** Name without extension; of 1qna with its folder: `egoper/salad`. */
  readonly name: string;
  readonly durationS: number;
  /** Of the map; none for 1qna. */
  readonly sceneType?: string;
  readonly annotation: unknown;
};

const question = (atS: number, answerS: number, more: object = {}) => ({
  question_time: atS,
  question_text: `What happens at ${atS} s?`,
  answer_time: answerS,
  answer_text: `A picture changes at ${answerS} s.`,
  question_type: 'realtime',
  is_interrupted: false,
  ...more,
});

/** Two cases a subset, among which every scenario is. */
export const madeCases: readonly MadeCase[] = [
  { subset: '1q1a', name: '0001', durationS: 2.4, annotation: [question(0.2, 0.5), question(1.2, 1.5)] },
  {
    subset: '1q1a',
    name: '0002',
    durationS: 3,
    sceneType: 'nested',
    annotation: [question(0.2, 2.2, { question_type: 'proactive' }), question(0.6, 1)],
  },
  {
    subset: '1q1a_math',
    name: '0001',
    durationS: 2,
    annotation: [question(0.2, 1, { question_type: 'proactive', is_interrupted: true })],
  },
  { subset: '1q1a_math', name: '0002', durationS: 2, annotation: [question(0.3, 0.8)] },
  {
    subset: '1qna',
    name: 'egoper/salad',
    durationS: 3,
    annotation: {
      conversations: [
        { from: 'user', timestamp: 0.2, value: 'How is a salad made?' },
        { from: 'assistant', timestamp: 0.8, value: 'Wash the leaves.', label: 'step' },
        { from: 'assistant', timestamp: 1.8, value: 'Cut them.', label: 'step' },
      ],
    },
  },
  {
    subset: '1qna',
    name: 'captaincook4d/tea',
    durationS: 2,
    annotation: {
      question_time: '00:00',
      question_text: 'How is tea made?',
      answers: [{ answer_time: 1, answer_text: 'Boil the water.' }],
    },
  },
];

/**
 * Makes a clip with FFmpeg: an A at half volume, and a picture that counts.
 * @param silent without a sound track
 */
export async function makeClip(path: string, durationS: number, { silent = false } = {}): Promise<void> {
  mkdirSync(dirname(path), { recursive: true });
  const picture = ['-f', 'lavfi', '-i', `testsrc=size=320x180:rate=10:duration=${durationS}`];
  const tone = [
    '-f',
    'lavfi',
    '-i',
    `sine=frequency=440:sample_rate=16000:duration=${durationS}`,
    '-c:a',
    'aac',
  ];
  const codec = ['-c:v', 'mpeg4', '-q:v', '8', '-shortest'];
  await run('ffmpeg', ['-y', '-v', 'error', ...picture, ...(silent ? [] : tone), ...codec, path]);
}

/** Writes a dataset in the official layout. */
export async function makeDataset(root: string, cases: readonly MadeCase[] = madeCases): Promise<void> {
  const entries: Record<string, object[]> = {};
  await Promise.all(
    cases.map(async ({ subset, name, durationS, sceneType, annotation }) => {
      const bench = subset === '1qna';
      const video = `${bench ? 'videos_bench' : 'videos'}/${name}.mp4`;
      const annotationPath = join(root, subset, 'annotations', `${name}.json`);
      mkdirSync(dirname(annotationPath), { recursive: true });
      writeFileSync(annotationPath, JSON.stringify(annotation));
      if (!bench) {
        entries[subset] ??= [];
        entries[subset].push({
          video,
          annotation: `annotations/${name}.json`,
          ...(sceneType === undefined ? {} : { scene_type: sceneType }),
        });
      }
      await makeClip(join(root, subset, video), durationS);
    }),
  );
  for (const [subset, list] of Object.entries(entries))
    writeFileSync(
      join(root, subset, 'video_json_map.json'),
      JSON.stringify({ total: list.length, entries: list }),
    );
}

export type MadeDataset = {
  /** Holds the subsets, and beside them nothing. */
  readonly root: string;
  /** A WAV file of half a second. */
  readonly refAudio: string;
};

/** Makes the dataset of {@link madeCases}, and a voice, in a folder that is the caller's to remove. */
export async function makeDatasetIn(folder: string): Promise<MadeDataset> {
  const root = join(folder, 'OmniInteract');
  const refAudio = join(folder, 'reference.wav');
  const tone = ['-f', 'lavfi', '-i', 'sine=frequency=220:sample_rate=16000:duration=0.5'];
  await Promise.all([makeDataset(root), run('ffmpeg', ['-y', '-v', 'error', ...tone, refAudio])]);
  return { root, refAudio };
}
