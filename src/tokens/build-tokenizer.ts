import { type ChatTemplate, chatTemplate } from './chat-template.ts';
import type { Tokenizer, TokenizerSource } from './tokenizer.ts';
import { type TokenizerEngine, tokenizerEngine } from './tokenizer-engine.ts';
import { namedSpecialTokens, type TokenizerParts } from './tokenizer-parts.ts';

/** Special ids by the model's own marks (`special`) and by the names its config gives (`eos_token`…). */
function specialIdsOf(parts: TokenizerParts, engine: TokenizerEngine): number[] {
  const ids = new Set<number>();
  for (const token of parts.tokenizer.added_tokens) if (token.special) ids.add(token.id);
  const named = [
    ...Object.values(namedSpecialTokens(parts.config)),
    ...(parts.config.additional_special_tokens ?? []),
  ];
  for (const content of named) {
    const id = content === null ? undefined : engine.token_to_id(content);
    if (id !== undefined) ids.add(id);
  }
  return [...ids].sort((a, b) => a - b);
}

/**
 * A tokenizer from its parsed files.
 * @param source its name, and its files where it has any, so that a thread can load it again
 * @throws InputFileError where the parts do not make a tokenizer
 */
export async function buildTokenizer(source: TokenizerSource, parts: TokenizerParts): Promise<Tokenizer> {
  const engine = await tokenizerEngine(source.id, parts);
  const template: ChatTemplate | null =
    parts.chatTemplate === null ? null : await chatTemplate(source.id, parts.chatTemplate);
  const specialIds = specialIdsOf(parts, engine);
  const isSpecial = new Set(specialIds);
  const templateTokens = namedSpecialTokens(parts.config);
  const { vocab } = parts.tokenizer.model;

  const encode: Tokenizer['encode'] = (text, options) => {
    const { ids } = engine.encode(text, { add_special_tokens: options?.addSpecialTokens ?? false });
    // The engine yields undefined for a character that a vocabulary without an unknown token cannot spell.
    return ids.filter((id) => typeof id === 'number');
  };
  const decode: Tokenizer['decode'] = (ids, options) => {
    const known = ids.filter(
      (id) => engine.id_to_token(id) !== undefined && !(options?.skipSpecialTokens && isSpecial.has(id)),
    );
    if (known.length === 0) return '';
    return engine.decode(known, {
      clean_up_tokenization_spaces: parts.config.clean_up_tokenization_spaces ?? false,
    });
  };
  return {
    id: source.id,
    ...(Object.keys(source.files).length > 0 ? { source } : {}),
    encode,
    decode,
    count: (text, options) => encode(text, options).length,
    vocabSize: Array.isArray(vocab) ? vocab.length : Object.keys(vocab).length,
    specialIds,
    specialTokensAdded: encode('a', { addSpecialTokens: true }).length - encode('a').length,
    renderChat: (messages, options) =>
      template === null
        ? null
        : template.render({
            tools: null,
            documents: null,
            ...templateTokens,
            messages,
            add_generation_prompt: options?.addGenerationPrompt ?? true,
            ...options?.extra,
          }),
  };
}
