import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { eventKinds } from '../records/event-log.ts';
import type { ContentPart } from '../workloads/sample.ts';
import { EndpointBench, exampleSample, exampleTarget } from './endpoint.suite.ts';
import { openaiAudio } from './openai-audio.ts';
import { formOf, json, replyContract, sse } from './reply.suite.ts';

const recording = {
  type: 'input_audio',
  input_audio: { data: Buffer.from('RIFF…').toString('base64'), format: 'wav' },
};
const chunk = (content: string, completion: number) => ({
  object: 'transcription.chunk',
  choices: [{ delta: { content }, finish_reason: null }],
  usage: { prompt_tokens: 4, completion_tokens: completion, total_tokens: 4 + completion },
});

async function filePartOf(
  value: string | File | undefined,
): Promise<[name: string, type: string, text: string]> {
  if (!(value instanceof File)) throw new Error('expected a file');
  return [value.name, value.type, await value.text()];
}

replyContract({
  endpoint: openaiAudio,
  sample: { media: [recording] },
  target: { extraBody: { temperature: 0.5 }, ignoreEos: true },
  good: sse([
    chunk('Hé', 1),
    chunk('llo', 3),
    { choices: [], usage: { prompt_tokens: 4, completion_tokens: 3 } },
    '[DONE]',
  ]),
  expected: { text: 'Héllo', promptTokens: 4, outputTokens: 3, outputTokensSource: 'usage' },
  hollow: [
    ['a stream without text', sse(['[DONE]']), 'empty'],
    ['an empty text', json({ text: '' }), 'empty'],
    ['an error event', sse([chunk('a', 1), { error: { message: 'no' } }]), 'stream_error'],
    ['an event that is not JSON', sse(['{"choices": [']), 'malformed'],
  ],
  request: async (request) => {
    const [[name, file] = [], ...fields] = await formOf(request);
    expect(name).toBe('file');
    expect(await filePartOf(file)).toEqual(['audio.wav', 'audio/wav', 'RIFF…']);
    expect(fields).toEqual([
      ['model', 'served'],
      ['max_completion_tokens', '7'],
      ['stream', 'true'],
      ['language', 'en'],
      ['stream_include_usage', 'true'],
      ['stream_continuous_usage_stats', 'true'],
      ['ignore_eos', 'true'],
      ['temperature', '0.5'],
    ]);
  },
});

const bench = { current: new EndpointBench() };
afterEach(async () => {
  await bench.current.close();
  bench.current = new EndpointBench();
});

const form = async (
  media: readonly ContentPart[],
  changes: Parameters<typeof exampleTarget>[1] = {},
  path = '',
) => {
  const prepared = openaiAudio.prepare(
    { ...exampleSample, media },
    exampleTarget(`http://x/${path}`, changes),
  );
  const type = prepared.headers.find(([name]) => name === 'Content-Type')?.[1] ?? '';
  return formOf({ head: `Content-Type: ${type}`, body: Buffer.from(prepared.body) });
};

describe('a transcription', () => {
  it('that was not streamed is read whole', async () => {
    const server = await bench.current.server(async (peer) => {
      await peer.request();
      const body = JSON.stringify({ text: 'all of it', usage: { type: 'duration', seconds: 3 } });
      peer.write(
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
    });
    const target = exampleTarget(`${server.url}/v1/audio/transcriptions`, { stream: false });
    const seen = await bench.current.observe(
      openaiAudio,
      'socket',
      openaiAudio.prepare({ ...exampleSample, media: [recording] }, target),
    );
    expect(seen).toMatchObject({ outcome: { ok: true }, text: 'all of it', outputTokens: null });
    expect([...seen.events.kinds]).toEqual([eventKinds.whole]);
    expect((await form([recording], { stream: false })).map(([name]) => name)).toEqual([
      'file',
      'model',
      'max_completion_tokens',
      'stream',
      'language',
    ]);
  });

  it('a translation names no language, and fields can be taken out', async () => {
    const names = (await form([recording], {}, 'v1/audio/translations')).map(([name]) => name);
    expect(names).not.toContain('language');
    const without = await form([recording], { extraBody: { language: null, stream_include_usage: null } });
    expect(without.map(([name]) => name)).not.toContain('language');
    expect(without.map(([name]) => name)).not.toContain('stream_include_usage');
  });

  it('a row’s own prompt is a field, over that of the run', async () => {
    const type = 'multipart/form-data';
    const prepared = openaiAudio.prepare(
      { ...exampleSample, media: [recording], bodyOverrides: { prompt: 'Names: Zoë' } },
      exampleTarget('http://x/', { extraBody: { prompt: 'of the run' } }),
    );
    const contentType = prepared.headers.find(([, value]) => value.startsWith(type))?.[1] ?? '';
    const fields = await formOf({
      head: `Content-Type: ${contentType}`,
      body: Buffer.from(prepared.body),
    });
    expect(fields.filter(([name]) => name === 'prompt')).toEqual([['prompt', 'Names: Zoë']]);
    expect((await form([recording])).map(([name]) => name)).not.toContain('prompt');
  });

  it('takes recordings as files, inline and as data URLs', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'omnimeter-audio-'));
    try {
      const path = join(dir, 'speech.flac');
      writeFileSync(path, 'fLaC');
      const parts: [ContentPart, [string, string, string]][] = [
        [{ type: 'audio_url', audio_url: { url: path } }, ['speech.flac', 'audio/flac', 'fLaC']],
        [
          { type: 'audio_url', audio_url: { url: 'data:audio/mpeg;base64,QUJD' } },
          ['audio.mp3', 'audio/mpeg', 'ABC'],
        ],
        [
          { type: 'input_audio', input_audio: { data: 'QUJD', format: 'mp3' } },
          ['audio.mp3', 'audio/mpeg', 'ABC'],
        ],
      ];
      for (const [part, expected] of parts)
        expect(await filePartOf((await form([part]))[0]?.[1])).toEqual(expected);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it.each([
    [[], /one recording/],
    [[recording, recording], /one recording/],
    [[{ type: 'audio_url', audio_url: { url: 'https://x/a.wav' } }], /on the web/],
    [[{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }], /part of type image_url/],
  ])('refuses %j before anything is sent', async (media, message) => {
    await expect(form(media)).rejects.toThrow(message);
  });
});
