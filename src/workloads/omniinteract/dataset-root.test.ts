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

  it.each([
    ['is cut off', (bytes: Buffer) => gzipSync(bytes).subarray(0, 60)],
    ['is no archive', () => Buffer.from('no archive')],
    ['names a file twice', (bytes: Buffer) => gzipSync(Buffer.concat([bytes.subarray(0, -1024), bytes]))],
  ])('that %s leaves nothing behind', async (_, spoil) => {
    const path = join(folder, 'bad.tar.gz');
    writeFileSync(path, spoil(await tar(good)));
    await expect(datasetRoot(path, search())).rejects.toThrow(/^cannot unpack .*bad\.tar\.gz into /);
    expect(readdirSync(join(folder, '.bad.vllm_omni_extracted'))).toEqual([]);
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
