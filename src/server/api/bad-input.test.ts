import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { crc32, deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorBodySchema } from '../../protocol/error-body.ts';
import { onePixelPng, post, shortWav, type TestServer, testServer } from './wire.suite.ts';

/** Every malformed request is answered with the right status and a body that clients can read, and hurts nobody. */

const models = {
  omni: 'Qwen/Qwen3-Omni-30B-A3B-Instruct',
  text: 'Qwen/Qwen2.5-7B-Instruct',
  tts: 'Qwen/Qwen3-TTS-12Hz-1.7B-CustomVoice',
  image: 'Qwen/Qwen-Image',
  edit: 'Qwen/Qwen-Image-Edit',
  video: 'BestWishYsh/Helios-Distilled',
  embed: 'Qwen/Qwen3-Embedding-0.6B',
  asr: 'openai/whisper-small',
  minicpm: 'openbmb/MiniCPM-o-4_5',
};
type ServerName = keyof typeof models;

const mostBodyMb = 8;
let root: string;
let outside: string;
const servers = new Map<ServerName, TestServer>();

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'omnimeter-media-'));
  root = join(folder, 'allowed');
  outside = join(folder, 'allowed-not');
  mkdirSync(join(root, 'inner'), { recursive: true });
  mkdirSync(outside);
  const png = Buffer.from(onePixelPng, 'base64');
  writeFileSync(join(root, 'one.png'), png);
  writeFileSync(join(root, 'inner', 'two.png'), png);
  writeFileSync(join(outside, 'secret.png'), png);
  symlinkSync(join(outside, 'secret.png'), join(root, 'link.png'));
  symlinkSync(outside, join(root, 'folder-link'));
  symlinkSync(join(root, 'inner', 'two.png'), join(root, 'good-link.png'));
  for (const name of Object.keys(models) as ServerName[]) {
    const options = name === 'omni' ? {} : { stageOverrides: null };
    servers.set(
      name,
      await testServer({
        model: models[name],
        timeScale: 0.002,
        allowedLocalMediaPath: root,
        maxBodyMb: mostBodyMb,
        ...options,
      }),
    );
  }
});
afterAll(async () => {
  for (const server of servers.values()) await server.close();
  rmSync(join(root, '..'), { recursive: true });
});

function serverOf(name: ServerName): TestServer {
  const server = servers.get(name);
  if (server === undefined) throw new Error(`no server ${name}`);
  return server;
}

function form(fields: Record<string, string | Blob | readonly (string | Blob)[]>): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    for (const item of Array.isArray(value) ? value : [value]) data.append(name, item);
  }
  return data;
}

const png = (): Blob => new Blob([Buffer.from(onePixelPng, 'base64')], { type: 'image/png' });
const wav = (): Blob => new Blob([Buffer.from(shortWav, 'base64')], { type: 'audio/wav' });
const text = (content = 'hello', type = 'text/plain'): Blob => new Blob([content], { type });

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(data.length, 0);
  body.copy(whole, 4);
  whole.writeUInt32BE(crc32(body), body.length + 4);
  return whole;
}

/** A giant picture in a few kilobytes. */
function zipBomb(sidePx = 60_000): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(sidePx, 0);
  head.writeUInt32BE(sidePx, 4);
  head.writeUInt8(8, 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(Buffer.alloc(8_000_000))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const image = (url: string): unknown => ({
  messages: [
    {
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url } },
        { type: 'text', text: 'x' },
      ],
    },
  ],
});
const part = (value: unknown): unknown => ({ messages: [{ role: 'user', content: [value] }] });
const messages = [{ role: 'user', content: 'hello' }];
const fileUrl = (...path: string[]): string => pathToFileURL(join(...path)).href;
const bomb = (): string => `data:image/png;base64,${zipBomb().toString('base64')}`;

type Case = readonly [
  what: string,
  server: ServerName,
  path: string,
  body: () => unknown,
  status: number,
  message: RegExp,
];

const chat = '/v1/chat/completions';
const cases: readonly Case[] = [
  ['a response without input', 'omni', '/v1/responses', () => ({ model: null }), 400, /input/],
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
  ['a call of nothing', 'omni', chat, () => ({ messages, tool_choice: 'required' }), 400, /needs a function/],
  ['a choice that is none', 'omni', chat, () => ({ messages, tool_choice: 7 }), 400, /tool_choice must be/],
  ['no JSON', 'omni', chat, () => '{"messages":', 400, /not valid JSON/],
  ['no body', 'omni', chat, () => '', 400, /JSON/],
  ['a number', 'omni', chat, () => '5', 400, /JSON object/],
  ['null', 'omni', chat, () => 'null', 400, /JSON object/],
  ['no messages', 'omni', chat, () => ({}), 400, /messages/],
  ['messages of a wrong type', 'omni', chat, () => ({ messages: 5 }), 400, /messages/],
  [
    'a message without content',
    'omni',
    chat,
    () => ({ messages: [...messages, { role: 'user' }] }),
    400,
    /messages\.1\.content: expected a text/,
  ],
  [
    'a message of no content',
    'omni',
    chat,
    () => ({ messages: [{ role: 'system', content: null }] }),
    400,
    /messages\.0\.content/,
  ],
  [
    'an assistant that neither spoke nor called',
    'omni',
    chat,
    () => ({ messages: [...messages, { role: 'assistant', content: null, tool_calls: [] }] }),
    400,
    /messages\.1\.content/,
  ],
  [
    'a result of a tool without content',
    'omni',
    chat,
    () => ({ messages: [...messages, { role: 'tool', tool_call_id: 'x' }] }),
    400,
    /messages\.1\.content/,
  ],
  [
    'a speaker that there is not',
    'omni',
    chat,
    () => ({ messages: [{ role: 'foo', content: 'hello' }] }),
    400,
    /messages\.0\.role: "foo" is none of developer, system, user, assistant, tool, function/,
  ],
  [
    'a speaker that is a number',
    'omni',
    chat,
    () => ({ messages: [{ role: 1, content: 'a' }] }),
    400,
    /role/,
  ],
  ['an unknown model', 'omni', chat, () => ({ messages, model: 'nobody/nothing' }), 404, /does not exist/],
  [
    'an unsupported modality',
    'omni',
    chat,
    () => ({ messages, modalities: ['video'] }),
    400,
    /Unsupported modalities/,
  ],
  [
    'text of an image model alone',
    'image',
    chat,
    () => ({ messages, modalities: ['text'] }),
    400,
    /modalities/,
  ],
  ['stream as a text', 'omni', chat, () => ({ messages, stream: 'maybe' }), 400, /stream/],
  ['tools that are no list', 'omni', chat, () => ({ messages, tools: 'all' }), 400, /tools/],
  ['n of 0', 'omni', chat, () => ({ messages, n: 0 }), 400, /n/],
  [
    'too many stages',
    'omni',
    chat,
    () => ({ messages, sampling_params_list: [{}, {}, {}, {}] }),
    400,
    /4 entries/,
  ],
  ['extra_body as a text', 'omni', chat, () => ({ messages, extra_body: 'x' }), 400, /extra_body/],
  ['chat of a speech model', 'tts', chat, () => ({ messages }), 400, /does not support chat/],
  ['media of a text model', 'text', chat, () => image('data:,x'), 400, /takes text only/],
  ['an image that is a text', 'omni', chat, () => image('data:text/plain,hello'), 400, /not an image/],
  ['bad base64 of an image', 'omni', chat, () => image('data:image/png;base64,%%%'), 400, /base64/],
  ['a data: URL without data', 'omni', chat, () => image('data:image/png;base64'), 400, /comma/],
  ['another scheme', 'omni', chat, () => image('ftp://x/y.png'), 400, /must be a data:/],
  [
    'an image that is gone',
    'omni',
    chat,
    () => image('http://127.0.0.1:1/x.png'),
    400,
    /could not be fetched/,
  ],
  ['a giant image in a small file', 'omni', chat, () => image(bomb()), 400, /60000x60000/],
  [
    'bad base64 of audio',
    'omni',
    chat,
    () => part({ type: 'input_audio', input_audio: { data: '***' } }),
    400,
    /base64/,
  ],
  [
    'audio that is a picture',
    'omni',
    chat,
    () => part({ type: 'input_audio', input_audio: { data: onePixelPng } }),
    400,
    /not a sound/,
  ],
  [
    'a video that is a text',
    'omni',
    chat,
    () => part({ type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAAA' } }),
    400,
    /not a sound or video/,
  ],
  ['a file of the system', 'omni', chat, () => image('file:///etc/passwd'), 400, /cannot be read/],
  ['a file outside', 'omni', chat, () => image(fileUrl(outside, 'secret.png')), 400, /cannot be read/],
  [
    'a way out with dots',
    'omni',
    chat,
    () => image(`file://${root}/../allowed-not/secret.png`),
    400,
    /cannot be read/,
  ],
  [
    'a way out with dots that are encoded',
    'omni',
    chat,
    () => image(`file://${root}/%2e%2e/allowed-not/secret.png`),
    400,
    /cannot be read/,
  ],
  [
    'an encoded slash',
    'omni',
    chat,
    () => image(`file://${root}/..%2Fallowed-not%2Fsecret.png`),
    400,
    /file/,
  ],
  ['a link that leads out', 'omni', chat, () => image(fileUrl(root, 'link.png')), 400, /cannot be read/],
  [
    'a folder that leads out',
    'omni',
    chat,
    () => image(fileUrl(root, 'folder-link', 'secret.png')),
    400,
    /cannot be read/,
  ],
  ['a folder', 'omni', chat, () => image(fileUrl(root, 'inner')), 400, /cannot be read/],
  ['a file of another host', 'omni', chat, () => image('file://elsewhere/x.png'), 400, /file/],
  ['a file that is not there', 'omni', chat, () => image(fileUrl(root, 'none.png')), 400, /cannot be read/],
  [
    'too many images',
    'minicpm',
    chat,
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
  [
    'an empty chat of an image model',
    'image',
    chat,
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
  ['speech of nothing', 'tts', '/v1/audio/speech', () => ({}), 400, /input/],
  ['speech of an empty text', 'tts', '/v1/audio/speech', () => ({ input: '' }), 400, /input/],
  [
    'speech of an omni model',
    'omni',
    '/v1/audio/speech',
    () => ({ input: 'a' }),
    400,
    /"modalities": \["audio"\]/,
  ],
  [
    'an unknown voice',
    'tts',
    '/v1/audio/speech',
    () => ({ input: 'a', voice: 'nobody' }),
    400,
    /Voices: aiden/,
  ],
  [
    'an unknown speech format',
    'tts',
    '/v1/audio/speech',
    () => ({ input: 'a', response_format: 'midi' }),
    400,
    /response_format/,
  ],
  ['speech too fast', 'tts', '/v1/audio/speech', () => ({ input: 'a', speed: 5 }), 400, /speed/],
  [
    'MP3, streamed',
    'tts',
    '/v1/audio/speech',
    () => ({ input: 'a', stream: true, response_format: 'mp3' }),
    400,
    /cannot be streamed/,
  ],
  [
    'fast speech, streamed',
    'tts',
    '/v1/audio/speech',
    () => ({ input: 'a', stream: true, speed: 2 }),
    400,
    /speed must be 1/,
  ],
  [
    'an unknown language',
    'tts',
    '/v1/audio/speech',
    () => ({ input: 'a', language: 'Klingon' }),
    400,
    /language/,
  ],
  [
    'a voice to clone that is missing',
    'tts',
    '/v1/audio/speech',
    () => ({ input: 'a', task_type: 'Base' }),
    400,
    /ref_audio/,
  ],
  [
    'a voice to clone that is a text',
    'tts',
    '/v1/audio/speech',
    () => ({ input: 'a', ref_audio: 'data:,x' }),
    400,
    /not a sound/,
  ],
  [
    'a voice to clone outside',
    'tts',
    '/v1/audio/speech',
    () => ({ input: 'a', ref_audio: 'file:///etc/passwd' }),
    400,
    /cannot be read/,
  ],
  [
    'speech of another model',
    'tts',
    '/v1/audio/speech',
    () => ({ input: 'a', model: 'x' }),
    404,
    /does not exist/,
  ],
  [
    'a voice without its sample',
    'tts',
    '/v1/audio/voices',
    () => form({ name: 'x', consent: 'y' }),
    400,
    /audio_sample/,
  ],
  [
    'a voice without consent',
    'tts',
    '/v1/audio/voices',
    () => form({ name: 'x', audio_sample: wav() }),
    400,
    /consent/,
  ],
  [
    'a voice with a path for a name',
    'tts',
    '/v1/audio/voices',
    () => form({ name: '../x', consent: 'y', audio_sample: wav() }),
    400,
    /name/,
  ],
  [
    'a voice that is a picture',
    'tts',
    '/v1/audio/voices',
    () => form({ name: 'x', consent: 'y', audio_sample: png() }),
    400,
    /not a sound/,
  ],
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
    () => form({ prompt: 'a', url: fileUrl(outside, 'secret.png') }),
    400,
    /cannot be read/,
  ],
  ['an edit that is a text', 'edit', '/v1/images/edits', () => 'prompt=a', 400, /JSON/],
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
  ['vectors of nothing', 'embed', '/v1/embeddings', () => ({ input: [] }), 400, /input/],
  ['vectors of an empty text', 'embed', '/v1/embeddings', () => ({ input: '' }), 400, /input/],
  [
    'vectors in another form',
    'embed',
    '/v1/embeddings',
    () => ({ input: 'a', encoding_format: 'hex' }),
    400,
    /encoding_format/,
  ],
  [
    'vectors too long',
    'embed',
    '/v1/embeddings',
    () => ({ input: 'a', dimensions: 9999 }),
    400,
    /dimensions/,
  ],
  [
    'vectors of a text model',
    'text',
    '/v1/embeddings',
    () => ({ input: 'a' }),
    400,
    /does not support embeddings/,
  ],
  [
    'vectors of a message without content',
    'embed',
    '/v1/embeddings',
    () => ({ messages: [{ role: 'user' }] }),
    400,
    /messages\.0\.content/,
  ],
  [
    'vectors of a speaker that there is not',
    'embed',
    '/v1/embeddings',
    () => ({ messages: [{ role: 'foo', content: 'a' }] }),
    400,
    /messages\.0\.role/,
  ],
  ['pooling of nothing', 'embed', '/pooling', () => ({}), 400, /input/],
  [
    'a rerank without documents',
    'embed',
    '/v1/rerank',
    () => ({ query: 'a', documents: [] }),
    400,
    /documents/,
  ],
  ['a rerank without a query', 'embed', '/v1/rerank', () => ({ documents: ['a'] }), 400, /query/],
  [
    'a score of unlike lists',
    'embed',
    '/v1/score',
    () => ({ text_1: ['a', 'b'], text_2: ['c'] }),
    400,
    /text_1/,
  ],
  [
    'a transcription of nothing',
    'asr',
    '/v1/audio/transcriptions',
    () => form({ model: 'whisper-small' }),
    400,
    /'file' is required/,
  ],
  [
    'a transcription of a text',
    'asr',
    '/v1/audio/transcriptions',
    () => form({ file: text() }),
    400,
    /not a sound/,
  ],
  [
    'a transcription as YAML',
    'asr',
    '/v1/audio/transcriptions',
    () => form({ file: wav(), response_format: 'yaml' }),
    400,
    /response_format/,
  ],
  [
    'streamed subtitles',
    'asr',
    '/v1/audio/transcriptions',
    () => form({ file: wav(), response_format: 'srt', stream: 'true' }),
    400,
    /json can be streamed/,
  ],
  [
    'a translation of another model',
    'asr',
    '/v1/audio/translations',
    () => form({ file: wav(), model: 'x' }),
    404,
    /does not exist/,
  ],
  [
    'a transcription by an image model',
    'image',
    '/v1/audio/transcriptions',
    () => form({ file: wav() }),
    400,
    /does not support/,
  ],
  ['an unknown route', 'omni', '/v1/nothing', () => ({}), 404, /No route/],
];

describe('refused', () => {
  test.each(cases)('%s', async (_what, name, path, body, status, message) => {
    const server = serverOf(name);
    const sent = body();
    const response =
      sent instanceof FormData
        ? await fetch(server.url + path, { method: 'POST', body: sent })
        : await post(server.url + path, sent);
    const { error } = errorBodySchema.parse(await response.json());
    expect(error.message).toMatch(message);
    expect({ status: response.status, code: error.code }).toEqual({ status, code: status });
  });

  test.each([
    ['GET', 'video', '/v1/videos/none', 404],
    ['GET', 'video', '/v1/videos/none/content', 404],
    ['DELETE', 'video', '/v1/videos/none', 404],
    ['GET', 'video', '/v1/videos?limit=0', 400],
    ['GET', 'video', '/v1/videos?limit=x', 400],
    ['GET', 'video', '/v1/videos?order=up', 400],
    ['GET', 'video', '/v1/videos?after=none', 404],
    ['GET', 'omni', '/v1/models/none', 404],
    ['GET', 'omni', '/v1/audio/voices', 400],
    ['PUT', 'omni', '/v1/chat/completions', 405],
    ['GET', 'omni', '/%E0%A4%A', 400],
  ] as const)('%s of %s %s', async (method, name, path, status) => {
    const response = await fetch(serverOf(name).url + path, { method });
    expect(response.status).toBe(status);
    expect(errorBodySchema.parse(await response.json()).error.code).toBe(status);
  });

  test('a voice that is not there, in the words of its route', async () => {
    const response = await fetch(`${serverOf('tts').url}/v1/audio/voices/x`, { method: 'DELETE' });
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ success: false, error: "Voice 'x' not found" });
  });

  test.each([
    ['without a boundary', 'multipart/form-data', 'x'],
    [
      'cut off',
      'multipart/form-data; boundary=b',
      '--b\r\ncontent-disposition: form-data; name="prompt"\r\n\r\na',
    ],
    ['of nothing', 'multipart/form-data; boundary=b', ''],
  ])('a form %s', async (_what, type, body) => {
    const response = await fetch(`${serverOf('video').url}/v1/videos`, {
      method: 'POST',
      headers: { 'content-type': type },
      body,
    });
    expect(response.status).toBe(400);
    errorBodySchema.parse(await response.json());
  });
});

describe('too large', () => {
  const over = mostBodyMb * 1024 * 1024 + 1;

  test.each(['application/json', 'multipart/form-data; boundary=b'])(
    'is refused at once where it is announced, as %s',
    async (type) => {
      const answer = await new Promise<string>((resolve, reject) => {
        const socket = connect(serverOf('edit').port, '127.0.0.1', () =>
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
      const request = httpRequest(`${serverOf('edit').url}/v1/images/edits`, {
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

  test('an image as base64 beyond the limit of media', async () => {
    const huge = `data:image/png;base64,${Buffer.alloc(5.9 * 1024 * 1024).toString('base64')}`;
    const response = await post(serverOf('omni').url + chat, image(huge));
    expect(response.status).toBe(400);
  });
});

describe('allowed', () => {
  test.each(['one.png', 'inner/two.png', 'good-link.png'])('a file inside: %s', async (name) => {
    const response = await post(serverOf('omni').url + chat, {
      ...Object(image(fileUrl(root, name))),
      max_tokens: 2,
      modalities: ['text'],
    });
    expect(response.status).toBe(200);
  });

  test.each([
    ['a call in place of words', { content: null }],
    ['a call, and nothing of words', {}],
    ['a call, and an empty text', { content: '' }],
  ])('an assistant with %s', async (_what, said) => {
    const call = { id: 'call_1', type: 'function', function: { name: 'time', arguments: '{}' } };
    const response = await post(serverOf('omni').url + chat, {
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

  test('64 images where that is the limit', async () => {
    const content = Array.from({ length: 64 }, () => ({
      type: 'image_url',
      image_url: { url: `data:image/png;base64,${onePixelPng}` },
    }));
    const response = await post(serverOf('minicpm').url + chat, {
      messages: [{ role: 'user', content }],
      max_tokens: 2,
      modalities: ['text'],
    });
    expect(response.status).toBe(200);
  });
});

test('every server is alive and idle after all that', async () => {
  for (const server of servers.values()) {
    const response = await fetch(`${server.url}/health`);
    expect(response.status).toBe(200);
    expect(server.stats().requests).toBe(0);
  }
});
