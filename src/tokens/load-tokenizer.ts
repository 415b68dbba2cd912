import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { z } from 'zod';
import { InputFileError, messageOf } from '../foundation/errors.ts';
import { buildTokenizer } from './build-tokenizer.ts';
import { byteLevelBpe } from './byte-level-bpe.ts';
import type { Tokenizer, TokenizerSource } from './tokenizer.ts';
import {
  type TokenizerConfig,
  type TokenizerJson,
  type TokenizerParts,
  templateOfConfig,
  tokenizerConfigSchema,
  tokenizerJsonSchema,
} from './tokenizer-parts.ts';

const decompress = promisify(brotliDecompress);

async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new InputFileError(`${path}: could not be read: ${messageOf(cause)}.`, { cause });
  }
}

/** Parses JSON and checks it, naming the file in any error. */
function parseAs<T>(path: string, text: string, schema: z.ZodType<T>): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new InputFileError(`${path}: not valid JSON: ${messageOf(cause)}.`, { cause });
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new InputFileError(
    `${path}: "${issue?.path.join('.') ?? ''}": ${issue?.message ?? 'not in the expected form'}. ` +
      'Expected a file as the tokenizers library writes it.',
  );
}

/** The carried vocabulary: one brotli-compressed JSON with both files. */
const bundleSchema = z.object({ tokenizer: tokenizerJsonSchema, config: tokenizerConfigSchema });

async function partsOfBundle(path: string): Promise<TokenizerParts> {
  const { tokenizer, config } = parseAs(
    path,
    (await decompress(await readFile(path))).toString('utf8'),
    bundleSchema,
  );
  return { tokenizer, config, chatTemplate: templateOfConfig(config) };
}

/** chat_template.jinja wins over chat_template.json, which wins over the config's own. */
async function chatTemplateOf(source: TokenizerSource, config: TokenizerConfig): Promise<string | null> {
  const { chatTemplate, chatTemplateJson } = source.files;
  if (chatTemplate !== undefined) return readText(chatTemplate);
  if (chatTemplateJson !== undefined) {
    const schema = tokenizerConfigSchema.pick({ chat_template: true });
    const stated = templateOfConfig(
      tokenizerConfigSchema.parse(parseAs(chatTemplateJson, await readText(chatTemplateJson), schema)),
    );
    if (stated !== null) return stated;
  }
  return templateOfConfig(config);
}

const vocabularySchema = z.custom<Record<string, number>>(
  (value) => typeof value === 'object' && value !== null && Object.values(value).every(Number.isInteger),
  'expected an object of tokens and their ids',
);

async function tokenizerJsonOf(source: TokenizerSource, config: TokenizerConfig): Promise<TokenizerJson> {
  const { tokenizer, vocabulary, merges } = source.files;
  if (tokenizer !== undefined) return parseAs(tokenizer, await readText(tokenizer), tokenizerJsonSchema);
  if (vocabulary === undefined || merges === undefined)
    throw new Error(`No vocabulary among the files of ${source.id}`);
  return byteLevelBpe({
    owner: source.id,
    vocabulary: parseAs(vocabulary, await readText(vocabulary), vocabularySchema),
    merges: await readText(merges),
    config,
  });
}

async function partsOfFiles(source: TokenizerSource): Promise<TokenizerParts> {
  const { config: configPath } = source.files;
  const config =
    configPath === undefined
      ? tokenizerConfigSchema.parse({})
      : parseAs(configPath, await readText(configPath), tokenizerConfigSchema);
  return {
    tokenizer: await tokenizerJsonOf(source, config),
    config,
    chatTemplate: await chatTemplateOf(source, config),
  };
}

/**
 * Loads a tokenizer from its files; the same source gives the same tokenizer in any thread.
 * @throws InputFileError for a file that is unreadable or not in the expected form
 */
export async function loadTokenizer(source: TokenizerSource): Promise<Tokenizer> {
  const { bundle } = source.files;
  const parts = bundle === undefined ? await partsOfFiles(source) : await partsOfBundle(bundle);
  return buildTokenizer(source, parts);
}
