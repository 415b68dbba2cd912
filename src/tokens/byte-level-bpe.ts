import { InputFileError } from '../foundation/errors.ts';
import { type TokenizerConfig, type TokenizerJson, tokenizerJsonSchema } from './tokenizer-parts.ts';

/** How Qwen2 and Qwen3 models split a text into words before merging. */
const qwenWords =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" +
  '\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+';

type Splitting = { readonly normalizer: object | null; readonly pre_tokenizer: object };

function byteLevel(useRegex: boolean, addPrefixSpace = false): object {
  return { type: 'ByteLevel', add_prefix_space: addPrefixSpace, trim_offsets: false, use_regex: useRegex };
}

/** vocab.json and merges.txt do not say how texts are split; that is known by the tokenizer's class alone. */
function splittingOf(config: TokenizerConfig): Splitting | null {
  switch (config.tokenizer_class?.replace(/Fast$/, '')) {
    case 'Qwen2Tokenizer':
    case 'Qwen3Tokenizer':
      return {
        normalizer: { type: 'NFC' },
        pre_tokenizer: {
          type: 'Sequence',
          pretokenizers: [
            { type: 'Split', pattern: { Regex: qwenWords }, behavior: 'Isolated', invert: false },
            byteLevel(false),
          ],
        },
      };
    case 'GPT2Tokenizer':
      return { normalizer: null, pre_tokenizer: byteLevel(true, config.add_prefix_space ?? false) };
    default:
      return null;
  }
}

/** Lines `left right`, best merge first, after an optional `#version` line. */
function mergePairs(text: string): string[] {
  return text.split('\n').flatMap((line, index) => {
    const pair = line.replace(/\r$/, '');
    return pair === '' || (index === 0 && pair.startsWith('#version')) ? [] : [pair];
  });
}

/**
 * The tokenizer.json that stands for vocab.json, merges.txt and tokenizer_config.json, which is all that
 * Qwen3-Omni publishes.
 * @throws InputFileError for a tokenizer class whose way of splitting texts is not known here
 */
export function byteLevelBpe(source: {
  readonly owner: string;
  readonly vocabulary: Readonly<Record<string, number>>;
  readonly merges: string;
  readonly config: TokenizerConfig;
}): TokenizerJson {
  const { owner, vocabulary, merges, config } = source;
  const splitting = splittingOf(config);
  if (splitting === null)
    throw new InputFileError(
      `${owner} has vocab.json and merges.txt of the class ${config.tokenizer_class ?? '(not stated)'}; without ` +
        'a tokenizer.json only Qwen2Tokenizer and GPT2Tokenizer can be read. Save it once with save_pretrained ' +
        'of the transformers library, which writes a tokenizer.json, and give that folder',
    );
  const added = Object.entries(config.added_tokens_decoder ?? {})
    .map(([id, token]) => ({
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      ...token,
      id: Number(id),
    }))
    .sort((a, b) => a.id - b.id);
  return tokenizerJsonSchema.parse({
    version: '1.0',
    added_tokens: added,
    ...splitting,
    post_processor: byteLevel(false),
    decoder: byteLevel(false),
    model: { type: 'BPE', vocab: vocabulary, merges: mergePairs(merges), unk_token: null },
  });
}
