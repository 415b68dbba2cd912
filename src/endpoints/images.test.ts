import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { omniFacts, requestOf } from '../metrics/metric-records.suite.ts';
import { summarize } from '../metrics/summarize.ts';
import { eventKinds } from '../records/event-log.ts';
import { EndpointBench, exampleSample, exampleTarget, playEvents } from './endpoint.suite.ts';
import type { Endpoint, Observation } from './endpoint.ts';
import { readImages, warmUpImages } from './image-payload.ts';
import { imagesEdits, openaiImageEditsOmni } from './images-edits.ts';
import { imagesGenerations } from './images-generations.ts';
import { multipartBody } from './multipart-body.ts';
import { greyPng } from './png.suite.ts';
import { formOf, json, type PlayedReply, replyContract, runOne, sse } from './reply.suite.ts';

beforeAll(() => warmUpImages());

const png = greyPng(8, 4);
const b64 = png.toString('base64');
const imagePart = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
const hollow: [string, PlayedReply, string][] = [
  ['a list without items', json({ created: 1, data: [] }), 'empty'],
  ['no list at all', json({ created: 1 }), 'empty'],
  ['null for data', json({ data: null }), 'empty'],
  ['bad base64', json({ data: [{ b64_json: '!!!!' }] }), 'empty'],
  ['base64 of no image', json({ data: [{ b64_json: Buffer.from('hello').toString('base64') }] }), 'empty'],
  ['half an image', json({ data: [{ b64_json: png.subarray(0, 50).toString('base64') }] }), 'empty'],
  ['a URL, whose image nobody received', json({ data: [{ url: 'http://x/y.png' }] }), 'empty'],
  ['JSON that is no object', json([{ b64_json: b64 }]), 'malformed'],
  ['an error with a good status', json({ error: { message: 'out of memory' } }), 'stream_error'],
];
const expected = {
  text: '',
  outputTokens: null,
  image: { count: 1, pixels: 32, sizedCount: 1, broken: 0 },
};

replyContract({
  endpoint: imagesGenerations,
  target: {
    extraBody: { num_inference_steps: 20, seed: 42, width: 512, height: 256, num_outputs_per_prompt: 2 },
    ignoreEos: true,
  },
  good: json({ created: 1, data: [{ b64_json: b64 }] }),
  expected,
  hollow,
  request: ({ head, body }) => {
    expect(head.toLowerCase()).toContain('content-type: application/json');
    expect(body.toString()).toBe(
      JSON.stringify({
        model: 'served',
        prompt: 'Say hé',
        n: 2,
        response_format: 'b64_json',
        size: '512x256',
        num_inference_steps: 20,
        seed: 42,
      }),
    );
  },
});

for (const endpoint of [imagesEdits, openaiImageEditsOmni]) {
  replyContract({
    endpoint,
    target: {
      extraBody: {
        return_stage_metrics: true,
        seed: 7,
        bot_task: 'think',
        lora: { name: 'a', weight: 0.5 },
        layers: null,
        strength: 0.6,
      },
    },
    sample: { media: [imagePart] },
    good: json({ data: [{ b64_json: b64 }] }),
    expected,
    hollow,
    request: async (request) => {
      expect(await formOf(request)).toEqual([
        ['model', 'served'],
        ['prompt', 'Say hé'],
        ['response_format', 'b64_json'],
        ['output_format', 'png'],
        ['stream', 'false'],
        ['size', 'auto'],
        ['strength', '0.6'],
        ['seed', '7'],
        ['lora', '{"name":"a","weight":0.5}'],
        ['bot_task', 'think'],
        ['return_stage_metrics', 'true'],
        ['url', 'data:image/png;base64,AAAA'],
      ]);
    },
  });
}

const bench = { current: new EndpointBench() };
afterEach(async () => {
  await bench.current.close();
  bench.current = new EndpointBench();
});

const generate = async (reply: unknown): Promise<Observation> => {
  const bytes = Buffer.from(JSON.stringify(reply));
  return (
    await runOne(bench.current, imagesGenerations, (peer) =>
      peer.write(
        Buffer.concat([
          Buffer.from(
            `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${bytes.length}\r\n\r\n`,
          ),
          bytes,
        ]),
      ),
    )
  ).seen;
};

describe('an image reply', () => {
  it('ends after it was read, parsed and its first image decoded', async () => {
    const large = greyPng(3000, 3000);
    const seen = await generate({ data: [{ b64_json: large.toString('base64') }] });
    const bodyEndMs = seen.attempts[0]?.exchanges[0]?.endMs ?? 0;
    const [imageMs] = seen.events.timesMs;
    expect([...seen.events.kinds]).toEqual([eventKinds.image]);
    expect([...seen.events.bytes]).toEqual([large.length]);
    // Nine million pixels take some milliseconds on any machine.
    expect((imageMs ?? 0) - bodyEndMs).toBeGreaterThan(1);
    expect(seen.attempts[0]?.endMs).toBeCloseTo(imageMs ?? 0, 3);
    expect(seen.image).toMatchObject({ count: 1, pixels: 9_000_000 });
    const record = requestOf({}, { ...seen, index: 0 });
    const facts = omniFacts({
      endpoint: imagesGenerations.traits,
      endMs: imageMs ?? 0,
      percentileMetrics: ['e2el'],
    });
    const e2el = summarize([record], facts).distributions.e2el.mean ?? 0;
    expect(e2el).toBeCloseTo((imageMs ?? 0) - (seen.attempts[0]?.sendMs ?? 0), 6);
  });

  it('counts what can be read and keeps the number of what cannot', async () => {
    const seen = await generate({
      data: [
        { b64_json: 'AAAA' },
        { b64_json: b64 },
        { b64_json: greyPng(10, 10).toString('base64') },
        {},
        null,
      ],
    });
    expect(seen).toMatchObject({
      outcome: { ok: true },
      image: { count: 2, pixels: 132, sizedCount: 2, broken: 3 },
    });
  });

  it.each([
    ['lines', b64.replace(/(.{76})/g, '$1\n')],
    ['the URL-safe alphabet', png.toString('base64url')],
    ['a data URL', `data:image/png;base64,${b64}`],
  ])('reads base64 in %s', async (_, text) => {
    const seen = await generate({ data: [{ b64_json: text }] });
    expect(seen).toMatchObject({ outcome: { ok: true }, image: { count: 1, pixels: 32, broken: 0 } });
  });

  it('says whether the base64 or the image is at fault, and keeps the reply as it came', async () => {
    const noImage = Buffer.from('hello').toString('base64');
    for (const [items, said] of [
      [[b64.slice(0, -7)], ' (the base64 of 1 items is cut or broken)'],
      [
        ['!!!not base64!!!', noImage],
        ' (the base64 of 1 items is cut or broken, 1 items hold no image that decodes)',
      ],
      [[noImage], ' (1 items hold no image that decodes)'],
      [[], ''],
    ] as const) {
      const reply = { created: 7, data: items.map((text) => ({ b64_json: text })), usage: { note: 'kept' } };
      const { outcome } = await generate(reply);
      expect(outcome).toEqual({
        ok: false,
        kind: 'empty',
        status: 200,
        message: `HTTP 200 response did not contain a valid image payload${said}`,
        body: JSON.stringify(reply),
      });
    }
  });

  it('takes stages, durations and memory, and no token counts', async () => {
    const seen = await generate({
      data: [{ b64_json: b64, stage_durations: { stage_0_gen_ms: 70, queue_wait_ms: 900 } }],
      peak_memory_mb: 58_832,
      usage: { prompt_tokens: 11, completion_tokens: 4160 },
      metrics: {
        num_tokens_out: 77,
        stage_metrics: {
          '0': {
            stage_name: 'dit',
            final_output_type: 'image',
            output_unit_count: 1,
            stage_gen_time_ms: 90,
            image_pixels: 64,
            denoise_step_latency_ms: 4.5,
          },
        },
      },
    });
    expect(seen.image).toEqual({
      count: 1,
      pixels: 64,
      sizedCount: 1,
      broken: 0,
      generationMs: 90,
      denoiseStepMs: 4.5,
    });
    expect(seen).toMatchObject({ outputTokens: null, promptTokens: 11 });
    expect(seen.responses[0]).toMatchObject({ peakMemoryMb: 58_832 });
  });

  it('was made by the image stage, not by the stage that wrote before', async () => {
    const seen = await generate({
      data: [{ b64_json: b64, stage_durations: { stage_0_gen_ms: 88_400, stage_1_gen_ms: 17_179 } }],
      metrics: {
        stage_metrics: {
          '0': { stage_name: 'AR', final_output_type: 'text', stage_gen_time_ms: 88_400 },
          '1': {
            stage_name: 'dit',
            final_output_type: 'image',
            output_unit_count: 1,
            stage_gen_time_ms: 17_179,
          },
        },
      },
    });
    expect(seen.image?.generationMs).toBe(17_179);
  });

  it('has a generation time from durations at the top, too', async () => {
    const seen = await generate({
      data: [{ b64_json: b64 }],
      metrics: { stage_durations: { stage_0_gen_ms: 70 } },
    });
    expect(seen.image?.generationMs).toBe(70);
  });

  it('is not lengthened by others that are decoded at the same time', async () => {
    const item = { b64_json: greyPng(1500, 1500).toString('base64') };
    const startMs = performance.now();
    const together = await Promise.all(Array.from({ length: 12 }, () => readImages([item])));
    const tookMs = performance.now() - startMs;
    // Two decode at once. If waiting for a turn counted, the sum would be six times what two can do in that time.
    const sum = together.reduce((total, { decodeMs }) => total + decodeMs, 0);
    expect(sum).toBeLessThanOrEqual(2 * tookMs);
  });
});

describe('the size and count of generated images', () => {
  const bodyOf = (extraBody: Record<string, unknown>): Record<string, unknown> =>
    JSON.parse(
      Buffer.from(
        imagesGenerations.prepare(exampleSample, exampleTarget('http://x/', { extraBody })).body,
      ).toString(),
    );
  it.each([
    [{ n: 3, num_outputs_per_prompt: 5 }, { n: 3 }],
    [{ n: 0 }, { n: 1 }],
    [{ n: null }, { n: 1 }],
    [
      { size: '64x64', width: 1, height: 2 },
      { n: 1, size: '64x64' },
    ],
    [
      { response_format: 'url', prompt: 'other' },
      { n: 1, response_format: 'b64_json', prompt: 'Say hé' },
    ],
  ])('%j gives %j', (extra, body) => {
    const sent = bodyOf(extra);
    expect(sent).toMatchObject(body);
    for (const key of ['num_outputs_per_prompt', 'width', 'height']) expect(sent).not.toHaveProperty(key);
  });

  it.each([{ n: 'two' }, { n: -1 }, { num_outputs_per_prompt: {} }])('%j is no count', (extra) => {
    expect(() => bodyOf(extra)).toThrow(/expected a whole number of images from 1/);
  });

  it('says which fields it can’t take', () => {
    const prepared = imagesGenerations.prepare(
      exampleSample,
      exampleTarget('http://x/', { extraBody: { response_format: 'url', width: 3 } }),
    );
    expect(prepared.notes).toEqual([
      '/v1/images/generations takes no other response_format, width: left out of the request. Remove it from --extra-body.',
    ]);
  });
});

describe('image edits', () => {
  const edit = (
    play: Parameters<typeof runOne>[2],
    extraBody: Record<string, unknown> = {},
    endpoint: Endpoint = imagesEdits,
  ) => runOne(bench.current, endpoint, play, { sample: { media: [imagePart] }, target: { extraBody } });

  it('without an image are failed requests that nobody sent', async () => {
    let asked = 0;
    const { seen } = await runOne(bench.current, imagesEdits, () => {
      asked += 1;
    });
    expect(seen.outcome).toMatchObject({
      kind: 'unsendable',
      message:
        'openai-image-edits-omni requires image multimodal content. For synthetic inputs, use --dataset-name random-mm with an image bucket.',
    });
    expect(seen.attempts).toEqual([]);
    expect(asked).toBe(0);
  });

  it('say which fields have no place in the form', () => {
    const prepared = imagesEdits.prepare(
      { ...exampleSample, media: [imagePart] },
      exampleTarget('http://x/', { extraBody: { n: 2, extra_params: {}, seed: 1, width: 64, height: 64 } }),
    );
    expect(prepared.notes).toEqual([
      '/v1/images/edits takes no n, extra_params: left out of the request. Remove it from --extra-body.',
    ]);
  });

  it('send files as files, one field an image', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'omnimeter-edit-'));
    try {
      const path = join(dir, 'dög "1".png');
      writeFileSync(path, png);
      const { wire } = await runOne(bench.current, imagesEdits, (peer) => peer.end(), {
        sample: {
          media: [
            { type: 'image_url', image_url: path },
            { type: 'audio_url', audio_url: { url: 'data:audio/wav;base64,AA' } },
            { type: 'any', images: [`file://${encodeURI(path)}`, 'https://x/y'] },
          ],
        },
        target: { extraBody: { stream: true } },
      });
      const [first] = wire;
      const form = first ? await formOf(first) : [];
      expect(form.find(([name]) => name === 'stream')).toEqual(['stream', 'true']);
      const [one, two, three] = form.slice(-3);
      for (const part of [one, two]) {
        expect(part?.[0]).toBe('image');
        const file = part?.[1];
        if (!(file instanceof File)) throw new Error('expected a file');
        expect(file.type).toBe('image/png');
        expect(Buffer.from(await file.arrayBuffer()).equals(png)).toBe(true);
      }
      expect(three).toEqual(['url', 'https://x/y']);
      expect(first?.body.toString()).toContain('filename="dög %221%22.png"');
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it.each([
    [[{ type: 'image_url', image_url: { url: 'data:video/mp4;base64,AA' } }], 'a data URL of type video/mp4'],
    [[{ type: 'image_url', image_url: 7 }], 'Unsupported image edit input'],
    [[{ type: 'image_url', image_url: '/no/such/file.png' }], 'media file not found'],
  ])('refuse %j before anything is sent', (media, message) => {
    expect(() => imagesEdits.prepare({ ...exampleSample, media }, exampleTarget('http://x/'))).toThrow(
      message,
    );
  });

  it('streamed: text as it is written, then the image', async () => {
    const delta = (text: string, tokens?: number) => ({
      object: 'image.edit.chunk',
      type: 'ar_delta',
      delta: text,
      ...(tokens === undefined ? {} : { metrics: { num_tokens_out: tokens } }),
    });
    const { seen } = await edit(
      (peer) =>
        playEvents(peer, [
          delta('think'),
          delta('ing', 5),
          { type: 'image', data: [{ b64_json: b64, stage_durations: { stage_1_gen_ms: 50 } }] },
          {
            type: 'summary',
            metrics: {
              num_tokens_out: 99,
              stage_metrics: { '1': { final_output_type: 'image', output_unit_count: 1 } },
            },
          },
          '[DONE]',
        ]),
      { stream: true },
    );
    expect(seen).toMatchObject({
      outcome: { ok: true },
      text: 'thinking',
      outputTokens: 5,
      outputTokensSource: 'stage',
      image: { count: 1, pixels: 32, generationMs: 50 },
    });
    expect([...seen.events.kinds]).toEqual([
      eventKinds.text,
      eventKinds.text,
      eventKinds.image,
      eventKinds.other,
    ]);
    const record = requestOf({}, { ...seen, index: 0 });
    const { distributions } = summarize(
      [record],
      omniFacts({ endpoint: imagesEdits.traits, percentileMetrics: ['ttft'] }),
    );
    expect(distributions.ttft.count).toBe(1);
    expect(distributions.itl.count).toBe(1);
    const sendMs = seen.attempts[0]?.sendMs ?? 0;
    expect(distributions.e2el.mean).toBeCloseTo((seen.events.timesMs.at(-1) ?? 0) - sendMs, 3);
  });

  it.each([
    ['without an image', [{ type: 'ar_delta', delta: 'x' }, '[DONE]'], 'empty'],
    ['with an image message and no image', [{ type: 'image' }, '[DONE]'], 'empty'],
    [
      'that ends in an error',
      [
        { type: 'image', data: [{ b64_json: b64 }] },
        { object: 'error', error: { message: 'gone', type: 'server_error', code: 500 } },
        '[DONE]',
      ],
      'stream_error',
    ],
  ])('a stream %s is a failure', async (_, events, kind) => {
    const { seen } = await edit((peer) => playEvents(peer, events), { stream: true });
    expect(seen.outcome).toMatchObject({ ok: false, kind });
  });

  it('a server of one stage is not asked to stream', async () => {
    const { wire, seen } = await edit(async (peer, _, request) => {
      const form = await formOf(request);
      const streams = form.some(([name, value]) => name === 'stream' && value === 'true');
      const reply = streams
        ? json({ error: { message: 'stream needs several stages' } }, '400 Bad Request')
        : json({ data: [{ b64_json: b64 }] });
      const body = Buffer.from(reply.body);
      peer.write(
        `HTTP/1.1 ${reply.status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.toString()}`,
      );
    });
    expect(wire).toHaveLength(1);
    expect(seen.outcome).toEqual({ ok: true });
  });
});

describe('forms', () => {
  it('equal parts give equal bytes, and no payload holds the boundary', () => {
    const parts = [{ name: 'a', value: 'x' }];
    const { contentType, body } = multipartBody(parts);
    expect(multipartBody(parts)).toEqual({ contentType, body });
    const boundary = contentType.split('boundary=')[1] ?? '';
    const nasty = multipartBody([{ name: 'a', value: `--${boundary}--\r\n` }]);
    expect(nasty.contentType).not.toContain(boundary);
  });

  it('names cannot break out of their header', async () => {
    const { contentType, body } = multipartBody([{ name: 'a"\r\nX: y', value: '1' }]);
    const form = await new Response(new Uint8Array(body), {
      headers: { 'content-type': contentType },
    }).formData();
    expect([...form.keys()]).toEqual(['a"\r\nX: y']);
  });
});

it('an event stream where JSON was asked for is read as one', async () => {
  const { seen } = await runOne(bench.current, imagesGenerations, (peer) => {
    const { type, body } = sse([{ type: 'image', data: [{ b64_json: b64 }] }]);
    peer.write(
      `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body.toString()}`,
    );
  });
  expect(seen).toMatchObject({ outcome: { ok: true }, image: { count: 1 } });
});
