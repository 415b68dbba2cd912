import { aliveTest, type BadInput, badInputServers, refusalTests } from './bad-input.suite.ts';

/** Embeddings, pooling, rerank and scores. */

const servers = badInputServers('embed', 'text');

const cases: readonly BadInput[] = [
  ['vectors of nothing', 'embed', '/v1/embeddings', () => ({ input: [] }), 400, /input/],
  ['vectors of an empty text', 'embed', '/v1/embeddings', () => ({ input: '' }), 400, /input/],
  [
    'vectors in another form',
    'embed',
    '/v1/embeddings',
    () => ({ input: 'a', encoding_format: 'hex' }),
    400,
    /encoding_format/,
  ],
  [
    'vectors too long',
    'embed',
    '/v1/embeddings',
    () => ({ input: 'a', dimensions: 9999 }),
    400,
    /dimensions/,
  ],
  [
    'vectors of a text model',
    'text',
    '/v1/embeddings',
    () => ({ input: 'a' }),
    400,
    /does not support embeddings/,
  ],
  [
    'vectors of a message without content',
    'embed',
    '/v1/embeddings',
    () => ({ messages: [{ role: 'user' }] }),
    400,
    /messages\.0\.content/,
  ],
  [
    'vectors of a speaker that there is not',
    'embed',
    '/v1/embeddings',
    () => ({ messages: [{ role: 'foo', content: 'a' }] }),
    400,
    /messages\.0\.role/,
  ],
  ['pooling of nothing', 'embed', '/pooling', () => ({}), 400, /input/],
  [
    'a rerank without documents',
    'embed',
    '/v1/rerank',
    () => ({ query: 'a', documents: [] }),
    400,
    /documents/,
  ],
  ['a rerank without a query', 'embed', '/v1/rerank', () => ({ documents: ['a'] }), 400, /query/],
  [
    'a score of unlike lists',
    'embed',
    '/v1/score',
    () => ({ text_1: ['a', 'b'], text_2: ['c'] }),
    400,
    /text_1/,
  ],
];

refusalTests(servers, cases);

aliveTest(servers);
