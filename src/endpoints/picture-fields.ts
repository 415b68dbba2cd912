import type { ContentPart, Sample } from '../workloads/sample.ts';
import type { JsonObject } from './json-values.ts';

/** Size and count of pictures as the extra body may spell them. */
export const sizeKeys = ['size', 'width', 'height'] as const;

/** `size` as given, else made of width and height; `null` where neither is there. */
export function pictureSize(fields: JsonObject): string | null {
  if (fields.size !== undefined && fields.size !== null) return String(fields.size);
  const { width, height } = fields;
  const given = (side: unknown): boolean => side !== undefined && side !== null && side !== 0 && side !== '';
  return given(width) && given(height) ? `${width}x${height}` : null;
}

/** A line about fields of this sample's request that the API has no place for; none where there are none. */
export function droppedNote(endpoint: string, keys: readonly string[], sample: Sample): readonly string[] {
  if (keys.length === 0) return [];
  const dropped = `${endpoint} takes no ${keys.join(', ')}`;
  if (!sample.recordedBody) return [`${dropped}: left out of the request. Remove it from --extra-body.`];
  return [
    `${dropped}: left out of the requests in whose recorded body the trace has it. Where it matters, replay the trace to the API that it was recorded for; else remove it from the "body" of its rows.`,
  ];
}

/** The kinds of sound parts among a request's media. */
const soundTypes = new Set(['audio_url', 'input_audio']);

export function isSound(part: ContentPart): boolean {
  return soundTypes.has(part.type);
}

/** What to tell of media that an API of pictures has no place for: datasets of mixed media bring sound too. */
export function soundNote(endpoint: string, media: readonly ContentPart[]): readonly string[] {
  return media.some(isSound) ? [`${endpoint} takes no sound: audio parts are left out of the requests.`] : [];
}
