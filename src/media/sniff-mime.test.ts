import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { drawImage, imageFormats, imageMimeTypes } from './draw-image.ts';
import { drawVideo } from './draw-video.ts';
import { sniffMime } from './sniff-mime.ts';

test.each([
  ['tone-8k-stereo.wav', 'audio/wav'],
  ['tone-24k-mono.mp3', 'audio/mpeg'],
  ['tone-48k-mono.opus', 'audio/ogg'],
  ['tone-24k-mono.flac', 'audio/flac'],
  ['tone-24k-mono.aac', 'audio/aac'],
])('%s is %s', (name, mime) => {
  expect(sniffMime(readFileSync(new URL(`./__fixtures__/${name}`, import.meta.url)))).toBe(mime);
});

test.each(imageFormats)('an image made as %s is one', async (format) => {
  const bytes = await drawImage({ widthPx: 8, heightPx: 8, seed: 1, format, quality: 80 });
  expect(sniffMime(bytes)).toBe(imageMimeTypes[format]);
});

test('a video is MP4', async () => {
  const bytes = await drawVideo({ widthPx: 16, heightPx: 16, numFrames: 1, fps: 1, seed: 1, audio: null });
  expect(sniffMime(bytes)).toBe('video/mp4');
});

// First bytes as their specifications give them.
test.each([
  ['ff fb 90 64', 'audio/mpeg'],
  ['47 49 46 38 39 61', 'image/gif'],
  ['42 4d 00', 'image/bmp'],
  ['00 00 00 20 66 74 79 70 4d 34 41 20', 'audio/mp4'],
  ['1a 45 df a3 9f 42 86 81 01 42 82 84 77 65 62 6d', 'video/webm'],
  ['1a 45 df a3 93 42 82 88 6d 61 74 72 6f 73 6b 61', 'video/x-matroska'],
  ['52 49 46 46 00 00 00 00 41 56 49 20', 'video/x-msvideo'],
  ['00 00 00 00 00 00 00 00 57 41 56 45', null],
  ['3c 68 74 6d 6c 3e', null],
  ['', null],
])('%s is %s', (hex, mime) => {
  expect(sniffMime(Buffer.from(hex.replaceAll(' ', ''), 'hex'))).toBe(mime);
});

property([fc.uint8Array({ maxLength: 100 })])('no bytes make it throw', (bytes) => {
  expect([null, 'string']).toContain(sniffMime(bytes) === null ? null : 'string');
});
