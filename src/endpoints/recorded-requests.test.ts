import { describe, expect, test } from 'vitest';
import type { Sample } from '../workloads/sample.ts';
import { exampleTarget } from './endpoint.suite.ts';
import { endpoints } from './registry.ts';
import { formOf } from './reply.suite.ts';

const target = {
  ...exampleTarget('http://127.0.0.1:1/v1/x'),
  model: 'served',
  extraBody: { return_stage_metrics: true, temperature: 0.5 },
  ignoreEos: true,
  headers: [
    ['Authorization', 'Bearer k'],
    ['x-tenant', 'run'],
  ] as const,
};

/** A body of each API that takes JSON, with fields and values that an adapter would not choose. */
const bodies: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  openai: { prompt: 'p', max_tokens: 3, echo: true, stream: false },
  'openai-chat': { messages: [{ role: 'system', content: 's' }], n: 2 },
  'openai-chat-omni': { messages: [{ role: 'user', content: 'u' }], modalities: ['text'], stream: true },
  'openai-audio-speech': { input: 'say', voice: 'v', response_format: 'flac' },
  '/v1/images/generations': { prompt: 'a cat', n: 3, size: '64x64', model: 'other' },
  'openai-responses': { input: 'i', instructions: 'x' },
  'openai-embeddings': { input: ['a', 'b'], dimensions: 8 },
  'openai-embeddings-chat': { messages: [{ role: 'user', content: 'u' }] },
  'infinity-embeddings': { input: 'https://h/a.png', modality: 'image' },
  'vllm-pooling': { input: 'i', task: 'score' },
  'vllm-rerank': { query: 'q', documents: ['d'], top_n: 1 },
};

function sampleOf(name: string, recordedBody: Readonly<Record<string, unknown>>): Sample {
  return {
    prompt: name === 'vllm-rerank' ? ['q', 'd'] : 'text',
    promptTokens: null,
    expectedOutputTokens: 99,
    media: [],
    recordedBody,
    bodyOverrides: recordedBody,
    headers: [['X-Tenant', 'recorded']],
    requestId: 'r-1',
  };
}

describe('a recorded request', () => {
  test.each(Object.entries(bodies))('of %s goes out as it was, with the run’s model', (name, body) => {
    const endpoint = Object.entries(endpoints).find(([each]) => each === name)?.[1];
    const prepared = endpoint?.prepare(sampleOf(name, body), target);
    expect(JSON.parse(Buffer.from(prepared?.body ?? []).toString())).toEqual({ ...body, model: 'served' });
    expect(prepared?.headers).toEqual([
      ['Content-Type', 'application/json'],
      ['Authorization', 'Bearer k'],
      ['X-Tenant', 'recorded'],
      ['x-request-id', 'r-1'],
    ]);
    expect(prepared?.model).toBe('served');
    expect(prepared?.reading.stream ?? false).toBe(body.stream === true);
    expect(prepared?.notes ?? []).toEqual([]);
  });

  test('of an API that takes forms goes into its fields', () => {
    const body = {
      model: 'other',
      prompt: 'text',
      image: 'data:image/png;base64,AAAA',
      size: '64x64',
      seed: 4,
      response_format: 'b64_json',
    };
    const media = [{ type: 'image_url', image_url: { url: body.image } }];
    const prepared = endpoints['/v1/images/edits'].prepare({ ...sampleOf('', body), media }, target);
    const form = Buffer.from(prepared.body).toString('latin1');
    for (const [field, value] of Object.entries({
      model: 'served',
      prompt: 'text',
      size: '64x64',
      seed: '4',
    }))
      expect(form).toContain(`name="${field}"\r\n\r\n${value}\r\n`);
    expect(form.split('image/png').length).toBe(2);
    expect(form).not.toContain('return_stage_metrics');
    expect(prepared.notes).toEqual([]);
  });

  test.each([
    ['/v1/images/edits', 'n, user', { n: 2, user: 'u', seed: 4 }],
    ['/v1/videos', 'width', { width: 64, seed: 4 }],
  ] as const)('of %s with fields that have no place there names the trace', (name, fields, more) => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
    const sample = { ...sampleOf('', { model: 'other', prompt: 'text', ...more }), media: [image] };
    expect(endpoints[name].prepare(sample, target).notes).toEqual([
      `${name} takes no ${fields}: left out of the requests in whose recorded body the trace has it. Where it matters, replay the trace to the API that it was recorded for; else remove it from the "body" of its rows.`,
    ]);
  });

  test.each([
    ['/v1/images/generations', { n: 'two' }, /^"n" of a recorded body \(r-1\): expected a whole number/],
    ['/v1/videos', { poll_interval_s: 0 }, /^"poll_interval_s" of a recorded body \(r-1\): expected/],
    ['/v1/videos', { input_reference: 'https://h/a.png' }, /^"input_reference" of a recorded body \(r-1\)/],
  ] as const)('of %s with %j is refused by its name', (name, more, message) => {
    const sample = sampleOf('', { prompt: 'text', ...more });
    expect(() => endpoints[name].prepare(sample, target)).toThrow(message);
  });

  test('of the audio API gets no field but its own and the run’s model', async () => {
    const media = [{ type: 'audio_url', audio_url: { url: 'data:audio/wav;base64,UklGRg==' } }];
    const body = { model: 'other', file: media[0]?.audio_url.url, language: 'de', prompt: 'Namen' };
    const prepared = endpoints['openai-audio'].prepare({ ...sampleOf('', body), media }, target);
    const fields = await formOf({
      head: `Content-Type: ${prepared.headers[0]?.[1]}`,
      body: Buffer.from(prepared.body),
    });
    expect(fields.slice(1)).toEqual([
      ['model', 'served'],
      ['language', 'de'],
      ['prompt', 'Namen'],
    ]);
  });
});
