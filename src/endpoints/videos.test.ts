import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { omniFacts, requestOf } from '../metrics/metric-records.suite.ts';
import { summarize } from '../metrics/summarize.ts';
import { eventKinds } from '../records/event-log.ts';
import type { Peer } from '../transport/contract/scripted-server.suite.ts';
import type { ContentPart } from '../workloads/sample.ts';
import { EndpointBench, exampleSample, exampleTarget } from './endpoint.suite.ts';
import type { Observation } from './endpoint.ts';
import { bytesOf, formOf, json, type RunOptions, replyContract, runOne } from './reply.suite.ts';
import { videos } from './videos.ts';

/** A job as a server of the family describes it when it is done: 33 frames of 24 a second. */
const done = {
  id: 'video_gen_1',
  object: 'video',
  status: 'completed',
  progress: 100,
  error: null,
  seconds: '4',
  fps: 24,
  num_frames: 33,
  duration_s: 1.375,
  inference_time_s: 5.1,
  stage_durations: { stage_0_gen_ms: 4502.59, 'HeliosPipeline.vae.decode': 0.31 },
  peak_memory_mb: 46_790,
};

replyContract({
  endpoint: videos,
  target: {
    extraBody: {
      fps: 12.5,
      seconds: 4,
      width: 640,
      height: 384,
      negative_prompt: null,
      generate_sound: false,
      extra_params: { a: [1] },
      poll_interval_s: 0.01,
      poll_timeout_s: 9,
      return_stage_metrics: true,
      control: { type: 'depth' },
    },
  },
  good: json(done),
  expected: {
    text: '',
    outputTokens: null,
    image: null,
    video: { durationS: 1.375, frames: 33, generationMs: 4502.59 },
  },
  hollow: [
    ['a job without an id', json({ status: 'completed' }), 'malformed'],
    ['JSON that is no object', json([done]), 'malformed'],
    [
      'a job that failed',
      json({ ...done, status: 'failed', error: { code: 500, message: 'no' } }),
      'job_failed',
    ],
    ['an error with a good status', json({ error: { message: 'queue full' } }), 'stream_error'],
  ],
  request: async (request) => {
    expect(await formOf(request)).toEqual([
      ['model', 'served'],
      ['prompt', 'Say hé'],
      ['size', '640x384'],
      ['seconds', '4'],
      ['fps', '12.5'],
      ['generate_sound', 'false'],
      ['extra_params', '{"a":[1]}'],
      ['return_stage_metrics', 'true'],
      ['control', '{"type":"depth"}'],
    ]);
  },
});

const bench = { current: new EndpointBench() };
afterEach(async () => {
  await bench.current.close();
  bench.current = new EndpointBench();
});

const queued = { id: 'video_gen_1', status: 'queued' };
/** Answers the creation with `created`, then polls with the given words in order, the last one again and again. */
const serving =
  (created: unknown, ...polls: readonly unknown[]) =>
  (peer: Peer, number: number): void => {
    const word = number === 1 ? created : (polls[number - 2] ?? polls.at(-1));
    peer.write(bytesOf(json(word, number === 1 ? '201 Created' : '200 OK')));
  };
const make = (play: Parameters<typeof runOne>[2], options: RunOptions = {}) =>
  runOne(bench.current, videos, play, {
    ...options,
    target: { ...options.target, extraBody: { poll_interval_s: 0.001, ...options.target?.extraBody } },
  });

describe('a video job', () => {
  it.each(['socket', 'node-http'] as const)('is created, polled and read over %s', async (transport) => {
    const { seen, wire } = await make(serving(queued, { ...queued, status: 'in_progress' }, done), {
      transport,
      target: { headers: [['Authorization', 'Bearer k']] },
    });
    expect(seen.outcome).toEqual({ ok: true });
    expect(wire.map(({ head }) => head.split(' HTTP')[0])).toEqual([
      'POST /v1/videos',
      'GET /v1/videos/video_gen_1',
      'GET /v1/videos/video_gen_1',
    ]);
    for (const { head } of wire) expect(head.toLowerCase()).toContain('authorization: bearer k');
    expect(wire[1]?.head.toLowerCase()).not.toContain('content-type');
    expect(wire[1]?.body).toHaveLength(0);
    const [attempt] = seen.attempts;
    expect(attempt?.exchanges).toHaveLength(3);
    expect([...seen.events.kinds]).toEqual([eventKinds.whole]);
    // The last word, read to its end, ends the latency.
    expect(seen.events.timesMs[0]).toBeCloseTo(attempt?.exchanges[2]?.endMs ?? 0, 3);
    expect(seen.responses[0]).toMatchObject({
      id: 'video_gen_1',
      peakMemoryMb: 46_790,
      stageDurations: { 'HeliosPipeline.vae.decode': 0.31 },
    });
  });

  it.each([
    [
      'that failed',
      serving(queued, { ...queued, status: 'failed', error: { message: 'OOM' } }),
      /^Video job failed: .*OOM/,
      'job_failed',
    ],
    [
      'without an id',
      serving({ status: 'queued' }),
      /^Video creation response missing job id\.$/,
      'malformed',
    ],
    [
      'that the server forgot',
      (peer: Peer, number: number) =>
        peer.write(
          bytesOf(number === 1 ? json(queued) : json({ error: { message: 'gone' } }, '404 Not Found')),
        ),
      /^Polling failed HTTP 404 Not Found: .*gone/,
      'http',
    ],
    [
      'whose state is no object',
      (peer: Peer, number: number) => peer.write(bytesOf(json(number === 1 ? queued : [1]))),
      /^Polling failed/,
      'malformed',
    ],
  ] as const)('%s is a failure that says so', async (_, play, message, kind) => {
    const { seen } = await make(play);
    expect(seen.outcome).toMatchObject({ ok: false, kind });
    if (!seen.outcome.ok) expect(seen.outcome.message).toMatch(message);
  });

  it('that never ends is given up after its own limit', async () => {
    const { seen } = await make(serving(queued, queued), { target: { extraBody: { poll_timeout_s: 0.4 } } });
    expect(seen.outcome).toMatchObject({
      kind: 'timeout',
      message: 'Timed out waiting for video job video_gen_1 to complete. Its last status was "queued".',
      body: JSON.stringify(queued),
    });
    expect(seen.attempts[0]?.exchanges.length).toBeGreaterThan(1);
  });

  it('survives a question that broke before its answer began, and keeps it in the record', async () => {
    const { seen } = await make((peer, number) => {
      // The transport itself sends once more on a new connection, where an idle one had died.
      if (number === 2 || number === 3) peer.reset();
      else peer.write(bytesOf(json(number === 1 ? queued : done)));
    });
    expect(seen.outcome).toEqual({ ok: true });
    expect(seen.attempts[0]?.exchanges.map(({ status }) => status)).toEqual([200, null, 200]);
  });

  it('is given up when every question breaks', async () => {
    const { seen } = await make((peer, number) => {
      if (number === 1) peer.write(bytesOf(json(queued)));
      else peer.reset();
    });
    expect(seen.outcome).toMatchObject({ kind: 'reset' });
    expect(seen.attempts[0]?.exchanges).toHaveLength(5);
  });

  it.each([
    ['cancelled', 'job_failed', /^Video job video_gen_1 ended with the status "cancelled", expected/],
    ['Expired', 'job_failed', /ended with the status "Expired"/],
    ['FAILED', 'job_failed', /^Video job failed: /],
    [7, 'job_failed', /ended with the status 7/],
    [undefined, 'malformed', /has no status/],
    [null, 'malformed', /has no status/],
    ['', 'malformed', /has no status/],
  ])('with the status %j ends at once', async (status, kind, message) => {
    const { seen, wire } = await make(serving(queued, { ...queued, status }));
    expect(seen.outcome).toMatchObject({
      ok: false,
      kind,
      status: 200,
      message: expect.stringMatching(message),
      body: JSON.stringify({ ...queued, status }),
    });
    expect(wire).toHaveLength(2);
  });

  it.each(['pending', 'Processing', 'RUNNING', 'IN_PROGRESS', 'in-progress'])(
    'goes on while %s',
    async (status) => {
      const { seen, wire } = await make(serving(queued, { ...queued, status }, done));
      expect(seen.outcome).toEqual({ ok: true });
      expect(wire).toHaveLength(3);
    },
  );

  it.each(['COMPLETED', 'succeeded', 'Succeeded'])('is done when %s', async (status) => {
    const { seen } = await make(serving(queued, { ...done, status }));
    expect(seen).toMatchObject({ outcome: { ok: true }, video: { frames: 33 } });
  });

  it('whose creation names the id alone is asked after', async () => {
    const { seen } = await make(serving({ id: 'video_gen_1' }, done));
    expect(seen.outcome).toEqual({ ok: true });
  });

  it('about which an error comes with a good status ends in that error', async () => {
    const { seen } = await make(serving(queued, { error: { message: 'job lost' } }));
    expect(seen.outcome).toMatchObject({
      kind: 'stream_error',
      message: 'Polling failed: job lost',
      body: '{"error":{"message":"job lost"}}',
    });
  });

  it('is asked after again when the server asks for patience', async () => {
    const { seen } = await make((peer, number) => {
      const reply = json(number === 1 ? queued : done);
      if (number === 2)
        peer.write('HTTP/1.1 429 Too Many Requests\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n');
      else if (number === 3) peer.write(bytesOf(json({ error: 'busy' }, '503 Service Unavailable')));
      else peer.write(bytesOf(reply));
    });
    expect(seen.outcome).toEqual({ ok: true });
    expect(seen.attempts[0]?.exchanges.map(({ status }) => status)).toEqual([200, 429, 503, 200]);
  });

  it('waits as long as it is asked to, but not longer than the job may take', async () => {
    const { seen } = await make(
      (peer, number) =>
        peer.write(
          number === 1
            ? bytesOf(json(queued))
            : 'HTTP/1.1 503 Service Unavailable\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n',
        ),
      { target: { extraBody: { poll_timeout_s: 0.5 } } },
    );
    expect(seen.outcome).toMatchObject({ ok: false, kind: 'timeout' });
    expect(seen.attempts[0]?.exchanges.length).toBeLessThanOrEqual(6);
  });

  it('is given up when the server goes on asking for patience', async () => {
    const { seen } = await make((peer, number) =>
      peer.write(bytesOf(number === 1 ? json(queued) : json({ error: 'busy' }, '503 Service Unavailable'))),
    );
    expect(seen.outcome).toMatchObject({ kind: 'http', status: 503, body: '{"error":"busy"}' });
    expect(seen.attempts[0]?.exchanges).toHaveLength(7);
  });

  it('that is not answered about is given up when its time is over', async () => {
    const { seen } = await make(
      (peer, number) => (number === 1 ? peer.write(bytesOf(json(queued))) : undefined),
      {
        target: { extraBody: { poll_timeout_s: 0.4 } },
      },
    );
    expect(seen.outcome).toMatchObject({
      kind: 'timeout',
      message: 'Timed out waiting for video job video_gen_1 to complete. Its last status was "queued".',
    });
  });

  it.each(['poll_interval_s', 'poll_timeout_s'])('%s that is no time is refused before it is sent', (key) => {
    const prepare = (value: unknown) =>
      videos.prepare(exampleSample, exampleTarget('http://x/v1/videos', { extraBody: { [key]: value } }));
    for (const value of ['soon', 0, -1, true, [2], {}, ''])
      expect(() => prepare(value), JSON.stringify(value)).toThrow(
        `--extra-body.${key}: expected a number of seconds above 0, got ${JSON.stringify(value)}.`,
      );
    expect(prepare('0.25').reading[key === 'poll_interval_s' ? 'intervalMs' : 'timeoutMs']).toBe(250);
    expect(prepare(null).reading).toMatchObject({ intervalMs: 2000, timeoutMs: 21_600_000 });
  });

  it('ends with the run', async () => {
    const { seen } = await make(
      (peer) => {
        peer.write(bytesOf(json(queued)));
        setTimeout(() => bench.current.stop.stop(), 5);
      },
      { target: { extraBody: { poll_interval_s: 60 } } },
    );
    expect(seen.outcome).toMatchObject({ kind: 'aborted' });
  });

  it('can bring its file, which must not be empty', async () => {
    const play =
      (file: string | Buffer, type = 'video/mp4') =>
      (peer: Peer, number: number) =>
        peer.write(bytesOf(number < 3 ? json(number === 1 ? queued : done) : { type, body: file }));
    const mp4 = Buffer.from('\0\0\0\x18ftypisom\0\0\x02\0isommp41', 'latin1');
    const good = await make(play(mp4), { target: { videoDownload: true } });
    expect(good.seen.outcome).toEqual({ ok: true });
    expect(good.wire[2]?.head).toMatch(/^GET \/v1\/videos\/video_gen_1\/content HTTP/);
    // The latency ended before.
    expect(good.seen.events.timesMs[0]).toBeCloseTo(good.seen.attempts[0]?.exchanges[1]?.endMs ?? 0, 3);
    const empty = await make(play(''), { target: { videoDownload: true } });
    expect(empty.seen.outcome).toMatchObject({ ok: false, kind: 'empty' });
    const webm = Buffer.from('1a45dfa39f4286810142f7810142f2810442f381084282847765626d', 'hex');
    expect((await make(play(webm, ''), { target: { videoDownload: true } })).seen.outcome).toEqual({
      ok: true,
    });
    for (const [file, type, kind, said] of [
      ['junk', 'video/mp4', 'malformed', 'the file of 4 bytes is of no known kind, expected a video'],
      ['\x89PNG\r\n\x1a\n', 'video/mp4', 'malformed', 'is image/png, expected a video'],
      ['{"error":{"message":"expired"}}', 'application/json', 'stream_error', 'expired'],
      ['{"error":{"message":"expired"}}', 'video/mp4', 'stream_error', 'expired'],
      ['{"url":"http://x/"}', 'application/json', 'content_type', 'the reply is JSON'],
    ] as const) {
      const body = Buffer.from(file, 'latin1');
      const { seen } = await make(play(body, type), { target: { videoDownload: true } });
      expect(seen.outcome).toMatchObject({ ok: false, kind });
      const message = seen.outcome.ok ? '' : seen.outcome.message;
      expect(message).toContain('Content retrieval failed: ');
      expect(message).toContain(said);
      expect(seen.video).toBeNull();
    }
    const gone = await make(
      (peer, number) =>
        peer.write(bytesOf(number < 3 ? json(number === 1 ? queued : done) : json({}, '409 Conflict'))),
      { target: { videoDownload: true } },
    );
    expect(gone.seen.outcome).toMatchObject({ ok: false, kind: 'http', status: 409 });
    expect(good.seen.video).toEqual({ durationS: 1.375, frames: 33, generationMs: 4502.59 });
    expect(gone.seen.video).toBeNull();
  });
});

/** The real-time factor that a report prints of one job. */
function rtfOf(seen: Observation): number | null {
  const facts = omniFacts({ endpoint: videos.traits, endMs: 1e9 });
  return summarize([requestOf({}, { ...seen, index: 0 })], facts).distributions.video_rtf.mean;
}

describe('the real-time factor', () => {
  it('is the same however often the job is polled', async () => {
    const often = await make(serving(queued, queued, done), {
      target: { extraBody: { poll_interval_s: 0.002 } },
    });
    const seldom = await make(serving(queued, queued, done), {
      target: { extraBody: { poll_interval_s: 0.06 } },
    });
    const latency = ({ seen }: typeof often): number =>
      (seen.events.timesMs[0] ?? 0) - (seen.attempts[0]?.sendMs ?? 0);
    expect(latency(seldom)).toBeGreaterThan(latency(often));
    expect(rtfOf(often.seen)).toBe(4502.59 / 1000 / 1.375);
    expect(rtfOf(seldom.seen)).toBe(rtfOf(often.seen));
  });

  it('is that of the latency only where the server reports no time', async () => {
    const { stage_durations: _, inference_time_s: __, ...silent } = done;
    const { seen } = await make(serving(queued, silent));
    const latencyMs = (seen.events.timesMs[0] ?? 0) - (seen.attempts[0]?.sendMs ?? 0);
    expect(rtfOf(seen)).toBeCloseTo(latencyMs / 1000 / 1.375, 6);
  });
});

describe('what is known of a video', () => {
  const { duration_s: _, num_frames: __, fps: ___, stage_durations: ____, ...bare } = done;
  it.each([
    ['its own length', { ...bare, duration_s: 2, num_frames: 48, fps: 12 }, {}, { durationS: 2, frames: 48 }],
    [
      'frames over a fractional rate',
      { ...bare, num_frames: 25, fps: 12.5 },
      {},
      { durationS: 2, frames: 25 },
    ],
    ['frames as a list', { ...bare, frames: [1, 2, 3], fps: 1.5 }, {}, { frames: 3 }],
    [
      'length times a fractional rate',
      { ...bare, duration_s: 2, fps: 12.5 },
      {},
      { durationS: 2, frames: 25 },
    ],
    ['video_frames', { ...bare, video_frames: 9 }, {}, { durationS: null, frames: 9 }],
    ['what was asked for, in seconds', bare, { seconds: 4, fps: 12.5 }, { durationS: 4, frames: 50 }],
    ['what was asked for, in frames', bare, { num_frames: 50, fps: 12.5 }, { durationS: 4, frames: 50 }],
    ['nothing', bare, {}, { durationS: null, frames: null }],
    ['the time of the engine', bare, {}, { generationMs: 5100 }],
    [
      'the longest stage',
      { ...bare, stage_durations: { stage_0_gen_ms: 5, stage_1_gen_ms: 70, other_ms: 900 } },
      {},
      { generationMs: 70 },
    ],
  ])('%s', async (_, job, extraBody, expected) => {
    const { seen } = await make(serving(queued, job), { target: { extraBody } });
    expect(seen.video).toMatchObject(expected);
  });
});

describe('references', () => {
  const dir = mkdtempSync(join(tmpdir(), 'omnimeter-video-'));
  afterAll(() => rmSync(dir, { recursive: true }));
  const local = (name: string): string => {
    const path = join(dir, name);
    writeFileSync(path, `bytes of ${name}`);
    return path;
  };
  /** Every form field that could carry a reference, in order. */
  const fields = async (
    extraBody: Record<string, unknown>,
    media: readonly ContentPart[] = [],
  ): Promise<[string, string][]> => {
    const prepared = videos.prepare({ ...exampleSample, media }, exampleTarget('http://x/', { extraBody }));
    const type = prepared.headers.find(([name]) => name === 'Content-Type')?.[1] ?? '';
    const form = await formOf({ head: `Content-Type: ${type}`, body: Buffer.from(prepared.body) });
    const found: [string, string][] = [];
    for (const [name, value] of form) {
      if (name === 'model' || name === 'prompt') continue;
      found.push([
        name,
        typeof value === 'string' ? value : `${value.name} ${value.type} ${await value.text()}`.slice(0, 80),
      ]);
    }
    return found;
  };
  const image = { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,AAAA' } };
  const video = { type: 'video_url', video_url: { url: 'data:video/mp4;base64,AAAA' } };

  it('travel in exactly one field each', async () => {
    const png = local('ref.png');
    const mp4 = local('ref.mp4');
    const cases: [Record<string, unknown>, ContentPart[], [string, string][]][] = [
      [{}, [image], [['image_reference', '{"image_url":"data:image/jpeg;base64,AAAA"}']]],
      [{}, [video], [['video_reference', '{"video_url":"data:video/mp4;base64,AAAA"}']]],
      [
        {},
        [{ type: 'image_url', image_url: 'https://x/no-extension' }],
        [['image_reference', '{"image_url":"https://x/no-extension"}']],
      ],
      [
        { image_reference: 'https://x/a.WEBP?v=1' },
        [],
        [['image_reference', '{"image_url":"https://x/a.WEBP?v=1"}']],
      ],
      [
        { image_reference: { image_url: 'https://x/a' } },
        [],
        [['image_reference', '{"image_url":"https://x/a"}']],
      ],
      [
        { image_reference: { image_url: { url: 'https://x/a' } } },
        [],
        [['image_reference', '{"image_url":"https://x/a"}']],
      ],
      [{ image_reference: { file_id: 'file-1' } }, [], [['image_reference', '{"file_id":"file-1"}']]],
      [
        { image_reference: [{ image_url: 'https://x/a' }, { image_url: 'https://x/b' }] },
        [],
        [['image_reference', '[{"image_url":"https://x/a"},{"image_url":"https://x/b"}]']],
      ],
      [{ video_reference: 'https://x/a.mov' }, [], [['video_reference', '{"video_url":"https://x/a.mov"}']]],
      [{ image_reference: png }, [], [['input_reference', 'ref.png image/png bytes of ref.png']]],
      [{ video_reference: `file://${mp4}` }, [], [['input_reference', 'ref.mp4 video/mp4 bytes of ref.mp4']]],
      [{ input_reference: mp4 }, [], [['input_reference', 'ref.mp4 video/mp4 bytes of ref.mp4']]],
      [
        { image_reference: png, video_reference: { video_url: 'https://x/v' } },
        [],
        [
          [
            'image_reference',
            `{"image_url":"data:image/png;base64,${Buffer.from('bytes of ref.png').toString('base64')}"}`,
          ],
          ['video_reference', '{"video_url":"https://x/v"}'],
        ],
      ],
      // The sample's media come first; those of the extra body are for samples without.
      [
        { image_reference: 'https://x/a.png' },
        [video],
        [['video_reference', '{"video_url":"data:video/mp4;base64,AAAA"}']],
      ],
    ];
    for (const [extraBody, media, expected] of cases)
      expect(await fields(extraBody, media)).toEqual(expected);
  });

  it('a lone large video travels as a file, beside an image as text', async () => {
    const url = `data:video/mp4;base64,${Buffer.alloc(900_000, 65).toString('base64')}`;
    const large = { type: 'video_url', video_url: { url } };
    const [only, ...others] = await fields({}, [large]);
    expect(others).toEqual([]);
    expect(only?.[0]).toBe('input_references');
    expect(only?.[1]).toMatch(/^benchmark-reference\.mp4 video\/mp4 AAAA/);
    expect((await fields({}, [image, large])).map(([name]) => name)).toEqual([
      'image_reference',
      'video_reference',
    ]);
    const webm = { type: 'video_url', video_url: { url: url.replace('mp4', 'webm') } };
    expect((await fields({}, [webm]))[0]?.[1]).toMatch(/^benchmark-reference\.bin video\/webm/);
  });

  it.each([
    { type: 'audio_url', audio_url: { url: 'data:audio/wav;base64,AA' } },
    { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } },
  ])('sound of a mixed dataset is left out, which is said: %j', async (sound) => {
    expect(await fields({}, [sound, image])).toEqual(await fields({}, [image]));
    const prepared = videos.prepare({ ...exampleSample, media: [sound, image] }, exampleTarget('http://x/'));
    expect(prepared.notes).toEqual(['/v1/videos takes no sound: audio parts are left out of the requests.']);
  });

  it.each([
    [{ image_reference: 'https://x/no-extension' }, [], /Say what it is/],
    [{ image_reference: 'https://x/a.mp4' }, [], /expected image/],
    [{ image_reference: 7 }, [], /is no reference/],
    [{ image_reference: {} }, [], /is no reference/],
    [{ image_reference: [] }, [], /is no reference/],
    [{ image_reference: { video_url: 'https://x/a.mp4' } }, [], /is no reference/],
    [{ image_reference: '/no/such.png' }, [], /media file not found/],
    [{ input_references: ['x'] }, [], /not taken/],
    [{ input_reference: 'https://x/a.png' }, [], /local file/],
    [{}, [image, image], /one image reference/],
    [{}, [{ type: 'text', text: 'x' }], /part of type text/],
  ])('%j %j are refused before anything is sent', (extraBody, media, message) => {
    expect(() =>
      videos.prepare({ ...exampleSample, media }, exampleTarget('http://x/', { extraBody })),
    ).toThrow(message);
  });
});
