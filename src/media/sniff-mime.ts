/** A mark of a format: letters at a place. */
type Mark = readonly [at: number, letters: string, mime: string];

const marks: readonly Mark[] = [
  [0, '\xff\xd8\xff', 'image/jpeg'],
  [0, '\x89PNG\r\n\x1a\n', 'image/png'],
  [0, 'GIF8', 'image/gif'],
  [8, 'WEBP', 'image/webp'],
  [0, 'BM', 'image/bmp'],
  [0, 'II*\0', 'image/tiff'],
  [0, 'MM\0*', 'image/tiff'],
  [4, 'ftypheic', 'image/heic'],
  [4, 'ftypmif1', 'image/heif'],
  [4, 'ftypavif', 'image/avif'],
  [8, 'WAVE', 'audio/wav'],
  [0, 'ID3', 'audio/mpeg'],
  [0, 'fLaC', 'audio/flac'],
  [0, 'OggS', 'audio/ogg'],
  [4, 'ftypM4A ', 'audio/mp4'],
  [4, 'ftypqt  ', 'video/quicktime'],
  [4, 'ftyp', 'video/mp4'],
  [8, 'AVI ', 'video/x-msvideo'],
];

/** `RIFF` holds several kinds, told apart behind its length; elsewhere the mark alone decides. */
function hasMark(head: string, [at, letters]: Mark): boolean {
  if (head.slice(at, at + letters.length) !== letters) return false;
  return at !== 8 || head.startsWith('RIFF');
}

/** MPEG audio without a tag, or AAC: eleven or twelve bits of 1 and a layer. */
function frameSync(bytes: Uint8Array): string | null {
  const [first = 0, second = 0] = bytes;
  if (first !== 0xff) return null;
  if ((second & 0xf6) === 0xf0) return 'audio/aac';
  return (second & 0xe0) === 0xe0 && (second & 0x06) !== 0 ? 'audio/mpeg' : null;
}

/** WebM and Matroska share a mark; the name stands a little further on. */
function ebml(head: string): string | null {
  if (!head.startsWith('\x1aE\xdf\xa3')) return null;
  return head.includes('webm') ? 'video/webm' : 'video/x-matroska';
}

/** The MIME type of an image, a sound or a video by its first bytes; `null` = none that is known. */
export function sniffMime(bytes: Uint8Array): string | null {
  const first = bytes.subarray(0, 64);
  const head = Buffer.from(first.buffer, first.byteOffset, first.length).toString('latin1');
  return marks.find((mark) => hasMark(head, mark))?.[2] ?? ebml(head) ?? frameSync(first);
}
