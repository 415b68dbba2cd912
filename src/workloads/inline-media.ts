import type { ContentPart } from './sample.ts';

/** Kinds of content parts that carry a URL. */
export type MediaPartKind = 'image_url' | 'audio_url' | 'video_url';

/**
 * A content part that holds its medium as a data URL. The URL is made whenever it is read and not kept: a thousand
 * of a few megabytes would fill the heap for strings, and each is read once, when its request is serialised.
 */
export function inlinePart(kind: MediaPartKind, mimeType: string, bytes: Uint8Array): ContentPart {
  const source = {
    get url(): string {
      const { buffer, byteOffset, byteLength } = bytes;
      return `data:${mimeType};base64,${Buffer.from(buffer, byteOffset, byteLength).toString('base64')}`;
    },
  };
  return { type: kind, [kind]: source };
}

/** A content part whose medium the server fetches, or that was a data URL already. */
export function urlPart(kind: MediaPartKind, url: string): ContentPart {
  return { type: kind, [kind]: { url } };
}
