import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { messageOf } from '../foundation/errors.ts';
import { sniffMime } from '../media/sniff-mime.ts';
import { inlinePart, type MediaPartKind, urlPart } from './inline-media.ts';
import type { ContentPart } from './sample.ts';

/** How long a medium on the web may take to begin to arrive, and to arrive, ms. */
const fetchTimeoutMs = 60_000;

const whatToDo = 'Fix the row or pass --skip-invalid.';

const families = { image_url: 'image', audio_url: 'audio', video_url: 'video' } as const;

/** A medium as a row names it, and its bytes. */
export type LoadedMedium = { readonly mimeType: string; readonly bytes: Uint8Array };

async function fetchBytes(url: string): Promise<Uint8Array> {
  const response = await fetch(url, { signal: AbortSignal.timeout(fetchTimeoutMs) });
  if (!response.ok) throw new Error(`the server answered ${response.status} ${response.statusText}`.trim());
  return new Uint8Array(await response.arrayBuffer());
}

/** Where a reference points: a URL as it stands; a path as a `file:` URL, relative to the dataset's folder. */
export function absoluteUrl(reference: string, datasetPath: string): string {
  if (/^(https?|file|data):/i.test(reference)) return reference;
  const path = isAbsolute(reference) ? reference : resolve(dirname(datasetPath), reference);
  return pathToFileURL(path).href;
}

/** Turns what rows say of media into content parts; each medium is loaded once. */
export class MediaReferences {
  readonly #datasetPath: string;
  readonly #loaded = new Map<string, Promise<LoadedMedium | string>>();

  constructor(datasetPath: string) {
    this.#datasetPath = datasetPath;
  }

  /** The part as the server is to fetch it. */
  remote(kind: MediaPartKind, reference: string): ContentPart {
    return urlPart(kind, absoluteUrl(reference, this.#datasetPath));
  }

  /** The part with its medium inside, or what is in the way. A data URL stays as it is. */
  async inline(kind: MediaPartKind, reference: string): Promise<ContentPart | string> {
    if (/^data:/i.test(reference)) return urlPart(kind, reference);
    const medium = await this.load(kind, reference);
    return typeof medium === 'string' ? medium : inlinePart(kind, medium.mimeType, medium.bytes);
  }

  /** The bytes of a medium and what they are, or what is in the way. */
  load(kind: MediaPartKind, reference: string): Promise<LoadedMedium | string> {
    const url = absoluteUrl(reference, this.#datasetPath);
    const known = this.#loaded.get(url);
    if (known !== undefined) return known;
    const loading = loadFrom(url, kind);
    this.#loaded.set(url, loading);
    return loading;
  }
}

async function loadFrom(url: string, kind: MediaPartKind): Promise<LoadedMedium | string> {
  let bytes: Uint8Array;
  try {
    // `fetch` reads data URLs too.
    bytes = /^file:/i.test(url) ? await readFile(fileURLToPath(url)) : await fetchBytes(url);
  } catch (error) {
    return `${shortUrl(url)} cannot be loaded (${messageOf(error)}). ${whatToDo}`;
  }
  const mimeType = sniffMime(bytes);
  const family = families[kind];
  // Sounds and videos share containers: an .mp4 may be either.
  const fits =
    mimeType !== null &&
    (mimeType.startsWith(`${family}/`) || (family === 'audio' && mimeType.startsWith('video/')));
  if (fits) return { mimeType, bytes };
  return `${shortUrl(url)} is no ${family} by its first bytes (${mimeType ?? 'not known'}). ${whatToDo}`;
}

function shortUrl(url: string): string {
  return url.length > 200 ? `${url.slice(0, 199)}…` : url;
}
