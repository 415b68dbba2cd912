import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UsageError } from '../foundation/errors.ts';

/** Where a medium of a request comes from. */
export type MediaSource =
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'data'; readonly url: string; readonly mime: string }
  | { readonly kind: 'file'; readonly path: string; readonly filename: string; readonly mime: string };

const mimeTypes: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
  '.gif': 'image/gif',
  '.bmp': 'image/bmp',
  '.heic': 'image/heic',
  '.heif': 'image/heif',
  '.mp4': 'video/mp4',
  '.mov': 'video/quicktime',
  '.webm': 'video/webm',
  '.mkv': 'video/x-matroska',
  '.m4v': 'video/x-m4v',
  '.wav': 'audio/wav',
  '.mp3': 'audio/mpeg',
  '.flac': 'audio/flac',
  '.ogg': 'audio/ogg',
  '.opus': 'audio/ogg',
  '.m4a': 'audio/mp4',
  '.aac': 'audio/aac',
};

/** MIME type by the extension of a file name or URL path; `null` = not known. */
export function mimeOfName(name: string): string | null {
  return mimeTypes[extname(name).toLowerCase()] ?? null;
}

/**
 * Tells data URLs, web addresses and local files apart.
 * @throws UsageError for a file that is not there
 */
export function mediaSource(text: string): MediaSource {
  const data = /^data:([^;,]*)/i.exec(text);
  if (data) return { kind: 'data', url: text, mime: (data[1] ?? '').toLowerCase() };
  if (/^https?:\/\//i.test(text)) return { kind: 'url', url: text };
  const path = /^file:\/\//i.test(text) ? fileURLToPath(text) : text;
  if (!existsSync(path) || !statSync(path).isFile())
    throw new UsageError(
      `media file not found: ${path}. Expected a data: or http(s) URL, or an existing file.`,
    );
  return {
    kind: 'file',
    path,
    filename: basename(path),
    mime: mimeOfName(path) ?? 'application/octet-stream',
  };
}

/** The bytes of a file or data URL. */
export function mediaBytes(source: Extract<MediaSource, { kind: 'data' | 'file' }>): Buffer {
  if (source.kind === 'file') return readFileSync(source.path);
  const comma = source.url.indexOf(',');
  const payload = source.url.slice(comma + 1);
  return /;base64$/i.test(source.url.slice(0, comma))
    ? Buffer.from(payload, 'base64')
    : Buffer.from(decodeURIComponent(payload));
}

/** A file as a data URL. */
export function dataUrlOf(source: Extract<MediaSource, { kind: 'data' | 'file' }>): string {
  return source.kind === 'data'
    ? source.url
    : `data:${source.mime};base64,${mediaBytes(source).toString('base64')}`;
}
