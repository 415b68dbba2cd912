import { afterEach, describe, expect, it } from 'vitest';
import { omniFacts, requestOf } from '../metrics/metric-records.suite.ts';
import { summarize } from '../metrics/summarize.ts';
import { eventKinds } from '../records/event-log.ts';
import type { Sample } from '../workloads/sample.ts';
import { EndpointBench, exampleSample, exampleTarget } from './endpoint.suite.ts';
import type { Endpoint } from './endpoint.ts';
import { infinityEmbeddings, infinityEmbeddingsClip } from './infinity-embeddings.ts';
import { openaiEmbeddings } from './openai-embeddings.ts';
import { openaiEmbeddingsChat } from './openai-embeddings-chat.ts';
import { openaiEmbeddingsClip } from './openai-embeddings-clip.ts';
import { openaiEmbeddingsVlm2vec } from './openai-embeddings-vlm2vec.ts';
import { bytesOf, json, replyContract, runOne, sse } from './reply.suite.ts';
import { vllmPooling } from './vllm-pooling.ts';
import { vllmRerank } from './vllm-rerank.ts';

const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
const text = (content: string) => ({ type: 'text', text: content });
const vectors = {
  object: 'list',
  data: [{ index: 0, embedding: [0.5, 1] }],
  usage: { prompt_tokens: 5, total_tokens: 5 },
};
const scores = {
  id: 'r',
  results: [
    { index: 1, relevance_score: 0.9 },
    { index: 0, relevance_score: 0 },
  ],
  usage: { prompt_tokens: 5, total_tokens: 5 },
};

const cases: readonly [Endpoint, Partial<Sample>, Record<string, unknown>, unknown][] = [
  [openaiEmbeddings, {}, { model: 'served', input: 'Say hé', truncate_prompt_tokens: -1 }, vectors],
  [
    openaiEmbeddings,
    { prompt: ['a', 'b'] },
    { model: 'served', input: ['a', 'b'], truncate_prompt_tokens: -1 },
    { ...vectors, data: [...vectors.data, { index: 1, embedding: [2, 3] }] },
  ],
  [
    openaiEmbeddingsChat,
    { media: [image] },
    {
      model: 'served',
      messages: [{ role: 'user', content: [text('Say hé'), image] }],
      truncate_prompt_tokens: -1,
    },
    vectors,
  ],
  [
    openaiEmbeddingsClip,
    { media: [image] },
    { model: 'served', messages: [{ role: 'user', content: [text(''), image] }], truncate_prompt_tokens: -1 },
    vectors,
  ],
  [
    openaiEmbeddingsVlm2vec,
    { media: [image] },
    {
      model: 'served',
      messages: [{ role: 'user', content: [image, text('Represent the given image.')] }],
      truncate_prompt_tokens: -1,
    },
    vectors,
  ],
  [infinityEmbeddings, {}, { model: 'served', input: 'Say hé' }, vectors],
  [
    infinityEmbeddingsClip,
    { media: [image] },
    { model: 'served', input: 'data:image/png;base64,AAAA', modality: 'image' },
    vectors,
  ],
  [
    vllmPooling,
    {},
    { model: 'served', input: 'Say hé', truncate_prompt_tokens: -1 },
    { ...vectors, data: [{ index: 0, data: [1] }] },
  ],
  [
    vllmRerank,
    { prompt: ['query', 'one', 'two'] },
    { model: 'served', query: 'query', documents: ['one', 'two'], truncate_prompt_tokens: -1 },
    scores,
  ],
];

for (const [endpoint, sample, body, reply] of cases) {
  replyContract({
    endpoint,
    sample,
    target: { extraBody: { dimensions: 2 } },
    good: json(reply),
    expected: { text: '', outputTokens: null, promptTokens: 5, audio: null, image: null, video: null },
    hollow: [
      ['an empty list', json({ object: 'list', data: [], results: [] }), 'empty'],
      ['an empty object', json({}), 'empty'],
      ['JSON that is no object', json(7), 'empty'],
      ['entries without a vector or score', json({ data: [{ index: 0 }, { index: 1 }] }), 'empty'],
      ['an empty vector', json({ data: [{ embedding: [] }, { embedding: null }] }), 'empty'],
      ['a vector of nulls', json({ data: [{ embedding: [null, null] }] }), 'malformed'],
      ['null for an entry', json({ results: [null, { relevance_score: 1 }] }), 'malformed'],
      [
        'text for a score',
        json({ results: [{ relevance_score: 'high' }, { relevance_score: 1 }] }),
        'malformed',
      ],
      ['an infinite number', { type: 'application/json', body: '{"data":[{"data":[1e999]}]}' }, 'malformed'],
      ['base64 that is none', json({ data: [{ embedding: 'not base64!' }] }), 'malformed'],
      ['base64 that was cut', json({ data: [{ embedding: 'AACAPwAAgD' }] }), 'malformed'],
      ['an error with a good status', json({ error: { message: 'no' } }), 'stream_error'],
      ['a stream', sse([vectors]), 'content_type'],
    ],
    request: ({ head, body: sent }) => {
      expect(head.toLowerCase()).toContain('content-type: application/json');
      expect(sent.toString()).toBe(JSON.stringify({ ...body, dimensions: 2 }));
    },
  });
}

const bench = { current: new EndpointBench() };
afterEach(async () => {
  await bench.current.close();
  bench.current = new EndpointBench();
});

describe('the latency of a pooling request', () => {
  it('ends with the body, not with its head', async () => {
    const body = JSON.stringify(vectors);
    const { seen } = await runOne(bench.current, openaiEmbeddings, async (peer) => {
      await peer.writePieces([
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
        body.slice(0, 20),
        body.slice(20),
      ]);
    });
    const exchange = seen.attempts[0]?.exchanges[0];
    expect([...seen.events.kinds]).toEqual([eventKinds.whole]);
    const facts = omniFacts({ endpoint: openaiEmbeddings.traits, percentileMetrics: ['e2el'] });
    const { distributions, run } = summarize([requestOf({}, { ...seen, index: 0 })], facts);
    expect(distributions.e2el.mean).toBeCloseTo((exchange?.endMs ?? 0) - (exchange?.sendMs ?? 0), 6);
    expect(exchange?.endMs).toBeGreaterThan(exchange?.headersMs ?? Number.POSITIVE_INFINITY);
    expect(distributions.ttft.count).toBe(0);
    expect(run.total_output_tokens).toBe(0);
  });
});

describe('how many vectors or scores a reply must hold', () => {
  const ask = async (endpoint: Endpoint, sample: Partial<Sample>, reply: unknown, extraBody = {}) => {
    const play = (peer: { write(bytes: Buffer): void }) => peer.write(bytesOf(json(reply)));
    const { seen } = await runOne(bench.current, endpoint, play, { sample, target: { extraBody } });
    return seen.outcome;
  };
  const vector = { embedding: [1] };
  const score = { relevance_score: 0.5 };
  const documents = { prompt: ['query', 'one', 'two', 'three'] };

  it.each([
    [openaiEmbeddings, { prompt: ['a', 'b', 'c'] }, { data: [vector, vector] }, {}, '2 of the 3'],
    [openaiEmbeddings, {}, { data: [vector] }, { input: ['x', 'y'] }, '1 of the 2'],
    [vllmPooling, { prompt: ['a', 'b'] }, { data: [{ data: [[1], [2]] }] }, {}, '1 of the 2'],
    [vllmRerank, documents, { results: [score, score] }, {}, '2 of the 3'],
    [vllmRerank, documents, { results: [score] }, { top_n: 2 }, '1 of the 2'],
  ] as const)('%o for %j fails with too few: %j', async (endpoint, sample, reply, extra, said) => {
    expect(await ask(endpoint, sample, reply, extra)).toMatchObject({
      ok: false,
      kind: 'malformed',
      message: `the reply holds ${said} vectors or scores asked for`,
      body: JSON.stringify(reply),
    });
  });

  it.each([
    [vllmRerank, documents, { results: [score, score] }, { top_n: 2 }],
    [vllmRerank, documents, { results: [score, score, score] }, { top_n: 9 }],
    [openaiEmbeddings, {}, { data: [vector] }, { input: [1, 2, 3] }],
    [openaiEmbeddings, {}, { data: [vector, vector] }, { input: [[1], [2]] }],
    [openaiEmbeddings, {}, { data: [{ embedding: 'AACAPw==' }] }, {}],
    [vllmPooling, {}, { data: [{ data: [[0.5], [1]] }] }, {}],
    [vllmPooling, {}, { data: [{ data: 0 }] }, {}],
    [infinityEmbeddings, {}, { data: [vector] }, {}],
  ] as const)('%o for %j is complete with %j', async (endpoint, sample, reply, extra) => {
    expect(await ask(endpoint, sample, reply, extra)).toEqual({ ok: true });
  });
});

describe('vectors as bytes', () => {
  const raw = (metadata: string | null, body: Buffer) =>
    runOne(bench.current, openaiEmbeddings, (peer) =>
      peer.write(
        Buffer.concat([
          Buffer.from(
            `HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n${metadata === null ? '' : `metadata: ${metadata}\r\n`}Content-Length: ${body.length}\r\n\r\n`,
          ),
          body,
        ]),
      ),
    );

  it('have their usage in a header', async () => {
    const { seen } = await raw('{"usage":{"prompt_tokens":77}}', Buffer.alloc(64));
    expect(seen).toMatchObject({ outcome: { ok: true }, promptTokens: 77 });
  });

  it.each([
    [
      '[{"index":0,"start":0,"end":64},{"index":1,"start":64,"end":128}]',
      'describes 128 bytes of vectors, 64',
    ],
    ['[]', 'holds 0 of the 1'],
  ])('with the description %s are incomplete', async (data, said) => {
    const { outcome } = (await raw(`{"data":${data}}`, Buffer.alloc(64))).seen;
    expect(outcome).toMatchObject({ ok: false, kind: 'malformed', message: expect.stringContaining(said) });
  });

  it.each([
    ['{"error":{"message":"no"}}', { ok: false, kind: 'stream_error', message: 'no' }],
    ['{"detail":"no"}', { ok: false, kind: 'empty' }],
    [JSON.stringify(vectors), { ok: true }],
  ])('are JSON after all where it is %s', async (body, outcome) => {
    expect((await raw(null, Buffer.from(body))).seen.outcome).toMatchObject(outcome);
  });

  it('count without one, too', async () => {
    for (const metadata of [null, 'no json'])
      expect((await raw(metadata, Buffer.alloc(64))).seen).toMatchObject({
        outcome: { ok: true },
        promptTokens: null,
      });
    expect((await raw(null, Buffer.alloc(0))).seen.outcome).toMatchObject({ ok: false, kind: 'empty' });
  });
});

describe('samples that do not fit', () => {
  const prepare = (endpoint: Endpoint, changes: Partial<Sample>) => () =>
    endpoint.prepare({ ...exampleSample, ...changes }, exampleTarget('http://x/'));
  it.each([
    [openaiEmbeddings, { media: [image] }, /sends text only/],
    [vllmPooling, { media: [image] }, /sends text only/],
    [vllmRerank, {}, /random-rerank/],
    [vllmRerank, { prompt: ['only a query'] }, /random-rerank/],
    [infinityEmbeddings, { prompt: '' }, /one medium/],
    [infinityEmbeddings, { prompt: '', media: [image, image] }, /one medium/],
  ] as const)('%o with %j', (endpoint, changes, message) => {
    expect(prepare(endpoint, changes)).toThrow(message);
  });

  it('every second picture of VLM2Vec comes with a question', () => {
    const content = (requestId: string | null) => {
      const { body } = openaiEmbeddingsVlm2vec.prepare(
        { ...exampleSample, media: [image], requestId },
        exampleTarget('http://x/'),
      );
      return JSON.parse(Buffer.from(body).toString()).messages[0].content[1].text;
    };
    expect(content('bench-12')).toBe('Represent the given image.');
    expect(content('bench-13')).toBe('Represent the given image with the following question: Say hé');
    expect(content(null)).toBe('Represent the given image.');
  });
});
