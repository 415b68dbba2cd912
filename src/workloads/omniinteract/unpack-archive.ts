import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream, lstatSync, statSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join, posix } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract, type Header } from 'tar-stream';
import { InputFileError, messageOf } from '../../foundation/errors.ts';
import { isFolder } from './discover-cases.ts';

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

async function writeMembers(archive: string, folder: string): Promise<void> {
  const members = extract();
  const source = createReadStream(archive);
  const reading = /\.(tar\.gz|tgz)$/i.test(archive)
    ? pipeline(source, createGunzip(), members)
    : pipeline(source, members);
  const written = (async () => {
    for await (const member of members) {
      const path = join(folder, memberPath(member.header));
      if (member.header.type === 'directory') {
        await mkdir(path, { recursive: true });
        member.resume();
      } else {
        await mkdir(dirname(path), { recursive: true });
        // A name that comes twice is refused: whether the first or the last counts differs between programs.
        await pipeline(member, createWriteStream(path, { flags: 'wx' }));
      }
    }
  })();
  // The error of the one that began it: a refused member also breaks the reading off.
  const [wrote, read] = await Promise.allSettled([written, reading]);
  if (wrote.status === 'rejected' && wrote.reason instanceof InputFileError) throw wrote.reason;
  if (read.status === 'rejected') throw read.reason;
  if (wrote.status === 'rejected') throw wrote.reason;
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

/** Another run may have published the same in the meantime. */
async function publish(staging: string, target: string): Promise<void> {
  try {
    await rename(staging, target);
  } catch (error) {
    if (!isFolder(target)) throw error;
  }
}
