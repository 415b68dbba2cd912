import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InputFileError, messageOf } from '../../foundation/errors.ts';
import { datasetRoot, type RootSearch } from './dataset-root.ts';

let folder: string;
let notes: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'omnimeter-root-'));
  notes = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const search = (archive?: string): RootSearch => ({
  note: (line) => notes.push(line),
  download: async (id) => {
    notes.push(`download ${id}`);
    return { archive: archive ?? '/no/such', unpackInto: join(folder, 'unpacked') };
  },
});

type Member = {
  readonly name: string;
  readonly type?: 'symlink' | 'link' | 'fifo' | 'directory';
  readonly text?: string;
};

async function tar(members: readonly Member[]): Promise<Buffer> {
  const out = pack();
  for (const { name, type, text = 'x' } of members) {
    if (type === undefined) out.entry({ name }, text);
    else out.entry({ name, type, linkname: '/etc/passwd' });
  }
  out.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of out) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const good: readonly Member[] = [
  { name: 'data/', type: 'directory' },
  { name: 'data/1q1a/video_json_map.json', text: '{}' },
];

describe('a dataset’s root', () => {
  it('is the folder, or its data', async () => {
    mkdirSync(join(folder, 'a/1qna'), { recursive: true });
    mkdirSync(join(folder, 'b/data/1q1a_math'), { recursive: true });
    expect(await datasetRoot(join(folder, 'a'), search())).toBe(join(folder, 'a'));
    expect(await datasetRoot(join(folder, 'b'), search())).toBe(join(folder, 'b/data'));
    expect(await datasetRoot(relative(process.cwd(), join(folder, 'b')), search())).toBe(
      join(folder, 'b/data'),
    );
  });

  it('is in a folder’s archive, the compressed one first, and is unpacked once', async () => {
    writeFileSync(join(folder, 'data.tar'), await tar([{ name: '1qna/x' }]));
    writeFileSync(join(folder, 'data.tar.gz'), gzipSync(await tar(good)));
    utimesSync(join(folder, 'data.tar.gz'), 1, 5);
    const root = await datasetRoot(folder, search());
    const size = readFileSync(join(folder, 'data.tar.gz')).length;
    expect(root).toBe(join(folder, `.vllm_omni_extracted/${size}-5000000000/data`));
    expect(readFileSync(join(root, '1q1a/video_json_map.json'), 'utf8')).toBe('{}');
    expect(await datasetRoot(folder, search())).toBe(root);
    expect(notes.filter((note) => note.includes('unpacking'))).toHaveLength(1);
    expect(readdirSync(join(folder, '.vllm_omni_extracted'))).toHaveLength(1);
  });

  it('is in an archive itself', async () => {
    const path = join(folder, 'omni.tar');
    writeFileSync(path, await tar(good));
    expect(await datasetRoot(path, search())).toMatch(
      new RegExp(`^${folder}/\\.omni\\.vllm_omni_extracted/\\d+-\\d+/data$`),
    );
  });

  it.each([
    [null, 'lucky-lance/OmniInteract'],
    ['org/name@refs/pr/1', 'org/name@refs/pr/1'],
  ])('of %s comes from the hub', async (path, id) => {
    const archive = join(folder, 'data.tar');
    writeFileSync(archive, await tar(good));
    expect(await datasetRoot(path, search(archive))).toMatch(/unpacked\/\d+-\d+\/data$/);
    expect(notes[0]).toBe(`download ${id}`);
  });

  it.each(['/no/such', './no', 'a/b/c', 'no.tar.gz'])('is not at %s', async (path) => {
    await expect(datasetRoot(path, search())).rejects.toThrow(`--dataset-path does not exist: ${path}`);
  });

  it('is not in an empty folder, nor in an archive of something else', async () => {
    await expect(datasetRoot(folder, search())).rejects.toThrow(
      `OmniInteract data not found under ${folder}`,
    );
    const path = join(folder, 'other.tar');
    writeFileSync(path, await tar([{ name: 'readme' }]));
    await expect(datasetRoot(path, search())).rejects.toThrow(`OmniInteract data not found under ${path}`);
    expect(readdirSync(join(folder, '.other.vllm_omni_extracted'))).toEqual([]);
  });

  it('is no file of another kind', async () => {
    writeFileSync(join(folder, 'x.zip'), '');
    await expect(datasetRoot(join(folder, 'x.zip'), search())).rejects.toThrow(
      'is neither a folder nor an archive',
    );
  });
});

describe('an archive', () => {
  /** What is said of it, behind its path. */
  async function reasonAgainst(path: string): Promise<string> {
    const error: unknown = await datasetRoot(path, search()).catch((cause) => cause);
    expect(error).toBeInstanceOf(InputFileError);
    const message = messageOf(error);
    const start = `cannot unpack ${path}: `;
    expect(message.slice(0, start.length)).toBe(start);
    return message.slice(start.length);
  }

  it.each<[string, Member]>([
    ['a path that leaves it', { name: '../x' }],
    ['a path that leaves it later', { name: 'data/1q1a/../../../x' }],
    ['a path that leaves it and comes back', { name: 'data/../data/x' }],
    ['an absolute path', { name: '/tmp/x' }],
    ['a path with a drive', { name: 'C:\\x' }],
    ['a symbolic link', { name: 'data/link', type: 'symlink' }],
    ['a hard link', { name: 'data/link', type: 'link' }],
    ['a pipe', { name: 'data/pipe', type: 'fifo' }],
  ])('is refused with %s', async (_, member) => {
    const path = join(folder, 'bad.tar.gz');
    writeFileSync(path, gzipSync(await tar([...good, member])));
    await expect(datasetRoot(path, search())).rejects.toThrow(
      `Unsafe path in OmniInteract archive: '${member.name}'`,
    );
    expect(readdirSync(join(folder, '.bad.vllm_omni_extracted'))).toEqual([]);
  });

  it.each<[string, (bytes: Buffer) => Buffer, RegExp]>([
    [
      'is cut off in its compressed form',
      (bytes) => gzipSync(bytes).subarray(0, 60),
      /^it cannot be read before its first member: unexpected end of file\. Nothing was unpacked/,
    ],
    ['is no archive', () => Buffer.from('no archive'), /^it cannot be read before its first member: /],
    ['is compressed text', () => gzipSync('x'.repeat(600)), /^it cannot be read before its first member: /],
    [
      'names a file twice',
      (bytes) => gzipSync(Buffer.concat([bytes.subarray(0, -1024), bytes])),
      /^'data\/1q1a\/video_json_map\.json': another member before it has that name\. Nothing was unpacked/,
    ],
  ])('that %s leaves nothing behind', async (_, spoil, why) => {
    const path = join(folder, 'bad.tar.gz');
    writeFileSync(path, spoil(await tar(good)));
    expect(await reasonAgainst(path)).toMatch(why);
    expect(readdirSync(join(folder, '.bad.vllm_omni_extracted'))).toEqual([]);
  });

  it.each<[string, readonly Member[], RegExp]>([
    ['a file where a folder is', [{ name: 'data' }], /^'data': another member before it has that name/],
    [
      'a folder where a file is',
      [{ name: 'data/x' }, { name: 'data/x/', type: 'directory' }],
      /^'data\/x\/': a part of its path is a file by another member/,
    ],
    [
      'a file below a file',
      [{ name: 'data/x' }, { name: 'data/x/y/z' }],
      /^'data\/x\/y\/z': a part of its path is a file by another member/,
    ],
    [
      'an endless name',
      [{ name: `data/${'n'.repeat(300)}` }],
      /^'data\/n{94}…': a part of its name is longer than the file system allows/,
    ],
    [
      'an empty file as its last, twice',
      [
        { name: 'data/x', text: '' },
        { name: 'data/x', text: '' },
      ],
      /^'data\/x': another member/,
    ],
  ])('is refused with %s, and says which member it is', async (_, members, why) => {
    const path = join(folder, 'clash.tar');
    writeFileSync(path, await tar([...good, ...members]));
    expect(await reasonAgainst(path)).toMatch(why);
    expect(readdirSync(join(folder, '.clash.vllm_omni_extracted'))).toEqual([]);
  });

  it('that is empty is told so', async () => {
    const path = join(folder, 'none.tar');
    writeFileSync(path, '');
    expect(await reasonAgainst(path)).toBe('it is empty. Get the archive again.');
  });

  // What a member's header and content take: 512 bytes each, the content filled up.
  it.each([
    ['in the header of its first', 100, 'before its first member'],
    ['behind the header of its first file', 1024, "in or after its member 'data/1q1a/video_json_map.json'"],
    ['in the first of several pieces', 1536 + 512 + 10_000, "in or after its member 'data/large'"],
    ['in the last of several pieces', 1536 + 512 + 299_000, "in or after its member 'data/large'"],
    ['in the filling of a file', 1536 + 512 + 300_001, "in or after its member 'data/large'"],
    ['in a header further on', 1536 + 512 + 300_032 + 100, "in or after its member 'data/large'"],
    ['in a small file', 1536 + 512 + 300_032 + 512 + 1, "in or after its member 'data/small'"],
  ])('that is cut off %s names what it held last', async (_, length, where) => {
    const whole = await tar([
      ...good,
      { name: 'data/large', text: 'l'.repeat(300_000) },
      { name: 'data/small', text: 'small' },
    ]);
    const path = join(folder, 'cut.tar');
    writeFileSync(path, whole.subarray(0, length));
    expect(await reasonAgainst(path)).toContain(`it cannot be read ${where}: Unexpected end of data`);
    expect(readdirSync(join(folder, '.cut.vllm_omni_extracted'))).toEqual([]);
  });

  it('is not unpacked through a link', async () => {
    const path = join(folder, 'omni.tar');
    writeFileSync(path, await tar(good));
    mkdirSync(join(folder, 'elsewhere'));
    symlinkSync(join(folder, 'elsewhere'), join(folder, '.omni.vllm_omni_extracted'));
    await expect(datasetRoot(path, search())).rejects.toThrow('is a link');
    expect(readdirSync(join(folder, 'elsewhere'))).toEqual([]);
  });

  it('keeps the name and content of a long path', async () => {
    const long = `data/1qna/${'x'.repeat(90)}/${'y'.repeat(90)}.mp4`;
    const path = join(folder, 'omni.tar');
    writeFileSync(path, await tar([...good, { name: long, text: 'long' }]));
    const root = await datasetRoot(path, search());
    expect(readFileSync(join(root, '..', long), 'utf8')).toBe('long');
  });
});
