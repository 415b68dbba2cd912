import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import {
  aliveTest,
  type BadInput,
  badInputServers,
  fileUrl,
  form,
  mostBodyMb,
  png,
  refusalTests,
  text,
  zipBomb,
} from './bad-input.suite.ts';

/** Images and edits, and bodies that are too large. */

const servers = badInputServers('edit', 'image', 'text');

const cases: readonly BadInput[] = [
  ['a picture of nothing', 'image', '/v1/images/generations', () => ({}), 400, /prompt/],
  [
    'a size without x',
    'image',
    '/v1/images/generations',
    () => ({ prompt: 'a', size: '1024' }),
    400,
    /WIDTHxHEIGHT/,
  ],
  [
    'a size of 0',
    'image',
    '/v1/images/generations',
    () => ({ prompt: 'a', size: '0x10' }),
    400,
    /WIDTHxHEIGHT/,
  ],
  [
    'an absurd size',
    'image',
    '/v1/images/generations',
    () => ({ prompt: 'a', size: '99999x99999' }),
    400,
    /more than/,
  ],
  ['eleven pictures', 'image', '/v1/images/generations', () => ({ prompt: 'a', n: 11 }), 400, /n/],
  [
    'pictures by URL',
    'image',
    '/v1/images/generations',
    () => ({ prompt: 'a', response_format: 'url' }),
    400,
    /response_format/,
  ],
  [
    'a picture as GIF',
    'image',
    '/v1/images/generations',
    () => ({ prompt: 'a', output_format: 'gif' }),
    400,
    /output_format/,
  ],
  [
    'no step',
    'image',
    '/v1/images/generations',
    () => ({ prompt: 'a', num_inference_steps: 0 }),
    400,
    /num_inference_steps/,
  ],
  [
    'too much guidance',
    'image',
    '/v1/images/generations',
    () => ({ prompt: 'a', guidance_scale: 21 }),
    400,
    /guidance_scale/,
  ],
  [
    'an unknown system prompt',
    'image',
    '/v1/images/generations',
    () => ({ prompt: 'a', use_system_prompt: 'x' }),
    400,
    /use_system_prompt/,
  ],
  [
    'pictures of a text model',
    'text',
    '/v1/images/generations',
    () => ({ prompt: 'a' }),
    503,
    /no diffusion stage/,
  ],
  [
    'an edit of nothing',
    'edit',
    '/v1/images/edits',
    () => form({ prompt: 'a' }),
    400,
    /'image' or 'url' is required/,
  ],
  ['an edit without prompt', 'edit', '/v1/images/edits', () => form({ image: png() }), 400, /prompt/],
  [
    'an edit of a text',
    'edit',
    '/v1/images/edits',
    () => form({ prompt: 'a', image: text() }),
    400,
    /not an image/,
  ],
  [
    'an edit of a drawing program',
    'edit',
    '/v1/images/edits',
    () =>
      form({
        prompt: 'a',
        image: text('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>', 'image/svg+xml'),
      }),
    400,
    /image/,
  ],
  [
    'an edit of a giant image',
    'edit',
    '/v1/images/edits',
    () => form({ prompt: 'a', image: new Blob([zipBomb()]) }),
    400,
    /60000x60000/,
  ],
  [
    'an edit, streamed, of a single stage',
    'edit',
    '/v1/images/edits',
    () => form({ prompt: 'a', image: png(), stream: 'true' }),
    400,
    /single stage/,
  ],
  [
    'an edit with a file too many',
    'edit',
    '/v1/images/edits',
    () => form({ prompt: 'a', image: png(), other: png() }),
    400,
    /"other"/,
  ],
  [
    'steps that are a word',
    'edit',
    '/v1/images/edits',
    () => form({ prompt: 'a', image: png(), num_inference_steps: 'many' }),
    400,
    /num_inference_steps/,
  ],
  [
    'bad JSON in a field',
    'edit',
    '/v1/images/edits',
    () => form({ prompt: 'a', image: png(), lora: '{"a":' }),
    400,
    /lora.*not valid JSON/,
  ],
  [
    'compression of 101',
    'edit',
    '/v1/images/edits',
    () => form({ prompt: 'a', image: png(), output_compression: '101' }),
    400,
    /output_compression/,
  ],
  [
    'an edit by a URL outside',
    'edit',
    '/v1/images/edits',
    () => form({ prompt: 'a', url: fileUrl(servers.outside, 'secret.png') }),
    400,
    /cannot be read/,
  ],
  ['an edit that is a text', 'edit', '/v1/images/edits', () => 'prompt=a', 400, /JSON/],
];

refusalTests(servers, cases);

describe('too large', () => {
  const over = mostBodyMb * 1024 * 1024 + 1;

  test.each(['application/json', 'multipart/form-data; boundary=b'])(
    'is refused at once where it is announced, as %s',
    async (type) => {
      const answer = await new Promise<string>((resolve, reject) => {
        const socket = connect(servers.of('edit').port, '127.0.0.1', () =>
          socket.write(
            `POST /v1/images/edits HTTP/1.1\r\nhost: x\r\ncontent-type: ${type}\r\ncontent-length: ${over}\r\n\r\n`,
          ),
        );
        socket.once('data', (bytes) => {
          resolve(bytes.toString());
          socket.destroy();
        });
        socket.on('error', reject);
      });
      expect(answer).toMatch(/^HTTP\/1\.1 413 /);
      expect(answer).toContain('"code":413');
    },
  );

  test.each([
    ['JSON', 'application/json', '{"prompt":"'],
    [
      'a form',
      'multipart/form-data; boundary=b',
      '--b\r\ncontent-disposition: form-data; name="image"; filename="x.png"\r\ncontent-type: image/png\r\n\r\n',
    ],
  ])('%s without an announced length is cut off', async (_what, type, head) => {
    const outcome = await new Promise<{ status: number | null; sentBytes: number }>((resolve) => {
      let sentBytes = 0;
      const request = httpRequest(`${servers.of('edit').url}/v1/images/edits`, {
        method: 'POST',
        headers: { 'content-type': type },
      });
      const piece = Buffer.alloc(64 * 1024, 'a');
      const send = (): void => {
        if (request.destroyed || sentBytes > 20 * over) return;
        sentBytes += piece.length;
        if (request.write(piece)) setImmediate(send);
        else request.once('drain', send);
      };
      request.on('response', (response) => {
        resolve({ status: response.statusCode ?? null, sentBytes });
        request.destroy();
      });
      request.on('error', () => resolve({ status: null, sentBytes }));
      request.write(head);
      send();
    });
    // Either the refusal is read, or the connection is gone before it could be.
    expect([413, null]).toContain(outcome.status);
    expect(outcome.sentBytes).toBeLessThan(8 * over);
  });
});

aliveTest(servers);
