import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveDefaults } from './serve-options.ts';
import { type RunningServer, startServer } from './start-server.ts';

const replies = ['{"score": 7, "reason": "sharp, but the hands are wrong"}', 'No.'];
let server: RunningServer;
beforeAll(async () => {
  server = await startServer({
    ...serveDefaults,
    model: 'Qwen/Qwen2.5-VL-7B-Instruct',
    port: 0,
    timeScale: 0.01,
    stageOverrides: { 0: { replies } },
  });
});
afterAll(() => server.close());

type Reply = {
  choices: { message: { content: string }; finish_reason: string }[];
  usage: { completion_tokens: number };
};

async function ask(fields: Record<string, unknown> = {}): Promise<Reply> {
  const response = await fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Judge this.' }], ...fields }),
  });
  return (await response.json()) as Reply;
}

test('a judge says what its script says, in turn, and counts its tokens', async () => {
  const [first, second, third] = [await ask(), await ask(), await ask()];
  expect([first, second, third].map(({ choices }) => choices[0]?.message.content)).toEqual([
    replies[0],
    replies[1],
    replies[0],
  ]);
  expect(first?.choices[0]?.finish_reason).toBe('stop');
  // "No" and the full stop.
  expect(second?.usage.completion_tokens).toBe(2);
});

test('a limit cuts the script short', async () => {
  await ask();
  const { choices, usage } = await ask({ max_tokens: 3 });
  expect(usage.completion_tokens).toBe(3);
  expect(choices[0]?.finish_reason).toBe('length');
  expect(replies[0]?.startsWith(choices[0]?.message.content ?? 'x')).toBe(true);
});
