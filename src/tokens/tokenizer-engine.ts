import { InputFileError, messageOf } from '../foundation/errors.ts';
import { type BpeMerger, bpeMerger } from './bpe-merger.ts';
import type { TokenizerJson, TokenizerParts } from './tokenizer-parts.ts';

/**
 * What is used of `@huggingface/tokenizers`. Written out here because the types it ships import each other
 * without file extensions, which Node's own resolution turns into `any`.
 */
export type TokenizerEngine = {
  encode(text: string, options: { add_special_tokens: boolean }): { ids: (number | undefined)[] };
  /** Throws for an empty list and for ids that have no token. */
  decode(ids: number[], options: { clean_up_tokenization_spaces: boolean }): string;
  token_to_id(token: string): number | undefined;
  id_to_token(id: number): string | undefined;
  /** `bpe`, where the model is one of byte pairs, splits one word. */
  readonly model: { bpe?: BpeMerger };
};

/** The merges of a plain byte-pair model, or `null` for a model that only the engine itself knows how to run. */
function plainMerges(model: TokenizerJson['model']): [string, string][] | null {
  const { type, merges, end_of_word_suffix, continuing_subword_prefix, continuing_subword_suffix } = model;
  const decorated = [end_of_word_suffix, continuing_subword_prefix, continuing_subword_suffix].some(Boolean);
  if (type !== 'BPE' || decorated || !Array.isArray(merges)) return null;
  const pairs: [string, string][] = [];
  for (const merge of merges as unknown[]) {
    const [left, right] = typeof merge === 'string' ? merge.split(' ', 2) : Array.isArray(merge) ? merge : [];
    if (typeof left !== 'string' || typeof right !== 'string') return null;
    pairs.push([left, right]);
  }
  return pairs;
}

function build(Engine: new (tokenizer: object, config: object) => TokenizerEngine, parts: TokenizerParts) {
  const { tokenizer, config } = parts;
  const merges = plainMerges(tokenizer.model);
  if (merges === null) return new Engine(tokenizer, config);
  // Without the merges the engine is built in half the time.
  const engine = new Engine({ ...tokenizer, model: { ...tokenizer.model, merges: [] } }, config);
  engine.model.bpe = bpeMerger(merges);
  return engine;
}

/**
 * The engine for a parsed tokenizer.
 * @param id whose it is, for error messages
 * @throws InputFileError where the parts do not make a tokenizer
 */
export async function tokenizerEngine(id: string, parts: TokenizerParts): Promise<TokenizerEngine> {
  // Lazy, because `--help` and runs without a tokenizer do not need it.
  const { Tokenizer } = await import('@huggingface/tokenizers');
  try {
    return build(Tokenizer, parts);
  } catch (cause) {
    throw new InputFileError(
      `The tokenizer of ${id} could not be built: ${messageOf(cause)}. ` +
        'Expected a tokenizer.json as the tokenizers library writes it; give another one with --tokenizer.',
      { cause },
    );
  }
}
