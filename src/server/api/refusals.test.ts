import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorBodySchema } from '../../protocol/error-body.ts';
import { post, type TestServer, testServer } from './wire.suite.ts';

let server: TestServer;
let textServer: TestServer;
beforeAll(async () => {
  server = await testServer();
  textServer = await testServer({
    model: 'Qwen/Qwen2.5-7B-Instruct',
    stageOverrides: null,
    timeScale: 0.001,
  });
});
afterAll(async () => {
  await server.close();
  await textServer.close();
});

const messages = [{ role: 'user', content: 'hello' }];
const part = (value: unknown): unknown => ({ messages: [{ role: 'user', content: [value] }] });

describe('chat refuses', () => {
  test.each<[string, unknown, number, string | null, RegExp]>([
    ['bad JSON', '{"messages":', 400, null, /not valid JSON/],
    ['an array', '[]', 400, null, /JSON object/],
    ['a text', '"hello"', 400, null, /JSON object/],
    ['no messages', {}, 400, 'messages', /messages/],
    ['empty messages', { messages: [] }, 400, 'messages', /messages/],
    ['messages that are a text', { messages: 'hello' }, 400, 'messages', /expected array/],
    ['a message without a role', { messages: [{ content: 'x' }] }, 400, 'messages.0.role', /role/],
    [
      'content of a wrong type',
      { messages: [{ role: 'user', content: 5 }] },
      400,
      'messages.0.content',
      /content/,
    ],
    ['a part without its text', part({ type: 'text' }), 400, 'messages.0.content.0.text', /text/],
    ['an unknown part', part({ type: 'smell', smell: 'x' }), 400, 'messages.0.content.0.type', /type/],
    [
      'a file of the server',
      part({ type: 'image_url', image_url: { url: 'file:///etc/passwd' } }),
      400,
      'messages.0.content.0.image_url.url',
      /no local files/,
    ],
    ['another model', { messages, model: 'gpt-4' }, 404, 'model', /The model `gpt-4` does not exist/],
    ['a model that is no text', { messages, model: 5 }, 400, 'model', /model/],
    ['modalities that are a text', { messages, modalities: 'audio' }, 400, 'modalities', /modalities/],
    ['modalities of numbers', { messages, modalities: [1] }, 400, 'modalities.0', /modalities/],
    ['no modality', { messages, modalities: [] }, 400, 'modalities', /modalities/],
    [
      'a modality that it has not',
      { messages, modalities: ['text', 'video'] },
      400,
      'modalities',
      /Unsupported modalities: video.*Supported.*text, audio/,
    ],
    [
      'an audio format',
      { messages, audio: { format: 'midi' } },
      400,
      'audio.format',
      /"midi".*supported.*wav, pcm/,
    ],
    ['max_tokens 0', { messages, max_tokens: 0 }, 400, 'max_tokens', /max_tokens/],
    ['max_tokens as a text', { messages, max_tokens: '12' }, 400, 'max_tokens', /max_tokens/],
    [
      'more tokens than the model holds',
      { messages, max_tokens: 65536 },
      400,
      'max_tokens',
      /maximum context length is 65536/,
    ],
    ['too many choices', { messages, n: 129 }, 400, 'n', /n must be at most 128/],
    ['temperature below 0', { messages, temperature: -1 }, 400, 'temperature', /temperature/],
    ['top_p above 1', { messages, top_p: 1.5 }, 400, 'top_p', /top_p/],
    ['stream as a text', { messages, stream: 'yes please' }, 400, 'stream', /stream/],
    ['extra_body as a text', { messages, extra_body: 'x' }, 400, 'extra_body', /extra_body/],
    [
      'sampling for more stages than there are',
      { messages, sampling_params_list: [{}, {}, {}, {}] },
      400,
      'sampling_params_list',
      /4 entries.*3 stages/,
    ],
  ])('%s', async (_what, body, status, param, message) => {
    const response = await post(`${server.url}/v1/chat/completions`, body, { 'x-request-id': 'refused' });
    expect(response.status).toBe(status);
    expect(response.headers.get('x-request-id')).toBe('refused');
    const { error } = errorBodySchema.parse(await response.json());
    expect(error.code).toBe(status);
    expect(error.type).toBe(status === 404 ? 'NotFoundError' : 'BadRequestError');
    expect(error.param).toBe(param);
    expect(error.message).toMatch(message);
    const lines = server.truth().filter(({ id }) => id === 'refused');
    expect(lines.slice(-2).map(({ event }) => event)).toEqual(['accepted', 'error']);
  });

  test('media where the model takes text only', async () => {
    const body = part({ type: 'image_url', image_url: { url: 'data:,' } });
    const response = await post(`${textServer.url}/v1/chat/completions`, body);
    expect(response.status).toBe(400);
    expect(errorBodySchema.parse(await response.json()).error.message).toMatch(/takes text only/);
  });

  test('speech where the model only writes', async () => {
    const response = await post(`${textServer.url}/v1/chat/completions`, { messages, modalities: ['audio'] });
    expect(response.status).toBe(400);
  });
});

describe('completions refuse', () => {
  test.each<[string, unknown, number, string | null]>([
    ['no prompt', {}, 400, 'prompt'],
    ['no prompt in its list', { prompt: [] }, 400, 'prompt'],
    ['best_of', { prompt: 'a', best_of: 3 }, 400, 'best_of'],
    ['echo', { prompt: 'a', echo: true }, 400, 'echo'],
    ['another model', { prompt: 'a', model: 'x/y' }, 404, 'model'],
    ['more tokens than the model holds', { prompt: 'a', max_tokens: 70000 }, 400, 'max_tokens'],
  ])('%s', async (_what, body, status, param) => {
    const response = await post(`${server.url}/v1/completions`, body);
    expect(response.status).toBe(status);
    expect(errorBodySchema.parse(await response.json()).error).toMatchObject({ code: status, param });
  });
});

describe('the server', () => {
  test('answers an unknown route with the same form of error', async () => {
    const response = await post(`${server.url}/v1/nothing`, {});
    expect(response.status).toBe(404);
    expect(errorBodySchema.parse(await response.json()).error.type).toBe('NotFoundError');
  });

  test('takes JSON that does not say so', async () => {
    const response = await new Promise<{ status: number | undefined; text: string }>((resolve, reject) => {
      const request = httpRequest(`${server.url}/v1/completions`, { method: 'POST' }, (reply) => {
        let text = '';
        reply.on('data', (bytes: Buffer) => {
          text += bytes.toString();
        });
        reply.on('end', () => resolve({ status: reply.statusCode, text }));
      });
      request.on('error', reject);
      request.end(JSON.stringify({ prompt: 'a b', max_tokens: 2 }));
    });
    expect(response.status).toBe(200);
    expect(JSON.parse(response.text).usage.completion_tokens).toBe(2);
  });

  test('refuses at once a body that is announced larger than the limit', async () => {
    const reply = await new Promise<string>((resolve, reject) => {
      const socket = connect(server.port, '127.0.0.1', () => {
        socket.write(
          'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n' +
            'content-length: 9999999999\r\n\r\n{',
        );
      });
      socket.once('data', (bytes) => {
        resolve(bytes.toString());
        socket.destroy();
      });
      socket.on('error', reject);
    });
    expect(reply).toMatch(/^HTTP\/1\.1 413 /);
    expect(reply).toContain('"code":413');
  });

  test('is alive after all that', async () => {
    const response = await fetch(`${server.url}/health`);
    expect(response.status).toBe(200);
    expect(await response.text()).toBe('');
    expect(server.stats().requests).toBe(0);
  });
});
