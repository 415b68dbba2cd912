import { readFile } from 'node:fs/promises';
import { messageOf } from '../../foundation/errors.ts';
import { sniffMime } from '../../media/sniff-mime.ts';
import { inlinePart, type MediaPartKind, urlPart } from '../inline-media.ts';
import { isRow, wrongField } from '../row-value.ts';
import type { ContentPart } from '../sample.ts';
import type { HfTools } from './hf-set.ts';

const fallbacks = { image_url: 'image/jpeg', video_url: 'video/mp4', audio_url: 'audio/wav' } as const;

/** The bytes of what a row holds: `{bytes, path}` as Parquet has it, or the name of a file of the data set. */
export async function rowBytes(
  value: unknown,
  field: string,
  tools: HfTools,
): Promise<{ readonly bytes: Uint8Array } | string> {
  if (value instanceof Uint8Array) return { bytes: value };
  const inside = isRow(value) ? value.bytes : value;
  if (inside instanceof Uint8Array) return { bytes: inside };
  const name = isRow(value) ? value.path : value;
  if (typeof name !== 'string' || name === '')
    return wrongField(field, inside === undefined ? value : inside, 'bytes, a URL or the name of a file');
  try {
    return { bytes: await readFile(await tools.file(name)) };
  } catch (cause) {
    return `"${field}" names ${JSON.stringify(name)}, which cannot be had (${messageOf(cause)}). Fix the row or pass --skip-invalid.`;
  }
}

/** A content part of what a row holds: bytes go inside, a web address as it is. */
export async function rowMedia(
  kind: MediaPartKind,
  value: unknown,
  field: string,
  tools: HfTools,
): Promise<ContentPart | string> {
  const address = isRow(value) && !(value.bytes instanceof Uint8Array) ? (value.url ?? value.path) : value;
  if (typeof address === 'string' && /^(https?|data):/i.test(address)) return urlPart(kind, address);
  const found = await rowBytes(value, field, tools);
  if (typeof found === 'string') return found;
  return inlinePart(kind, sniffMime(found.bytes) ?? fallbacks[kind], found.bytes);
}
