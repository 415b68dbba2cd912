import { afterEach, describe, expect, test } from 'vitest';
import { findJsonObject } from './find-json-object.ts';
import { JudgeClient, judgeUrl } from './judge-client.ts';
import { scriptedJudge } from './scripted-judge.suite.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()));
});

async function asked(
  answer: Parameters<typeof scriptedJudge>[0],
  { timeoutS = 10, baseUrl = (url: string) => url } = {},
) {
  const judge = await scriptedJudge(answer);
  const pausesMs: number[] = [];
  const said: string[] = [];
  const target = { model: 'j', apiKey: 'key-1', timeoutS, maxTokens: 77, temperature: 0 };
  const client = new JudgeClient(
    { ...target, baseUrl: baseUrl(judge.url) },
    async (ms) => {
      pausesMs.push(ms);
    },
    (line) => said.push(line),
  );
  closers.push(judge.close, () => client.close());
  const ask = () => client.ask({ system: 's', user: 'u' }, (text) => (text.startsWith('ok') ? text : null));
  return { ask, client, judge, pausesMs, said };
}

test('asks as the protocol has it', async () => {
  const { ask, judge } = await asked(() => 'ok', { baseUrl: (url) => ` ${url}/v1/ ` });
  expect(await ask()).toBe('ok');
  const [request] = judge.requests;
  expect(request?.path).toBe('/v1/chat/completions');
  expect(request?.headers.authorization).toBe('Bearer key-1');
  expect(request?.body).toEqual({
    model: 'j',
    messages: [
      { role: 'system', content: 's' },
      { role: 'user', content: 'u' },
    ],
    temperature: 0,
    stream: false,
    max_tokens: 77,
  });
});

test.each([
  ['http://j:1', 'http://j:1/v1/chat/completions'],
  ['http://j:1/v1/', 'http://j:1/v1/chat/completions'],
  ['http://j:1/api/v1', 'http://j:1/api/v1/chat/completions'],
  ['http://j:1/x/chat/completions', 'http://j:1/x/chat/completions'],
])('the address below %s', (base, url) => {
  expect(judgeUrl(base)).toBe(url);
});

test('a busy judge is asked again when it says, or ever later', async () => {
  const { ask, client, pausesMs } = await asked((_, i) =>
    i === 0
      ? { status: 429, headers: { 'retry-after': '7' } }
      : i < 3
        ? { status: 429 }
        : i === 3
          ? { status: 503, headers: { 'retry-after': '0' } }
          : 'ok late',
  );
  expect(await ask()).toBe('ok late');
  expect(pausesMs).toEqual([7000, 2000, 4000, 0]);
  expect(client.calls).toMatchObject({ requests: 5, retries: 4, refusedForLoad: 4, unreadableAnswers: 0 });
});

test('a judge that stays busy is given up, with what it said', async () => {
  const { ask, judge } = await asked(() => ({ status: 429, body: 'slow down' }));
  await expect(ask()).rejects.toThrow(/judge returned HTTP 429: slow down \(8 times; given up\)/);
  expect(judge.requests).toHaveLength(8);
});

test('a judge that asks for a year is given up at once, and its retries are not waited for', async () => {
  const { ask, client, judge, pausesMs } = await asked(() => ({
    status: 429,
    headers: { 'retry-after': '999999999' },
  }));
  await expect(ask()).rejects.toThrow(
    'judge returned HTTP 429:  (it asks to come back in 999999999 s, and a question waits 600 s at most; given up)',
  );
  expect(judge.requests).toHaveLength(1);
  expect(pausesMs).toEqual([]);
  expect(client.calls).toMatchObject({ requests: 1, retries: 0, refusedForLoad: 1 });
});

test('the pauses of a question are bounded together, and told', async () => {
  const { ask, pausesMs, said } = await asked(() => ({
    status: 503,
    headers: { 'retry-after': '250' },
    body: 'warm\ning up',
  }));
  await expect(ask()).rejects.toThrow('a question waits 600 s at most');
  expect(pausesMs).toEqual([250_000, 250_000]);
  // The second pause follows at once here, and one word is enough.
  expect(said).toEqual(['judge returned HTTP 503: warm ing up; request 2 of 8 in 250 s (1 repeated so far)']);
});

test('short pauses are not worth a word', async () => {
  const { ask, said } = await asked((_, i) => (i < 3 ? { status: 429 } : 'ok'));
  expect(await ask()).toBe('ok');
  expect(said).toEqual([]);
});

test('a Retry-After that is none is not taken for an old date', async () => {
  const { ask, pausesMs } = await asked((_, i) =>
    i < 2 ? { status: 429, headers: { 'retry-after': '-5' } } : 'ok',
  );
  await ask();
  expect(pausesMs).toEqual([1000, 2000]);
});

test('while a judge answers nobody, each further question is asked once', async () => {
  let isBack = false;
  const { ask, judge } = await asked(() => (isBack ? 'ok' : { status: 429 }));
  await expect(ask()).rejects.toThrow('8 times; given up');
  await expect(ask()).rejects.toThrow('given up at once: another question was');
  await expect(ask()).rejects.toThrow('given up at once');
  expect(judge.requests).toHaveLength(10);
  isBack = true;
  expect(await ask()).toBe('ok');
  isBack = false;
  await expect(ask()).rejects.toThrow('8 times; given up');
});

test('an error of the judge is not asked again, and shown up to 500 characters', async () => {
  const { ask, judge } = await asked(() => ({ status: 500, body: 'x'.repeat(600) }));
  await expect(ask()).rejects.toThrow(`judge returned HTTP 500: ${'x'.repeat(500)}`);
  expect(judge.requests).toHaveLength(1);
});

test('an unreadable answer is asked for again, counted, and never taken', async () => {
  const { ask, client } = await asked((_, i) =>
    i === 0 ? 'what a nice video' : i === 1 ? { status: 200, body: '<html>' } : 'ok',
  );
  expect(await ask()).toBe('ok');
  expect(client.calls).toMatchObject({ requests: 3, retries: 2, unreadableAnswers: 2 });
});

test('a judge that never answers readably is given up', async () => {
  const { ask, judge } = await asked(() => 'dunno');
  await expect(ask()).rejects.toThrow(/holds no verdict: dunno \(3 times; given up\)/);
  expect(judge.requests).toHaveLength(3);
});

test('an answer of another shape is told', async () => {
  const { ask } = await asked(() => ({ body: '{"choices":[]}' }));
  await expect(ask()).rejects.toThrow('unexpected judge response: {"choices":[]}');
});

test('a silent judge times out and is asked again', async () => {
  const { ask, client } = await asked((_, i) => (i === 0 ? 'silence' : 'ok'), { timeoutS: 0.3 });
  expect(await ask()).toBe('ok');
  expect(client.calls).toMatchObject({ requests: 2, timeouts: 1 });
});

test('a late answer within the limit counts', async () => {
  const { ask, client } = await asked(() => ({ late: new Promise((done) => setTimeout(done, 50, 'ok')) }));
  expect(await ask()).toBe('ok');
  expect(client.calls.retries).toBe(0);
});

test('a broken connection is asked again, and told in the end', async () => {
  const { ask, client } = await asked(() => 'break');
  await expect(ask()).rejects.toThrow(/^judge request failed: .*3 times; given up/);
  expect(client.calls.brokenConnections).toBe(3);
});

describe('the object in an answer', () => {
  test.each([
    ['{"a":1}', { a: 1 }],
    ['Sure! ```json\n{"a": {"b": "}"}} \n```', { a: { b: '}' } }],
    ['{not json} then {"a":2} and {"a":3}', { a: 2 }],
    ['a set {1} "quoted { brace" {"a":"\\"{"}', { a: '"{' }],
    ['no object', null],
    ['{'.repeat(100_000), null],
    ['[1,2]', null],
  ])('%.40s', (text, found) => {
    expect(findJsonObject(text)).toEqual(found);
  });
});
