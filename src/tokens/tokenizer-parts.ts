import { z } from 'zod';

/** A special token stands as text or as an object with its text. */
const specialToken = z
  .union([z.string(), z.looseObject({ content: z.string() })])
  .nullish()
  .transform((token) => (typeof token === 'string' ? token : (token?.content ?? null)));

/** Not walked: a vocabulary has 150,000 entries and comes from the model's own files. */
const vocabulary = z.custom<Record<string, unknown> | unknown[]>(
  (value) => typeof value === 'object' && value !== null,
  'expected an object or a list of tokens',
);

/** tokenizer.json: the fields read here; the engine reads the rest. */
export const tokenizerJsonSchema = z.looseObject({
  added_tokens: z
    .array(
      z.looseObject({ id: z.int().nonnegative(), content: z.string(), special: z.boolean().default(false) }),
    )
    .default([]),
  model: z.looseObject({ vocab: vocabulary }),
});
export type TokenizerJson = z.infer<typeof tokenizerJsonSchema>;

const namedTemplates = z.array(z.looseObject({ name: z.string(), template: z.string() }));

/** tokenizer_config.json: the fields read here. Servers and trainers add their own freely. */
export const tokenizerConfigSchema = z.looseObject({
  bos_token: specialToken,
  eos_token: specialToken,
  unk_token: specialToken,
  pad_token: specialToken,
  cls_token: specialToken,
  sep_token: specialToken,
  mask_token: specialToken,
  additional_special_tokens: z.array(specialToken).nullish(),
  /** Added tokens by id, with the flags that tokenizer.json has for them. */
  added_tokens_decoder: z
    .record(z.string(), z.looseObject({ content: z.string(), special: z.boolean().default(false) }))
    .nullish(),
  add_prefix_space: z.boolean().nullish(),
  tokenizer_class: z.string().nullish(),
  clean_up_tokenization_spaces: z.boolean().nullish(),
  chat_template: z.union([z.string(), namedTemplates]).nullish(),
});
export type TokenizerConfig = z.infer<typeof tokenizerConfigSchema>;

/** What a tokenizer is built from. */
export type TokenizerParts = {
  readonly tokenizer: TokenizerJson;
  readonly config: TokenizerConfig;
  /** Jinja text, or `null` where the model has no chat template. */
  readonly chatTemplate: string | null;
};

/** The template of a tokenizer_config.json; of several, the one named `default`. */
export function templateOfConfig(config: TokenizerConfig): string | null {
  const template = config.chat_template;
  if (typeof template === 'string') return template;
  const named = template?.find(({ name }) => name === 'default') ?? template?.[0];
  return named?.template ?? null;
}

const specialTokenNames = [
  'bos_token',
  'eos_token',
  'unk_token',
  'pad_token',
  'cls_token',
  'sep_token',
  'mask_token',
] as const;

/** The named special tokens that exist, as chat templates see them: `{ bos_token: '<s>' }`. */
export function namedSpecialTokens(config: TokenizerConfig): Record<string, string> {
  const named: Record<string, string> = {};
  for (const name of specialTokenNames) {
    const token = config[name];
    if (token !== null && token !== undefined) named[name] = token;
  }
  return named;
}
