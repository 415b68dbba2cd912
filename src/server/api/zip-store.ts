import { crc32 } from 'node:zlib';

/** A file of an archive. */
export type ZipEntry = { readonly name: string; readonly bytes: Buffer };

/** Date of the entries, which nobody asked for: 1980-01-01, the format's first. */
const dosDate = 0x0021;

function header(entry: ZipEntry, signature: number, versionsLength: number): Buffer {
  const name = Buffer.from(entry.name, 'latin1');
  const head = Buffer.alloc(4 + versionsLength + 24);
  head.writeUInt32LE(signature, 0);
  for (let at = 4; at < 4 + versionsLength; at += 2) head.writeUInt16LE(20, at);
  const at = 4 + versionsLength;
  head.writeUInt16LE(dosDate, at + 6);
  head.writeUInt32LE(crc32(entry.bytes), at + 8);
  head.writeUInt32LE(entry.bytes.length, at + 12);
  head.writeUInt32LE(entry.bytes.length, at + 16);
  head.writeUInt16LE(name.length, at + 20);
  return head;
}

/** A ZIP archive of files as they are: pictures do not get smaller. */
export function zipStore(entries: readonly ZipEntry[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const name = Buffer.from(entry.name, 'latin1');
    const local = header(entry, 0x04034b50, 2);
    parts.push(local, name, entry.bytes);
    // Comment, disk and attributes are none; where the entry begins.
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    directory.push(header(entry, 0x02014b50, 4), place, name);
    offset += local.length + name.length + entry.bytes.length;
  }
  const listing = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(listing.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, listing, end]);
}
