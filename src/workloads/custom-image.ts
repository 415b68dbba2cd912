import type { Dataset, LoadContext } from './dataset.ts';
import { urlPart } from './inline-media.ts';
import { MediaReferences } from './media-reference.ts';
import { asMultimodalChat } from './multimodal-chat.ts';
import { checkCustomOutputLen, rowOutputTokens } from './row-output-tokens.ts';
import { jsonlPath, rowSamples } from './row-samples.ts';
import { isRow, type Row, wrongField } from './row-value.ts';
import type { ContentPart, Sample } from './sample.ts';

const form =
  'one JSON object per line with "prompt" and "image_files", a list of paths or URLs, or with "content", a list of text and image parts';

/** A piece of a row's message: text, or an image by its path or URL. */
type Piece = { readonly text: string } | { readonly image: string };

type ImageRow = {
  readonly pieces: readonly Piece[];
  /** The row gave the order of texts and images itself. */
  readonly interleaved: boolean;
  readonly outputTokens: number;
};

function pieceOf(part: unknown, where: string): Piece | string {
  if (!isRow(part)) return wrongField(where, part, 'a part with "type"');
  const { type, text, image, image_url: url } = part;
  switch (type) {
    case 'text':
      return typeof text === 'string' ? { text } : wrongField(`${where}.text`, text, 'text');
    case 'image':
      return typeof image === 'string' ? { image } : wrongField(`${where}.image`, image, 'a path or URL');
    case 'image_url': {
      const address = isRow(url) ? url.url : url;
      if (typeof address === 'string') return { image: address };
      return wrongField(`${where}.image_url`, url, 'a URL, or an object with "url"');
    }
    default:
      return wrongField(`${where}.type`, type, '"text", "image" or "image_url"');
  }
}

function piecesOfContent(content: readonly unknown[]): Piece[] | string {
  const pieces: Piece[] = [];
  for (const [index, part] of content.entries()) {
    const piece = pieceOf(part, `content[${index}]`);
    if (typeof piece === 'string') return piece;
    pieces.push(piece);
  }
  return pieces;
}

function piecesOfPrompt({ prompt, image_files: files }: Row): Piece[] | string {
  if (typeof prompt !== 'string') return wrongField('prompt', prompt, 'text (or "content", a list of parts)');
  if (!Array.isArray(files)) return wrongField('image_files', files, 'a list of paths or URLs');
  const pieces: Piece[] = [{ text: prompt }];
  for (const [index, image] of files.entries()) {
    if (typeof image !== 'string') return wrongField(`image_files[${index}]`, image, 'a path or URL');
    pieces.push({ image });
  }
  return pieces;
}

function parseRow(value: unknown, customOutputLen: number): ImageRow | string {
  if (!isRow(value)) return wrongField('row', value, 'an object');
  const outputTokens = rowOutputTokens(value, customOutputLen);
  if (typeof outputTokens === 'string') return outputTokens;
  const { content } = value;
  if (content !== undefined && !Array.isArray(content))
    return wrongField('content', content, 'a list of parts');
  const pieces = content === undefined ? piecesOfPrompt(value) : piecesOfContent(content);
  if (typeof pieces === 'string') return pieces;
  return { pieces, interleaved: content !== undefined, outputTokens };
}

async function partOf(
  piece: Piece,
  references: MediaReferences,
  clientSide: boolean,
): Promise<ContentPart | string> {
  if ('text' in piece) return { type: 'text', text: piece.text };
  if (/^data:/i.test(piece.image)) return urlPart('image_url', piece.image);
  return clientSide
    ? await references.inline('image_url', piece.image)
    : references.remote('image_url', piece.image);
}

async function sampleOf(
  row: ImageRow,
  { options, tokenizer }: LoadContext,
  references: MediaReferences,
): Promise<Sample | string> {
  const parts: ContentPart[] = [];
  for (const piece of row.pieces) {
    const part = await partOf(piece, references, options.ensureClientSideData);
    if (typeof part === 'string') return part;
    parts.push(part);
  }
  const prompt = row.pieces.flatMap((piece) => ('text' in piece ? [piece.text] : [])).join('\n');
  const sample: Sample = {
    prompt,
    promptTokens: tokenizer?.count(prompt, { addSpecialTokens: true }) ?? null,
    expectedOutputTokens: row.outputTokens,
    media: [],
    requestId: null,
  };
  if (row.interleaved) return { ...sample, chatMessages: [{ role: 'user', content: parts }] };
  const media = parts.filter(({ type }) => type !== 'text');
  return asMultimodalChat({ ...sample, media }, options);
}

async function load(context: LoadContext): Promise<readonly Sample[]> {
  const path = jsonlPath(context, form, 'CustomImageDataset');
  checkCustomOutputLen(context);
  const references = new MediaReferences(path);
  return await rowSamples(
    path,
    {
      form,
      parse: (value) => parseRow(value, context.options.customOutputLen),
      sampleOf: (row) => sampleOf(row, context, references),
      skipsUnusable: true,
    },
    context,
  );
}

/** Prompts and images of one's own. */
export const customImage: Dataset = {
  name: 'custom_image',
  doc: 'Prompts and images of your own: JSONL with "prompt" and "image_files", or "content" parts, per line.',
  flags: [
    'dataset-path',
    'disable-shuffle',
    'no-oversample',
    'skip-invalid',
    'custom-output-len',
    'custom-ensure-client-side-data',
    'enable-multimodal-chat',
  ],
  hasRows: true,
  load,
};
