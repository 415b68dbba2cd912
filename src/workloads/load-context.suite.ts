import type { Tokenizer } from '../tokens/tokenizer.ts';
import type { DatasetOptions, LoadContext } from './dataset.ts';
import { defaultMmBuckets } from './mm-buckets.ts';
import { defaultOmniInteractOptions } from './omniinteract/omniinteract-options.ts';

/** The options of a run that gives no dataset flag. */
const defaults: DatasetOptions = {
  name: 'test',
  path: null,
  disableShuffle: false,
  noOversample: false,
  skipChatTemplate: false,
  chatTemplateKwargs: {},
  sharegptOutputLen: null,
  customOutputLen: 256,
  skipInvalid: false,
  randomInputLen: 16,
  randomOutputLen: 128,
  randomPrefixLen: 0,
  randomRangeRatio: { input: 0, output: 0 },
  randomBatchSize: 1,
  noReranker: false,
  randomMm: {
    itemsPerRequest: 1,
    itemsRangeRatio: 0,
    limits: { image: 255, video: 1 },
    buckets: defaultMmBuckets,
    videoEncoder: 'built-in',
    audioMime: 'audio/wav',
  },
  enableMultimodalChat: false,
  ensureClientSideData: false,
  selfTimed: null,
  omniinteract: defaultOmniInteractOptions,
  sonnet: { inputLen: 550, outputLen: 150, prefixLen: 200 },
  prefixRepetition: { prefixLen: 256, suffixLen: 256, numPrefixes: 10, outputLen: 128 },
  timedTrace: {
    chunkHashSize: 16,
    secMultiplier: 1,
    labels: {
      timestamp: 'timestamp',
      inputLength: 'input_length',
      outputLength: 'output_length',
      hashIds: 'hash_ids',
    },
    given: [],
  },
  specBench: { outputLen: 256, category: null },
  speedBench: { subset: 'qualitative', outputLen: 4096, category: null },
  hf: {
    name: null,
    subset: null,
    split: null,
    outputLen: null,
    noStream: false,
    blazeditDistance: { min: 0, max: 1 },
    asrAudioLenS: { min: 0, max: null },
    bfclCategories: ['simple', 'live_simple', 'multiple'],
  },
};

/** A context for tests, and the lines that a dataset says in it. */
export function testContext(
  options: Partial<DatasetOptions>,
  more: Partial<LoadContext> = {},
): LoadContext & { readonly notes: string[] } {
  const notes: string[] = [];
  return {
    options: { ...defaults, ...options },
    numPrompts: 20,
    seed: 7,
    requestIdPrefix: 'bench-',
    tokenizer: wordTokenizer,
    chatEndpoint: false,
    env: { OMNIMETER_CACHE: 'off' },
    note: (line) => notes.push(line),
    progress: () => undefined,
    ...more,
    notes,
  };
}

/** A tokenizer whose counts can be seen by eye: a token per word, and one special token at the beginning. */
export const wordTokenizer: Tokenizer = {
  id: 'words',
  encode: (text, options) => [
    ...(options?.addSpecialTokens ? [0] : []),
    ...text.split(/\s+/).flatMap((word) => (word === '' ? [] : [word.length])),
  ],
  decode: (ids) => ids.map((id) => 'x'.repeat(id)).join(' '),
  count: (text, options) => wordTokenizer.encode(text, options).length,
  vocabSize: 20,
  specialIds: [0],
  specialTokensAdded: 1,
  renderChat: (messages, options) =>
    `${messages.map(({ role, content }) => `<${role}> ${content}`).join(' ')}${options?.extra?.think ? ' <think>' : ''}`,
};
