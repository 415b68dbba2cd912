import { afterAll, beforeAll, expect, test } from 'vitest';
import { completionResponseSchema } from '../../protocol/completions.ts';
import { countWords, eventsOf, post, type TestServer, testServer } from './wire.suite.ts';

let server: TestServer;
beforeAll(async () => {
  server = await testServer({ model: 'Qwen/Qwen2.5-7B-Instruct', stageOverrides: null, timeScale: 0.01 });
});
afterAll(() => server.close());

function complete(body: Record<string, unknown>, headers: Record<string, string> = {}): Promise<Response> {
  return post(`${server.url}/v1/completions`, { prompt: 'a b c', ...body }, headers);
}

test('streams one event per token, with usage as asked', async () => {
  const response = await complete(
    {
      stream: true,
      max_tokens: 5,
      logprobs: 3,
      stream_options: { include_usage: true, continuous_usage_stats: true },
    },
    { 'x-request-id': 'streamed' },
  );
  const events = await eventsOf(response);
  expect(events.at(-1)).toBe('[DONE]');
  const chunks = events.slice(0, -1).map((event) => completionResponseSchema.parse(JSON.parse(event)));
  for (const chunk of chunks)
    expect(chunk).toMatchObject({ id: 'cmpl-streamed', model: 'Qwen/Qwen2.5-7B-Instruct' });
  expect(chunks.map(({ usage }) => usage?.completion_tokens)).toEqual([1, 2, 3, 4, 5, 5]);
  expect(chunks.map(({ choices }) => choices[0]?.finish_reason ?? null)).toEqual([
    null,
    null,
    null,
    null,
    'length',
    null,
  ]);
  expect(chunks.at(-1)?.choices).toEqual([]);
  expect(countWords(chunks.map(({ choices }) => choices[0]?.text ?? '').join(''))).toBe(5);
  const lines = server.truth().filter(({ id }) => id === 'streamed');
  expect(lines.map(({ event }) => event)).toEqual([
    'accepted',
    'headers',
    'text',
    'text',
    'text',
    'text',
    'text',
    'usage',
    'done',
  ]);
});

test('sends no usage that was not asked for', async () => {
  const events = await eventsOf(await complete({ stream: true, max_tokens: 3 }));
  expect(events).toHaveLength(4);
  for (const event of events) expect(event).not.toContain('usage');
});

test.each([
  ['a text', 'a b c', 3],
  ['a list of one text', ['a b'], 2],
  ['token ids', [1, 2, 3, 4], 4],
  ['a list of token ids', [[1, 2, 3, 4, 5]], 5],
])('takes %s as prompt', async (_what, prompt, tokens) => {
  const body = completionResponseSchema.parse(await (await complete({ prompt })).json());
  // Without a limit a completion has sixteen tokens.
  expect(body.usage).toEqual({ prompt_tokens: tokens, completion_tokens: 16, total_tokens: tokens + 16 });
  expect(body.choices[0]).toMatchObject({
    index: 0,
    logprobs: null,
    finish_reason: 'length',
    stop_reason: null,
  });
  expect(countWords(body.choices[0]?.text ?? '')).toBe(16);
});
