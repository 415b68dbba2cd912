import { describe, expect, test } from 'vitest';
import type { Sample } from '../workloads/sample.ts';
import { exampleTarget } from './endpoint.suite.ts';
import { endpoints } from './registry.ts';

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
});
