import { randomBytes } from 'node:crypto';
import { createReadStream, lstatSync, statSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, posix } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { type ExtractEvents, extract, type Header } from 'tar-stream';
import { InputFileError, messageOf } from '../../foundation/errors.ts';
import { isFolder } from './dataset-files.ts';

/**
 * Unpacks a tar or tar.gz once; a later run finds what an earlier one has unpacked.
 * @param into folder that holds one folder for each state of the archive
 * @param check says whether what came out is what was wanted
 * @returns the folder with the archive's content
 * @throws InputFileError for an archive that can't be read or holds a member that must not be written
 */
export async function unpackArchive(
  archive: string,
  { into, check, note }: { into: string; check: (folder: string) => void; note: (line: string) => void },
): Promise<string> {
  const { size, mtimeNs } = statSync(archive, { bigint: true });
  if (size === 0n) throw new InputFileError(`cannot unpack ${archive}: it is empty. Get the archive again.`);
  const target = join(into, `${size}-${mtimeNs}`);
  refuseLinks([into, target]);
  if (isFolder(target)) return target;
  const staging = join(into, `.tmp-${randomBytes(6).toString('hex')}`);
  try {
    await mkdir(staging, { recursive: true });
    note(`omniinteract: unpacking ${archive} into ${target}, once.`);
    await writeMembers(archive, staging);
    check(staging);
    await publish(staging, target);
  } catch (cause) {
    if (cause instanceof InputFileError) throw cause;
    throw new InputFileError(
      `cannot unpack ${archive} into ${into}: ${messageOf(cause)}. If the folder is at fault, unpack it yourself and give --dataset-path the result.`,
      { cause },
    );
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  return target;
}

/** Whoever can place a link there could have us write, or read, elsewhere. */
function refuseLinks(paths: readonly string[]): void {
  for (const path of paths)
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
      throw new InputFileError(
        `${path} is a link; an archive is only unpacked into a folder. Remove the link.`,
      );
}

/** @throws InputFileError naming the archive, and the member that could not be read or written */
async function writeMembers(archive: string, folder: string): Promise<void> {
  const members = extract();
  let latest: string | null = null;
  let writing: Promise<void> = Promise.resolve();
  const failures: InputFileError[] = [];
  // Not by the library's iterator of members: it may wait without end where the archive breaks off.
  members.on('entry', (header, member, next) => {
    latest = header.name;
    // Whoever reads it meets the error too, and may not have begun to.
    member.on('error', () => undefined);
    writing = writeMember(folder, header, member).then(
      () => next(),
      (error: Error) => {
        const failure = memberError(archive, header.name, error);
        failures.push(failure);
        // Ends the reading too, with this error.
        members.destroy(failure);
      },
    );
  });
  try {
    const source = createReadStream(archive);
    if (/\.(tar\.gz|tgz)$/i.test(archive)) await pipeline(source, createGunzip(), members);
    else await pipeline(source, members);
  } catch (cause) {
    // Its file must not be open when the folder is removed.
    await writing;
    if (cause instanceof InputFileError) throw cause;
    throw unreadable(archive, latest, cause);
  }
  await writing;
  // Of the last member alone: one before it ends the reading.
  if (failures[0] !== undefined) throw failures[0];
}

type Member = ExtractEvents['entry'][1];

async function writeMember(folder: string, header: Header, member: Member): Promise<void> {
  const path = join(folder, memberPath(header));
  if (header.type === 'directory') {
    await mkdir(path, { recursive: true });
    member.resume();
    return;
  }
  await mkdir(dirname(path), { recursive: true });
  // A name that comes twice is refused: whether the first or the last counts differs between programs.
  await writeFile(path, bytesOf(member), { flag: 'wx' });
}

async function* bytesOf(member: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  for await (const piece of member) {
    if (!(piece instanceof Uint8Array)) throw new Error('a member of an archive is no bytes');
    yield piece;
  }
}

/** @throws InputFileError for anything but a file or folder inside */
function memberPath({ name, type }: Header): string {
  const path = posix.normalize(name);
  const leaves = name.split(/[/\\]/).includes('..') || posix.isAbsolute(name) || /^[a-z]:|^\\/i.test(name);
  const plain = type === 'file' || type === 'contiguous-file' || type === 'directory';
  if (!leaves && plain && !name.includes('\0') && (type === 'directory' || basename(path) !== '.'))
    return path;
  throw new InputFileError(
    `Unsafe path in OmniInteract archive: '${name}'${plain ? '' : ` (a ${type})`}. Nothing was unpacked; get the archive from a source that you trust.`,
  );
}

const clashes: Readonly<Record<string, string>> = {
  EEXIST: 'another member before it has that name',
  ENOTDIR: 'a part of its path is a file by another member',
  ENAMETOOLONG: 'a part of its name is longer than the file system allows',
};

function memberError(archive: string, name: string, error: Error): InputFileError {
  if (error instanceof InputFileError) return error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const clash = clashes[code];
  const shown = name.length > 100 ? `${name.slice(0, 99)}…` : name;
  if (clash === undefined)
    return new InputFileError(
      `cannot unpack ${archive}: '${shown}': ${messageOf(error)}. If the folder is at fault, unpack it yourself and give --dataset-path the result.`,
      { cause: error },
    );
  return new InputFileError(
    `cannot unpack ${archive}: '${shown}': ${clash}. Nothing was unpacked; unpack it yourself and give --dataset-path the result.`,
    { cause: error },
  );
}

/** @param latest the member at which reading had arrived; `null` = none */
function unreadable(archive: string, latest: string | null, cause: unknown): InputFileError {
  const where = latest === null ? 'before its first member' : `in or after its member '${latest}'`;
  return new InputFileError(
    `cannot unpack ${archive}: it cannot be read ${where}: ${messageOf(cause)}. Nothing was unpacked; it may have been cut off, so get the archive again.`,
    { cause },
  );
}

/** Another run may have published the same in the meantime. */
async function publish(staging: string, target: string): Promise<void> {
  try {
    await rename(staging, target);
  } catch (error) {
    if (!isFolder(target)) throw error;
  }
}
