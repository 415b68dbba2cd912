import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drawImage } from '../media/draw-image.ts';
import { customAudio } from './custom-audio.ts';
import { customImage } from './custom-image.ts';
import type { DatasetOptions, LoadContext } from './dataset.ts';
import { testContext } from './load-context.suite.ts';

let folder: string;
let png: Buffer;
const wav = readFileSync(new URL('../media/__fixtures__/tone-8k-stereo.wav', import.meta.url));
const mp3 = readFileSync(new URL('../media/__fixtures__/tone-24k-mono.mp3', import.meta.url));
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'omnimeter-custom-media-'));
  png = await drawImage({ widthPx: 9, heightPx: 7, seed: 1, format: 'png', quality: 80 });
  writeFileSync(join(folder, 'a.png'), png);
  writeFileSync(join(folder, 'tone.wav'), wav);
  writeFileSync(join(folder, 'tone.mp3'), mp3);
  writeFileSync(join(folder, 'page.png'), '<html>404</html>');
});
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
function contextOf(
  rows: readonly object[],
  options: Partial<DatasetOptions> = {},
  more: Partial<LoadContext> = {},
) {
  files += 1;
  const path = join(folder, `${files}.jsonl`);
  writeFileSync(path, rows.map((row) => JSON.stringify(row)).join('\n'));
  return testContext(
    { name: 'custom_x', path, disableShuffle: true, ...options },
    { numPrompts: 0, ...more },
  );
}

const fileUrl = (name: string) => pathToFileURL(join(folder, name)).href;
const dataUrl = (mime: string, bytes: Buffer) => `data:${mime};base64,${bytes.toString('base64')}`;
const imagePart = (url: string) => ({ type: 'image_url', image_url: { url } });
const audioPart = (url: string) => ({ type: 'audio_url', audio_url: { url } });
/** As it goes over the wire. */
const onWire = (value: unknown) => JSON.parse(JSON.stringify(value));

describe('custom_image', () => {
  test('puts images after the prompt, in order, for the server to fetch', async () => {
    const rows = [
      { prompt: 'what is this', image_files: ['a.png', 'https://h/b.jpg', 'file:///c.png', '/d e.png'] },
      { prompt: 'nothing', image_files: [] },
    ];
    const samples = await customImage.load(contextOf(rows, { customOutputLen: 7 }));
    expect(samples).toEqual([
      {
        prompt: 'what is this',
        promptTokens: 4,
        expectedOutputTokens: 7,
        media: [
          imagePart(fileUrl('a.png')),
          imagePart('https://h/b.jpg'),
          imagePart('file:///c.png'),
          imagePart('file:///d%20e.png'),
        ],
        requestId: 'bench-0',
      },
      { prompt: 'nothing', promptTokens: 2, expectedOutputTokens: 7, media: [], requestId: 'bench-1' },
    ]);
  });

  test('keeps the order of a row’s own parts', async () => {
    const content = [
      { type: 'text', text: 'first' },
      { type: 'image', image: 'a.png' },
      { type: 'text', text: 'then' },
      { type: 'image_url', image_url: { url: 'https://h/b.jpg' } },
      { type: 'image_url', image_url: 'data:image/png;base64,AA==' },
    ];
    const [sample] = await customImage.load(contextOf([{ content }]));
    expect(sample).toMatchObject({
      prompt: 'first\nthen',
      media: [],
      chatMessages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'first' },
            imagePart(fileUrl('a.png')),
            { type: 'text', text: 'then' },
            imagePart('https://h/b.jpg'),
            imagePart('data:image/png;base64,AA=='),
          ],
        },
      ],
    });
  });

  test('loads images here with --custom-ensure-client-side-data, each once', async () => {
    let asked = 0;
    const server = createServer((_, response) => {
      asked += 1;
      response.end(png);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const web = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`;
    const given = dataUrl('image/gif', Buffer.from('GIF89a'));
    const rows = [
      { prompt: 'p', image_files: ['a.png', web, given] },
      { prompt: 'q', image_files: [web] },
    ];
    const samples = await customImage.load(contextOf(rows, { ensureClientSideData: true }));
    server.close();
    const inline = imagePart(dataUrl('image/png', png));
    expect(samples.map(({ media }) => onWire(media))).toEqual([[inline, inline, imagePart(given)], [inline]]);
    expect(asked).toBe(1);
  });

  test.each<[string, object, RegExp]>([
    ['no prompt', { image_files: [] }, /:1: "prompt" is missing, expected text/],
    ['no images', { prompt: 'p' }, /:1: "image_files" is missing, expected a list/],
    ['an image that is none', { prompt: 'p', image_files: [3] }, /"image_files\[0\]" is 3/],
    ['a part of another kind', { content: [{ type: 'video' }] }, /"content\[0\]\.type" is "video"/],
    ['content that is no list', { content: 'p' }, /"content" is "p", expected a list of parts/],
  ])('refuses %s', async (_, row, message) => {
    await expect(customImage.load(contextOf([row]))).rejects.toThrow(message);
  });

  test.each([
    ['absent.png', /absent\.png cannot be loaded \(ENOENT/],
    ['page.png', /page\.png is no image by its first bytes \(not known\)/],
    ['tone.wav', /tone\.wav is no image by its first bytes \(audio\/wav\)/],
  ])('%s stops the run, or is left out and counted', async (name, message) => {
    const rows = [
      { prompt: 'p', image_files: [name] },
      { prompt: 'q', image_files: ['a.png'] },
    ];
    await expect(customImage.load(contextOf(rows, { ensureClientSideData: true }))).rejects.toThrow(message);
    const context = contextOf(rows, { ensureClientSideData: true, skipInvalid: true });
    expect((await customImage.load(context)).map(({ prompt }) => prompt)).toEqual(['q']);
    expect(context.notes).toEqual([expect.stringMatching(/1 of 2 rows were left out.*/)]);
    expect(context.notes[0]).toMatch(message);
  });

  test('each row’s output_tokens with --custom-output-len -1', async () => {
    const row = { prompt: 'p', image_files: [] };
    const context = contextOf([{ ...row, output_tokens: 5 }], { customOutputLen: -1 });
    expect((await customImage.load(context))[0]?.expectedOutputTokens).toBe(5);
    await expect(customImage.load(contextOf([row], { customOutputLen: -1 }))).rejects.toThrow(
      /"output_tokens"/,
    );
    await expect(customImage.load(contextOf([row], { customOutputLen: 0 }))).rejects.toThrow(
      /--custom-output-len is 0/,
    );
  });
});

describe('custom_audio', () => {
  test('gives the file itself to endpoints for recordings, and its length', async () => {
    const samples = await customAudio.load(
      contextOf([{ audio: 'tone.wav' }, { audio: 'tone.mp3', prompt: 'say' }]),
    );
    expect(onWire(samples)).toMatchObject([
      {
        prompt: '',
        promptTokens: 0,
        media: [audioPart(dataUrl('audio/wav', wav))],
        inputAudioDurationS: 0.5,
      },
      {
        prompt: 'say',
        promptTokens: 2,
        media: [audioPart(dataUrl('audio/mpeg', mp3))],
        bodyOverrides: { prompt: 'say' },
      },
    ]);
    expect(samples[0]).not.toHaveProperty('bodyOverrides');
    // The fixture's own length, whatever silence the MP3 frames put around it.
    expect(samples[1]?.inputAudioDurationS).toBeCloseTo(1.25, 1);
  });

  test('leaves it to a chat server to fetch the file', async () => {
    const rows = [
      { audio: 'tone.wav', prompt: 'say' },
      { audio: 'https://h/b.wav' },
      { audio: '/on/the/server.wav' },
    ];
    const [file, web, remote] = await customAudio.load(contextOf(rows, {}, { chatEndpoint: true }));
    expect(file).toMatchObject({ media: [audioPart(fileUrl('tone.wav'))], inputAudioDurationS: 0.5 });
    // The text is a part of the message.
    expect(file).not.toHaveProperty('bodyOverrides');
    // Without a prompt there is no text part.
    expect(web?.chatMessages).toEqual([{ role: 'user', content: [audioPart('https://h/b.wav')] }]);
    expect(web).not.toHaveProperty('inputAudioDurationS');
    expect(remote).not.toHaveProperty('inputAudioDurationS');
  });

  test('makes whole messages where it is asked to', async () => {
    const options = { enableMultimodalChat: true, ensureClientSideData: true };
    const [sample] = await customAudio.load(contextOf([{ audio: 'tone.wav', prompt: 'say' }], options));
    expect(onWire(sample)).toMatchObject({
      media: [],
      chatMessages: [
        { role: 'user', content: [{ type: 'text', text: 'say' }, audioPart(dataUrl('audio/wav', wav))] },
      ],
    });
  });

  test.each<[string, object, RegExp]>([
    ['no recording', { prompt: 'p' }, /:1: "audio" is missing, expected a path or URL/],
    ['an image', { audio: 'a.png' }, /a\.png is no audio by its first bytes \(image\/png\)/],
    ['a prompt that is no text', { audio: 'tone.wav', prompt: 1 }, /"prompt" is 1/],
  ])('refuses %s', async (_, row, message) => {
    await expect(customAudio.load(contextOf([row]))).rejects.toThrow(message);
  });
});
