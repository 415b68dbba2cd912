import { expect, test } from 'vitest';
import { errorBodySchema } from '../../protocol/error-body.ts';
import {
  aliveTest,
  type BadInput,
  badInputServers,
  form,
  png,
  refusalTests,
  statusTests,
  text,
} from './bad-input.suite.ts';
import { onePixelPng } from './wire.suite.ts';

/** Video jobs, and forms that are none. */

const servers = badInputServers('image', 'video');

const cases: readonly BadInput[] = [
  ['a video of nothing', 'video', '/v1/videos', () => form({ size: '64x64' }), 400, /prompt/],
  [
    'a video of half a second',
    'video',
    '/v1/videos',
    () => form({ prompt: 'a', seconds: '0.5' }),
    400,
    /seconds/,
  ],
  [
    'a video of 30 years',
    'video',
    '/v1/videos',
    () => ({ prompt: 'a', seconds: 1e9 }),
    400,
    /from 1 to 3600/,
  ],
  [
    'a video of more seconds than digits',
    'video',
    '/v1/videos',
    () => ({ prompt: 'a', seconds: 1e30 }),
    400,
    /from 1 to 3600/,
  ],
  [
    'a video of an hour, frame by frame',
    'video',
    '/v1/videos',
    () => form({ prompt: 'a', seconds: '3600', fps: '24' }),
    400,
    /seconds: 86400 frames.*at most 20000/,
  ],
  [
    'a video of one frame in 30 years',
    'video',
    '/v1/videos',
    () => form({ prompt: 'a', seconds: '1', fps: '1e-9' }),
    400,
    /fps: 1 frames at 1e-9 a second.*at most 3600 s/,
  ],
  [
    'a video of the usual frames, 30 years each',
    'video',
    '/v1/videos',
    () => form({ prompt: 'a', fps: '1e-9' }),
    400,
    /fps.*at most 3600 s/,
  ],
  [
    'a video of no frame',
    'video',
    '/v1/videos',
    () => form({ prompt: 'a', num_frames: '0' }),
    400,
    /num_frames/,
  ],
  [
    'a video of a million frames',
    'video',
    '/v1/videos',
    () => form({ prompt: 'a', num_frames: '1000000' }),
    400,
    /at most 20000/,
  ],
  ['a video of 0 frames a second', 'video', '/v1/videos', () => form({ prompt: 'a', fps: '0' }), 400, /fps/],
  [
    'a video of an absurd size',
    'video',
    '/v1/videos',
    () => form({ prompt: 'a', size: '99999x99999' }),
    400,
    /more than/,
  ],
  [
    'both references at once',
    'video',
    '/v1/videos',
    () =>
      form({
        prompt: 'a',
        input_reference: png(),
        image_reference: `{"image_url":"data:image/png;base64,${onePixelPng}"}`,
      }),
    400,
    /exclude each other/,
  ],
  [
    'a reference by file id',
    'video',
    '/v1/videos',
    () => form({ prompt: 'a', image_reference: '{"file_id":"x"}' }),
    400,
    /file_id is not supported/,
  ],
  [
    'a reference that is no JSON',
    'video',
    '/v1/videos',
    () => form({ prompt: 'a', image_reference: '{' }),
    400,
    /not valid JSON/,
  ],
  [
    'a reference that is a text',
    'video',
    '/v1/videos',
    () => form({ prompt: 'a', input_reference: text() }),
    400,
    /input_reference/,
  ],
  [
    'a video of an image model',
    'image',
    '/v1/videos',
    () => form({ prompt: 'a' }),
    503,
    /no diffusion stage/,
  ],
  [
    'a video of another model',
    'video',
    '/v1/videos',
    () => form({ prompt: 'a', model: 'x' }),
    404,
    /does not exist/,
  ],
  ['a synchronous video of nothing', 'video', '/v1/videos/sync', () => form({}), 400, /prompt/],
];

refusalTests(servers, cases);
statusTests(servers, [
  ['GET', 'video', '/v1/videos/none', 404],
  ['GET', 'video', '/v1/videos/none/content', 404],
  ['DELETE', 'video', '/v1/videos/none', 404],
  ['GET', 'video', '/v1/videos?limit=0', 400],
  ['GET', 'video', '/v1/videos?limit=x', 400],
  ['GET', 'video', '/v1/videos?order=up', 400],
  ['GET', 'video', '/v1/videos?after=none', 404],
]);

test.each([
  ['without a boundary', 'multipart/form-data', 'x'],
  [
    'cut off',
    'multipart/form-data; boundary=b',
    '--b\r\ncontent-disposition: form-data; name="prompt"\r\n\r\na',
  ],
  ['of nothing', 'multipart/form-data; boundary=b', ''],
])('refused: a form %s', async (_what, type, body) => {
  const response = await fetch(`${servers.of('video').url}/v1/videos`, {
    method: 'POST',
    headers: { 'content-type': type },
    body,
  });
  expect(response.status).toBe(400);
  errorBodySchema.parse(await response.json());
});

aliveTest(servers);
