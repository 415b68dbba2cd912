import { describe, expect, test } from 'vitest';
import {
  aliveTest,
  type BadInput,
  badInputServers,
  chatPath,
  messages,
  refusalTests,
  statusTests,
} from './bad-input.suite.ts';
import { post } from './wire.suite.ts';

/** Chats, completions and responses that are malformed; media in chats have a file of their own. */

const servers = badInputServers('image', 'omni', 'text', 'tts');

const cases: readonly BadInput[] = [
  ['a response without input', 'omni', '/v1/responses', () => ({ model: null }), 400, /input/],
  [
    'a response to an unknown role',
    'omni',
    '/v1/responses',
    () => ({ instructions: 'Be brief.', input: [{ role: 'foo', content: 'x' }] }),
    400,
    /^input\.0\.role/,
  ],
  [
    'a response to a turn without content',
    'omni',
    '/v1/responses',
    () => ({ input: [{ role: 'user', content: 'x' }, { role: 'user' }] }),
    400,
    /^input\.1\.content/,
  ],
  [
    'a response to an unknown part',
    'omni',
    '/v1/responses',
    () => ({ input: [{ role: 'user', content: [{ type: 'smell', smell: 'x' }] }] }),
    400,
    /input/,
  ],
  [
    'a response after another',
    'omni',
    '/v1/responses',
    () => ({ input: 'a', previous_response_id: 'x' }),
    404,
    /nothing is stored/,
  ],
  [
    'a response that is a call',
    'omni',
    '/v1/responses',
    () => ({ input: 'a', tool_choice: 'required' }),
    400,
    /calls no tools/,
  ],
  ['a response later', 'omni', '/v1/responses', () => ({ input: 'a', background: true }), 400, /background/],
  [
    'a response without room',
    'omni',
    '/v1/responses',
    () => ({ input: 'a', max_output_tokens: 0 }),
    400,
    /max_output_tokens/,
  ],
  [
    'a call of nothing',
    'omni',
    chatPath,
    () => ({ messages, tool_choice: 'required' }),
    400,
    /needs a function/,
  ],
  [
    'a choice that is none',
    'omni',
    chatPath,
    () => ({ messages, tool_choice: 7 }),
    400,
    /tool_choice must be/,
  ],
  ['no JSON', 'omni', chatPath, () => '{"messages":', 400, /not valid JSON/],
  ['no body', 'omni', chatPath, () => '', 400, /JSON/],
  ['a number', 'omni', chatPath, () => '5', 400, /JSON object/],
  ['null', 'omni', chatPath, () => 'null', 400, /JSON object/],
  ['no messages', 'omni', chatPath, () => ({}), 400, /messages/],
  ['messages of a wrong type', 'omni', chatPath, () => ({ messages: 5 }), 400, /messages/],
  [
    'a message without content',
    'omni',
    chatPath,
    () => ({ messages: [...messages, { role: 'user' }] }),
    400,
    /messages\.1\.content: expected a text/,
  ],
  [
    'a message of no content',
    'omni',
    chatPath,
    () => ({ messages: [{ role: 'system', content: null }] }),
    400,
    /messages\.0\.content/,
  ],
  [
    'an assistant that neither spoke nor called',
    'omni',
    chatPath,
    () => ({ messages: [...messages, { role: 'assistant', content: null, tool_calls: [] }] }),
    400,
    /messages\.1\.content/,
  ],
  [
    'a result of a tool without content',
    'omni',
    chatPath,
    () => ({ messages: [...messages, { role: 'tool', tool_call_id: 'x' }] }),
    400,
    /messages\.1\.content/,
  ],
  [
    'a speaker that there is not',
    'omni',
    chatPath,
    () => ({ messages: [{ role: 'foo', content: 'hello' }] }),
    400,
    /messages\.0\.role: "foo" is none of developer, system, user, assistant, tool, function/,
  ],
  [
    'a speaker that is a number',
    'omni',
    chatPath,
    () => ({ messages: [{ role: 1, content: 'a' }] }),
    400,
    /role/,
  ],
  [
    'an unknown model',
    'omni',
    chatPath,
    () => ({ messages, model: 'nobody/nothing' }),
    404,
    /does not exist/,
  ],
  [
    'an unsupported modality',
    'omni',
    chatPath,
    () => ({ messages, modalities: ['video'] }),
    400,
    /Unsupported modalities/,
  ],
  [
    'text of an image model alone',
    'image',
    chatPath,
    () => ({ messages, modalities: ['text'] }),
    400,
    /modalities/,
  ],
  ['stream as a text', 'omni', chatPath, () => ({ messages, stream: 'maybe' }), 400, /stream/],
  ['tools that are no list', 'omni', chatPath, () => ({ messages, tools: 'all' }), 400, /tools/],
  ['n of 0', 'omni', chatPath, () => ({ messages, n: 0 }), 400, /n/],
  [
    'too many stages',
    'omni',
    chatPath,
    () => ({ messages, sampling_params_list: [{}, {}, {}, {}] }),
    400,
    /4 entries/,
  ],
  ['extra_body as a text', 'omni', chatPath, () => ({ messages, extra_body: 'x' }), 400, /extra_body/],
  ['chat of a speech model', 'tts', chatPath, () => ({ messages }), 400, /does not support chat/],
  [
    'an empty chat of an image model',
    'image',
    chatPath,
    () => ({ messages: [{ role: 'user', content: ' ' }] }),
    400,
    /No text prompt/,
  ],
  ['no prompt to complete', 'text', '/v1/completions', () => ({}), 400, /prompt/],
  ['a prompt of a wrong type', 'text', '/v1/completions', () => ({ prompt: { a: 1 } }), 400, /prompt/],
  [
    'completions of an image model',
    'image',
    '/v1/completions',
    () => ({ prompt: 'a' }),
    400,
    /does not support/,
  ],
  ['an unknown route', 'omni', '/v1/nothing', () => ({}), 404, /No route/],
];

refusalTests(servers, cases);
statusTests(servers, [
  ['GET', 'omni', '/v1/models/none', 404],
  ['PUT', 'omni', '/v1/chat/completions', 405],
  ['GET', 'omni', '/%E0%A4%A', 400],
]);
describe('allowed', () => {
  test.each([
    ['a call in place of words', { content: null }],
    ['a call, and nothing of words', {}],
    ['a call, and an empty text', { content: '' }],
  ])('an assistant with %s', async (_what, said) => {
    const call = { id: 'call_1', type: 'function', function: { name: 'time', arguments: '{}' } };
    const response = await post(servers.of('omni').url + chatPath, {
      messages: [
        { role: 'developer', content: 'Be brief.' },
        ...messages,
        { role: 'assistant', tool_calls: [call], ...said },
        { role: 'tool', tool_call_id: 'call_1', content: 'noon' },
      ],
      max_tokens: 2,
      modalities: ['text'],
    });
    expect(response.status).toBe(200);
  });
});

aliveTest(servers);
