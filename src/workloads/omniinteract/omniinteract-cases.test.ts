import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InputFileError } from '../../foundation/errors.ts';
import { discoverCases } from './discover-cases.ts';
import { caseFolderName, caseKey, type OmniInteractCase, officialOutputName } from './omniinteract-case.ts';
import { type CaseSelection, sampleCases } from './sample-cases.ts';
import { type ScenarioTag, scenarioTags, tagsOf } from './scenario-tags.ts';
import { listedCases } from './video-list.ts';

let folder: string;
let count = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'omnimeter-omniinteract-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Content = string | object | null;

/** A dataset of files that only look like what they should be. `null` = an empty file. */
function made(files: Readonly<Record<string, Content>>): string {
  count += 1;
  const root = join(folder, String(count));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    const text = content === null ? '' : typeof content === 'string' ? content : JSON.stringify(content);
    writeFileSync(join(root, path), text);
  }
  return root;
}

const entry = (stem: string, more: object = {}) => ({
  video: `videos/${stem}.mp4`,
  annotation: `annotations/${stem}.json`,
  ...more,
});

/** A subset with a map of such entries, all files present. */
function mapped(subset: string, entries: readonly ReturnType<typeof entry>[]): Record<string, Content> {
  const files: Record<string, Content> = {
    [`${subset}/video_json_map.json`]: { total: entries.length, entries },
  };
  for (const { video, annotation } of entries) {
    files[`${subset}/${video}`] = null;
    files[`${subset}/${annotation}`] = [];
  }
  return files;
}

const bench = {
  '1qna/videos_bench/egoper/a.mp4': null,
  '1qna/annotations/egoper/a.json': { conversations: [] },
  '1qna/videos_bench/captaincook4d/z.mp4': null,
  '1qna/annotations/captaincook4d/z.json': { conversations: [] },
};

describe('names of a case', () => {
  // Hashes: `printf %s 1q1a/videos/0001.mp4 | sha256sum`.
  it.each([
    ['1q1a', 'videos/0001.mp4', 'videos__0001--9f707b50', '1q1a/videos__0001'],
    ['1q1a_math', 'videos/0001.mp4', 'videos__0001--c8cf86b2', '1q1a_math/videos__0001'],
    [
      '1qna',
      'videos_bench/captaincook4d/Breakfast_Burritos-7_135.mp4',
      'videos_bench__captaincook4d__Breakfast_Burritos-7_135--667bee2e',
      '1qna/captaincook4d__Breakfast_Burritos-7_135',
    ],
  ] as const)('%s %s', (subset, videoRel, folderName, outputName) => {
    expect(caseFolderName({ subset, videoRel })).toBe(folderName);
    expect(officialOutputName({ subset, videoRel })).toBe(outputName);
    expect(caseKey({ subset, videoRel: videoRel.replaceAll('/', '\\') })).toBe(`${subset}/${videoRel}`);
  });
});

describe('discovery', () => {
  it('takes the map’s order, its scenes in lower case, and sorts the 1qna videos', () => {
    const root = made({
      ...mapped('1q1a', [entry('0002', { scene_type: 'NESTED' }), entry('0001')]),
      ...bench,
    });
    expect(
      discoverCases(root, ['1qna', '1q1a']).map(({ subset, videoRel, sceneType }) => [
        subset,
        videoRel,
        sceneType,
      ]),
    ).toEqual([
      ['1qna', 'videos_bench/captaincook4d/z.mp4', '1qna'],
      ['1qna', 'videos_bench/egoper/a.mp4', '1qna'],
      ['1q1a', 'videos/0002.mp4', 'nested'],
      ['1q1a', 'videos/0001.mp4', 'multi_turn'],
    ]);
  });

  it('reads absolute paths of videos and annotations', () => {
    const root = made(mapped('1q1a', [entry('0001')]));
    expect(discoverCases(root, ['1q1a'])[0]).toMatchObject({
      videoPath: join(root, '1q1a/videos/0001.mp4'),
      annotationPath: join(root, '1q1a/annotations/0001.json'),
    });
  });

  const map = '1q1a/video_json_map.json';
  it.each<[string, Record<string, Content>, readonly string[], string | RegExp]>([
    ['an unknown subset', {}, ['2q2a'], "Unsupported OmniInteract subsets: ['2q2a']"],
    ['no subset', {}, [], 'At least one OmniInteract subset is required'],
    ['a subset twice', {}, ['1qna', '1qna'], 'OmniInteract subsets must not contain duplicates'],
    ['no map', { '1q1a/x': null }, ['1q1a'], /^Missing OmniInteract mapping: .*video_json_map\.json/],
    ['a map that is no JSON', { [map]: '{' }, ['1q1a'], 'Invalid OmniInteract mapping: '],
    ['a map without entries', { [map]: { total: 0 } }, ['1q1a'], 'Invalid OmniInteract mapping: '],
    [
      'an empty map',
      { [map]: { entries: [] } },
      ['1q1a'],
      "No OmniInteract sessions found for requested subset '1q1a'",
    ],
    [
      'a row that is no object',
      { [map]: { entries: ['x'] } },
      ['1q1a'],
      'Invalid OmniInteract mapping row in ',
    ],
    ['a row without a video', { [map]: { entries: [{}] } }, ['1q1a'], 'Invalid OmniInteract mapping row in '],
    [
      'a row with a scene of another kind',
      { ...mapped('1q1a', []), [map]: { entries: [entry('1', { scene_type: 3 })] } },
      ['1q1a'],
      'Invalid OmniInteract mapping row in ',
    ],
    [
      'a video outside',
      { [map]: { entries: [{ ...entry('1'), video: 'videos/../../x.mp4' }] } },
      ['1q1a'],
      "Unsafe OmniInteract video path: 'videos/../../x.mp4'",
    ],
    [
      'an absolute annotation',
      { [map]: { entries: [{ ...entry('1'), annotation: '/etc/passwd' }] } },
      ['1q1a'],
      "Unsafe OmniInteract annotation path: '/etc/passwd'",
    ],
    [
      'missing files',
      { [map]: { entries: [entry('1')] } },
      ['1q1a'],
      /^OmniInteract mapping references missing files: '.*videos\/1\.mp4', '.*annotations\/1\.json'/,
    ],
    [
      'a missing annotation alone',
      { [map]: { entries: [entry('1')] }, '1q1a/videos/1.mp4': null },
      ['1q1a'],
      /^OmniInteract mapping references missing files: '[^']*annotations\/1\.json' \(/,
    ],
    [
      'a missing video alone',
      { [map]: { entries: [entry('1')] }, '1q1a/annotations/1.json': null },
      ['1q1a'],
      /^OmniInteract mapping references missing files: '[^']*videos\/1\.mp4' \(/,
    ],
    [
      'a video below a file',
      { [map]: { entries: [entry('1')] }, '1q1a/videos': null, '1q1a/annotations/1.json': null },
      ['1q1a'],
      /^OmniInteract mapping references missing files: '[^']*videos\/1\.mp4' \(/,
    ],
    ['a subset that is a file', { '1q1a': null }, ['1q1a'], /^Missing OmniInteract mapping: .*1q1a\//],
    ['a 1qna that is a file', { '1qna': null }, ['1qna'], 'Invalid OmniInteract 1qna layout under '],
    [
      'a NUL in a path',
      { [map]: { entries: [{ ...entry('1'), video: 'videos/\0.mp4' }] } },
      ['1q1a'],
      /^Invalid OmniInteract mapping row in .*videos\/\\u0000\.mp4/,
    ],
    [
      'an endless name',
      { [map]: { entries: [entry('n'.repeat(300))] }, '1q1a/videos/1.mp4': null },
      ['1q1a'],
      /^cannot read .*n{300}\.mp4: its name is longer than the file system allows\./,
    ],
    [
      'a video twice',
      mapped('1q1a', [entry('1'), entry('1')]),
      ['1q1a'],
      'OmniInteract dataset contains duplicate video paths',
    ],
    [
      'no 1qna layout',
      { '1qna/videos_bench/x.txt': null },
      ['1qna'],
      'Invalid OmniInteract 1qna layout under ',
    ],
    [
      'no 1qna videos',
      { '1qna/videos_bench/x.txt': null, '1qna/annotations/x.txt': null },
      ['1qna'],
      "No OmniInteract sessions found for requested subset '1qna'",
    ],
    [
      'a 1qna video without annotation',
      { '1qna/videos_bench/x.mp4': null, '1qna/annotations/y.json': null },
      ['1qna'],
      /^Missing OmniInteract annotation: .*annotations\/x\.json/,
    ],
  ])('refuses %s', (_, files, subsets, message) => {
    expect(() => discoverCases(made(files), subsets)).toThrow(message);
  });
});

describe('a byte order mark', () => {
  const marked = (value: unknown): string => `\uFEFF${JSON.stringify(value)}`;

  it('stands before a map, an annotation or a list, and is no part of it', () => {
    const root = made({
      ...mapped('1q1a', [entry('1')]),
      '1q1a/video_json_map.json': marked({ entries: [entry('1')] }),
      '1q1a/annotations/1.json': marked([{ question_type: 'realtime' }]),
    });
    const found = discoverCases(root, ['1q1a']);
    expect(found).toHaveLength(1);
    expect([...found].flatMap((one) => [...tagsOf(one)])).toEqual(['realtime']);
    const list = join(root, 'list.jsonl');
    writeFileSync(list, marked({ video_path: join(root, '1q1a/videos/1.mp4'), subset: '1q1a' }));
    expect(listedCases(list, 0)).toEqual(found);
  });
});

describe('links of a dataset', () => {
  it('are followed, to files and to folders', () => {
    const root = made({ 'store/a.mp4': null, ...bench });
    symlinkSync(join(root, 'store'), join(root, '1qna/videos_bench/linked'));
    symlinkSync(join(root, 'store/a.mp4'), join(root, '1qna/videos_bench/b.mp4'));
    for (const name of ['linked/a.json', 'b.json']) {
      mkdirSync(dirname(join(root, '1qna/annotations', name)), { recursive: true });
      writeFileSync(join(root, '1qna/annotations', name), '[]');
    }
    expect(discoverCases(root, ['1qna']).map(({ videoRel }) => videoRel)).toEqual([
      'videos_bench/b.mp4',
      'videos_bench/captaincook4d/z.mp4',
      'videos_bench/egoper/a.mp4',
      'videos_bench/linked/a.mp4',
    ]);
  });

  it.each<[string, string, string, RegExp]>([
    [
      'to itself',
      '1q1a/videos/1.mp4',
      '1.mp4',
      /1q1a\/videos\/1\.mp4: its links lead to each other in a loop/,
    ],
    ['of the map to itself', '1q1a/video_json_map.json', 'video_json_map.json', /map\.json: its links lead/],
    ['of a 1qna video to itself', '1qna/videos_bench/x.mp4', 'x.mp4', /x\.mp4: its links lead/],
    [
      'to the folder above',
      '1qna/videos_bench/egoper/up',
      '..',
      /egoper\/up is a link to a folder that it is in/,
    ],
  ])('are refused that lead %s', (_, path, target, message) => {
    const { '1q1a/videos/1.mp4': _video, ...files } = mapped('1q1a', [entry('1')]);
    const root = made({ ...files, ...bench, '1q1a/videos/other': null });
    rmSync(join(root, path), { force: true });
    symlinkSync(target, join(root, path));
    const subset = path.split('/')[0] ?? '';
    expect(() => discoverCases(root, [subset])).toThrow(message);
    expect(() => discoverCases(root, [subset])).toThrow(InputFileError);
  });
});

describe('scenario tags', () => {
  const tagged = (sceneType: string, annotation: Content): string[] => {
    const root = made({ 'a.json': annotation });
    return [...tagsOf({ annotationPath: join(root, 'a.json'), sceneType })].sort();
  };

  it.each<[string, string, Content, readonly string[]]>([
    [
      'questions of a multi-turn case',
      'multi_turn',
      [{ question_type: 'Realtime' }, { label: 'proactive' }],
      ['proactive', 'realtime'],
    ],
    ['items in an object', 'multi_turn', { items: [{ question_type: 'realtime' }] }, ['realtime']],
    ['a nested case, whatever its questions', 'nested', [{ question_type: 'realtime' }], ['nested']],
    [
      'answers and conversations',
      '1qna',
      { answers: [{}], conversations: [{ interrupted: 'Yes' }] },
      ['1qna', 'interrupted'],
    ],
    ['a number for interrupted', 'nested', [{ is_interrupted: 1 }], ['interrupted', 'nested']],
    [
      'not interrupted',
      'nested',
      [{ is_interrupted: 0, interrupted: 'no' }, { interrupted: null }],
      ['nested'],
    ],
    ['rows that are none', 'other', ['x', null, 3], []],
  ])('are read from %s', (_, scene, annotation, expected) => {
    expect(tagged(scene, annotation)).toEqual(expected);
  });

  it.each(['{', '"text"'])('refuse an annotation of %s', (text) => {
    expect(() => tagged('nested', text)).toThrow(/^Invalid OmniInteract annotation: .*a\.json/);
  });
});

/** Eight cases, named by their place, of which every kind has an example. */
function eightCases(): OmniInteractCase[] {
  const kinds: readonly (readonly [string, object])[] = [
    ['multi_turn', { question_type: 'realtime' }],
    ['multi_turn', { question_type: 'proactive' }],
    ['multi_turn', { question_type: 'realtime', is_interrupted: true }],
    ['nested', {}],
    ['1qna', {}],
    ['multi_turn', { question_type: 'realtime' }],
    ['1qna', { interrupted: true }],
    ['multi_turn', { question_type: 'proactive', is_interrupted: true }],
  ];
  const root = made(Object.fromEntries(kinds.map(([, row], i) => [`${i}.json`, [row]])));
  return kinds.map(([sceneType], i) => ({
    subset: '1q1a',
    videoRel: `${i}.mp4`,
    videoPath: `/v/${i}.mp4`,
    annotationPath: join(root, `${i}.json`),
    sceneType,
  }));
}

// Expected orders: a script over CPython's `random` by the rules of the original's sampler.
describe('sampling', () => {
  const drawn = (change: Partial<CaseSelection>, notes: string[] = []): number[] =>
    sampleCases(eightCases(), {
      count: 0,
      seed: 0,
      disableShuffle: false,
      tags: [],
      focus: false,
      note: (line) => notes.push(line),
      ...change,
    }).map(({ videoRel }) => Number.parseInt(videoRel, 10));
  const rare: readonly ScenarioTag[] = ['interrupted', 'nested'];

  it.each<[string, Partial<CaseSelection>, readonly number[]]>([
    ['all', {}, [4, 1, 5, 2, 0, 3, 7, 6]],
    ['another seed', { seed: 5, count: 3 }, [6, 3, 1]],
    ['in the dataset’s order', { disableShuffle: true, count: 2 }, [0, 1]],
    ['every kind', { tags: scenarioTags }, [0, 7, 3, 4, 1, 6, 2, 5]],
    ['every kind with another seed', { tags: scenarioTags, seed: 42 }, [2, 7, 3, 6, 5, 4, 0, 1]],
    ['two kinds, and others', { tags: rare, count: 3 }, [2, 3, 7]],
    ['two kinds with another seed', { tags: rare, count: 3, seed: 1 }, [6, 3, 5]],
    ['two kinds only', { tags: rare, focus: true }, [6, 2, 3, 7]],
    ['two kinds only, with another seed', { tags: rare, focus: true, seed: 5, count: 2 }, [2, 3]],
  ])('takes %s', (_, selection, expected) => {
    expect(drawn(selection)).toEqual(expected);
  });

  it('says when there are fewer cases than asked for', () => {
    const notes: string[] = [];
    expect(drawn({ count: 9 }, notes)).toHaveLength(8);
    expect(drawn({ count: 9, tags: rare }, notes)).toHaveLength(8);
    expect(notes).toEqual(Array(2).fill('omniinteract: 8 cases instead of 9, for that is all there are.'));
  });

  it('says when a count can’t cover the kinds', () => {
    const notes: string[] = [];
    expect(drawn({ tags: scenarioTags, count: 2 }, notes)).toEqual([0, 7]);
    expect(notes.join()).toContain('which takes 4');
  });

  it('refuses a kind of which there is none where only such are wanted, else says so', () => {
    const cases = eightCases().filter(({ sceneType }) => sceneType !== 'nested');
    const notes: string[] = [];
    const selection = {
      count: 0,
      seed: 0,
      disableShuffle: false,
      tags: rare,
      note: (line: string) => notes.push(line),
    };
    expect(() => sampleCases(cases, { ...selection, focus: true })).toThrow(
      "No OmniInteract cases match scenario tags ['nested'] under the selected subsets (focus mode)",
    );
    expect(sampleCases(cases, { ...selection, focus: false })).toHaveLength(7);
    expect(notes).toEqual(["omniinteract: no case is tagged 'nested' in the selected subsets."]);
  });

  it('refuses a negative count', () => {
    expect(() => drawn({ count: -1 })).toThrow('num_prompts must be non-negative');
  });
});

describe('a video list', () => {
  const dataset = (): string => made({ ...mapped('1q1a', [entry('0001'), entry('0002')]), ...bench });
  const list = (root: string, lines: readonly (object | string)[]): string => {
    const path = join(root, 'list.jsonl');
    writeFileSync(
      path,
      lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
    );
    return path;
  };

  it('keeps its order and skips blank lines', () => {
    const root = dataset();
    const path = list(root, [
      {
        video_path: join(root, '1qna/videos_bench/egoper/a.mp4'),
        output_name: '1qna/egoper__a',
        subset: '1qna',
      },
      '  ',
      { video_path: join(root, '1q1a/videos/0002.mp4'), output_name: '1q1a/videos__0002', subset: '1q1a' },
      { video_path: join(root, '1q1a/videos/0001.mp4'), subset: '1q1a' },
    ]);
    const found = discoverCases(root, ['1qna', '1q1a']);
    const expected = [found[1], found[3], found[2]];
    expect(listedCases(path, 0)).toEqual(expected);
    expect(listedCases(path, 2)).toEqual(expected.slice(0, 2));
    expect(listedCases(path, 99)).toEqual(expected);
  });

  it.each<[string, (root: string) => readonly (object | string)[], string | RegExp]>([
    ['a line that is no JSON', () => ['', '{'], 'OmniInteract video_list line 2 is not valid JSON'],
    ['a line that is no object', () => ['3'], 'OmniInteract video_list line 1 must be a JSON object'],
    [
      'a row without subset',
      () => [{ video_path: 'x' }],
      'OmniInteract video_list line 1 requires subset and video_path',
    ],
    ['an unknown subset', () => [{ video_path: 'x', subset: '9' }], "Unsupported OmniInteract subset: '9'"],
    [
      'a missing video',
      () => [{ video_path: '/no/x.mp4', subset: '1q1a' }],
      'OmniInteract video_list line 1 video missing: /no/x.mp4',
    ],
    [
      'a video in no subset’s folder',
      (root) => [{ video_path: join(root, '1q1a/videos/0001.mp4'), subset: '1qna' }],
      "Could not locate OmniInteract subset root for '1qna' from ",
    ],
    [
      'a video that the map doesn’t hold',
      (root) => {
        writeFileSync(join(root, '1q1a/videos/0003.mp4'), '');
        return [{ video_path: join(root, '1q1a/videos/0003.mp4'), subset: '1q1a' }];
      },
      'OmniInteract video_list line 1 is not in 1q1a mapping: ',
    ],
    [
      'a 1qna video outside its folder',
      (root) => {
        writeFileSync(join(root, '1qna/x.mp4'), '');
        return [{ video_path: join(root, '1qna/x.mp4'), subset: '1qna' }];
      },
      'OmniInteract video_list line 1 is outside videos_bench: ',
    ],
    [
      'a 1qna video without annotation',
      (root) => {
        writeFileSync(join(root, '1qna/videos_bench/x.mp4'), '');
        return [{ video_path: join(root, '1qna/videos_bench/x.mp4'), subset: '1qna' }];
      },
      'OmniInteract video_list line 1 annotation missing: ',
    ],
    [
      'another output name',
      (root) => [{ video_path: join(root, '1q1a/videos/0001.mp4'), subset: '1q1a', output_name: 'x' }],
      "OmniInteract video_list line 1 output_name mismatch: 'x' != '1q1a/videos__0001'",
    ],
    [
      'a video twice',
      (root) => Array(2).fill({ video_path: join(root, '1q1a/videos/0001.mp4'), subset: '1q1a' }),
      'OmniInteract video_list contains duplicate video_path: ',
    ],
    ['nothing', () => ['', ' '], 'OmniInteract video_list is empty: '],
  ])('is refused with %s', (_, lines, message) => {
    const root = dataset();
    expect(() => listedCases(list(root, lines(root)), 0)).toThrow(message);
  });

  it('is refused where there is none', () => {
    expect(() => listedCases('/no/list.jsonl', 0)).toThrow(
      '--omniinteract-video-list does not exist: /no/list.jsonl',
    );
  });
});
