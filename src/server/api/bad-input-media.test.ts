import { describe, expect, test } from 'vitest';
import {
  aliveTest,
  type BadInput,
  badInputServers,
  chatPath,
  fileUrl,
  image,
  refusalTests,
  zipBomb,
} from './bad-input.suite.ts';
import { onePixelPng, post } from './wire.suite.ts';

/** Pictures, sounds, videos and files in chats that are not to be taken, and those that are. */

const servers = badInputServers('minicpm', 'omni', 'text');

const bomb = (): string => `data:image/png;base64,${zipBomb().toString('base64')}`;
const part = (value: unknown): unknown => ({ messages: [{ role: 'user', content: [value] }] });

const cases: readonly BadInput[] = [
  ['media of a text model', 'text', chatPath, () => image('data:,x'), 400, /takes text only/],
  ['an image that is a text', 'omni', chatPath, () => image('data:text/plain,hello'), 400, /not an image/],
  ['bad base64 of an image', 'omni', chatPath, () => image('data:image/png;base64,%%%'), 400, /base64/],
  ['a data: URL without data', 'omni', chatPath, () => image('data:image/png;base64'), 400, /comma/],
  ['another scheme', 'omni', chatPath, () => image('ftp://x/y.png'), 400, /must be a data:/],
  [
    'an image that is gone',
    'omni',
    chatPath,
    () => image('http://127.0.0.1:1/x.png'),
    400,
    /could not be fetched/,
  ],
  ['a giant image in a small file', 'omni', chatPath, () => image(bomb()), 400, /60000x60000/],
  [
    'bad base64 of audio',
    'omni',
    chatPath,
    () => part({ type: 'input_audio', input_audio: { data: '***' } }),
    400,
    /base64/,
  ],
  [
    'audio that is a picture',
    'omni',
    chatPath,
    () => part({ type: 'input_audio', input_audio: { data: onePixelPng } }),
    400,
    /not a sound/,
  ],
  [
    'a video that is a text',
    'omni',
    chatPath,
    () => part({ type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAAA' } }),
    400,
    /not a sound or video/,
  ],
  ['a file of the system', 'omni', chatPath, () => image('file:///etc/passwd'), 400, /cannot be read/],
  [
    'a file outside',
    'omni',
    chatPath,
    () => image(fileUrl(servers.outside, 'secret.png')),
    400,
    /cannot be read/,
  ],
  [
    'a way out with dots',
    'omni',
    chatPath,
    () => image(`file://${servers.allowed}/../allowed-not/secret.png`),
    400,
    /cannot be read/,
  ],
  [
    'a way out with dots that are encoded',
    'omni',
    chatPath,
    () => image(`file://${servers.allowed}/%2e%2e/allowed-not/secret.png`),
    400,
    /cannot be read/,
  ],
  [
    'an encoded slash',
    'omni',
    chatPath,
    () => image(`file://${servers.allowed}/..%2Fallowed-not%2Fsecret.png`),
    400,
    /file/,
  ],
  [
    'a link that leads out',
    'omni',
    chatPath,
    () => image(fileUrl(servers.allowed, 'link.png')),
    400,
    /cannot be read/,
  ],
  [
    'a folder that leads out',
    'omni',
    chatPath,
    () => image(fileUrl(servers.allowed, 'folder-link', 'secret.png')),
    400,
    /cannot be read/,
  ],
  ['a folder', 'omni', chatPath, () => image(fileUrl(servers.allowed, 'inner')), 400, /cannot be read/],
  ['a file of another host', 'omni', chatPath, () => image('file://elsewhere/x.png'), 400, /file/],
  [
    'a file that is not there',
    'omni',
    chatPath,
    () => image(fileUrl(servers.allowed, 'none.png')),
    400,
    /cannot be read/,
  ],
  [
    'too many images',
    'minicpm',
    chatPath,
    () => ({
      messages: [
        {
          role: 'user',
          content: Array.from({ length: 65 }, () => ({
            type: 'image_url',
            image_url: { url: `data:image/png;base64,${onePixelPng}` },
          })),
        },
      ],
    }),
    400,
    /At most 64 image/,
  ],
];

refusalTests(servers, cases);

describe('refused', () => {
  test('an image as base64 beyond the limit of media', async () => {
    const huge = `data:image/png;base64,${Buffer.alloc(5.9 * 1024 * 1024).toString('base64')}`;
    const response = await post(servers.of('omni').url + chatPath, image(huge));
    expect(response.status).toBe(400);
  });
});

describe('allowed', () => {
  test.each(['one.png', 'inner/two.png', 'good-link.png'])('a file inside: %s', async (name) => {
    const response = await post(servers.of('omni').url + chatPath, {
      ...Object(image(fileUrl(servers.allowed, name))),
      max_tokens: 2,
      modalities: ['text'],
    });
    expect(response.status).toBe(200);
  });

  test('64 images where that is the limit', async () => {
    const content = Array.from({ length: 64 }, () => ({
      type: 'image_url',
      image_url: { url: `data:image/png;base64,${onePixelPng}` },
    }));
    const response = await post(servers.of('minicpm').url + chatPath, {
      messages: [{ role: 'user', content }],
      max_tokens: 2,
      modalities: ['text'],
    });
    expect(response.status).toBe(200);
  });
});

aliveTest(servers);
