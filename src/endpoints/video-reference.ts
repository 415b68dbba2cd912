import { UsageError } from '../foundation/errors.ts';
import type { ContentPart, Sample } from '../workloads/sample.ts';
import { asObject, asText, type JsonObject } from './json-values.ts';
import { dataUrlOf, type MediaSource, mediaBytes, mediaSource, mimeOfName } from './media-source.ts';
import type { FormPart } from './multipart-body.ts';
import { isSound } from './picture-fields.ts';
import { fieldPlace } from './request-parts.ts';

type Modality = 'image' | 'video';

/** Names where a field was given. */
type PlaceOf = (key: string) => string;

/** Something that a video is to be made from: structured as the API takes it, or a file of this host. */
type Reference =
  | {
      readonly modality: Modality;
      readonly kind: 'json';
      readonly value: unknown;
      readonly lone: string | null;
    }
  | {
      readonly modality: Modality;
      readonly kind: 'file';
      readonly source: Extract<MediaSource, { kind: 'file' }>;
    };

/** Above this length a lone video travels as a file: form fields of text are limited on servers. */
const longestFieldBytes = 1_048_576;

/** Keys of the extra body that this file alone turns into form fields. */
export const referenceKeys = [
  'image_reference',
  'video_reference',
  'input_reference',
  'input_references',
] as const;

/**
 * The form parts of a request's references: the sample's media, else those of the extra body. At most one image and
 * one video, each in exactly one field (vLLM-Omni PR #4728); sound of a mixed dataset has no place here.
 * @throws UsageError for anything that has no place in the API, before anything is sent
 */
export function referenceParts(sample: Sample, extra: JsonObject): FormPart[] {
  const media = sample.media.filter((part) => !isSound(part));
  const references =
    media.length > 0 ? mediaReferences(media) : bodyReferences(extra, (key) => fieldPlace(sample, key));
  for (const modality of ['image', 'video'] as const) {
    if (references.filter((each) => each.modality === modality).length > 1)
      throw new UsageError(
        `The videos API takes one ${modality} reference a request, and this one has several. Send fewer media, or a list of {"${modality}_url": …} in --extra-body.${modality}_reference.`,
      );
  }
  const [first, second] = references;
  if (!first) return [];
  if (second) return references.map(structuredPart);
  return [first.kind === 'file' ? filePart(first.source) : lonePart(first)];
}

function mediaReferences(media: readonly ContentPart[]): Reference[] {
  return media.map((part) => {
    for (const modality of ['image', 'video'] as const) {
      const field = part[`${modality}_url`];
      const url = asText(field) ?? asText(asObject(field)?.url);
      if (url !== null) return textReference(url, modality, null);
    }
    throw new UsageError(
      `The videos API takes images and videos as references, and the dataset brings a part of type ${part.type}.`,
    );
  });
}

function bodyReferences(extra: JsonObject, placeOf: PlaceOf): Reference[] {
  if (extra.input_references !== undefined && extra.input_references !== null)
    throw new UsageError(
      `${placeOf('input_references')}: not taken. Give image_reference, video_reference, or a local file as input_reference.`,
    );
  const found: Reference[] = [];
  for (const modality of ['image', 'video'] as const) {
    const value = extra[`${modality}_reference`];
    if (value !== undefined && value !== null) found.push(referenceOf(value, modality, placeOf));
  }
  const file = extra.input_reference;
  if (file !== undefined && file !== null) found.push(inputReference(file, placeOf('input_reference')));
  return found;
}

/** What `image_reference` or `video_reference` of the extra body holds. */
function referenceOf(value: unknown, modality: Modality, placeOf: PlaceOf): Reference {
  const place = placeOf(`${modality}_reference`);
  if (typeof value === 'string') return textReference(value, modality, place);
  const items = Array.isArray(value) ? value : [value];
  const isStructured = items.length > 0 && items.every((item) => structured(item, modality));
  if (!isStructured)
    throw new UsageError(
      `${place}: ${JSON.stringify(value).slice(0, 200)} is no reference. Expected a URL, a local file, {"${modality}_url": URL}, {"file_id": ID}, or a list of such objects.`,
    );
  const plain = items.map((item) => flattened(item, modality));
  return { modality, kind: 'json', value: Array.isArray(value) ? plain : plain[0], lone: null };
}

function structured(item: unknown, modality: Modality): boolean {
  const fields = asObject(item);
  if (!fields) return false;
  const url = fields[`${modality}_url`];
  return asText(url) !== null || asText(asObject(url)?.url) !== null || asText(fields.file_id) !== null;
}

/** Chat's `{"image_url": {"url": …}}` as the `{"image_url": …}` of this API. */
function flattened(item: unknown, modality: Modality): JsonObject {
  const fields = asObject(item) ?? {};
  const key = `${modality}_url`;
  const url = asText(asObject(fields[key])?.url);
  return url === null ? fields : { ...fields, [key]: url };
}

/**
 * A reference given as text.
 * @param place where it was given; `null` = in a content part, whose type says what it is
 */
function textReference(text: string, modality: Modality, place: string | null): Reference {
  const source = mediaSource(text);
  if (source.kind === 'file') return { modality, kind: 'file', source };
  const mime = source.kind === 'data' ? source.mime : mimeOfUrl(source.url);
  if (mime === null && place !== null)
    throw new UsageError(
      `${place}: ${text} does not end like ${modality === 'image' ? 'an image' : 'a video'}. Say what it is: {"${modality}_url": "${text}"}.`,
    );
  if (mime !== null && !mime.startsWith(`${modality}/`))
    throw new UsageError(
      `The videos API: ${text.slice(0, 100)} is ${mime || 'of no type'}, expected ${modality}/….`,
    );
  return {
    modality,
    kind: 'json',
    value: { [`${modality}_url`]: text },
    lone: source.kind === 'data' ? text : null,
  };
}

function mimeOfUrl(url: string): string | null {
  return URL.canParse(url) ? mimeOfName(new URL(url).pathname) : null;
}

function inputReference(value: unknown, place: string): Reference {
  const source = typeof value === 'string' ? mediaSource(value) : null;
  if (source?.kind !== 'file')
    throw new UsageError(
      `${place}: expected the path of a local file. URLs go in image_reference or video_reference.`,
    );
  const modality = source.mime.split('/')[0];
  if (modality !== 'image' && modality !== 'video')
    throw new UsageError(`${place}: ${source.path} is no image or video by its name.`);
  return { modality, kind: 'file', source };
}

/** Beside another reference everything is a field of text: a form has one place for a file. */
function structuredPart(reference: Reference): FormPart {
  const value =
    reference.kind === 'json'
      ? reference.value
      : { [`${reference.modality}_url`]: dataUrlOf(reference.source) };
  return { name: `${reference.modality}_reference`, value: JSON.stringify(value) };
}

function lonePart(reference: Extract<Reference, { kind: 'json' }>): FormPart {
  const part = structuredPart(reference);
  const large = 'value' in part && Buffer.byteLength(part.value) > longestFieldBytes;
  if (reference.modality !== 'video' || reference.lone === null || !large) return part;
  const source = mediaSource(reference.lone);
  if (source.kind !== 'data') return part;
  return {
    name: 'input_references',
    filename: `benchmark-reference${source.mime === 'video/mp4' ? '.mp4' : '.bin'}`,
    contentType: source.mime,
    bytes: mediaBytes(source),
  };
}

function filePart(source: Extract<MediaSource, { kind: 'file' }>): FormPart {
  return {
    name: 'input_reference',
    filename: source.filename,
    contentType: source.mime,
    bytes: mediaBytes(source),
  };
}
