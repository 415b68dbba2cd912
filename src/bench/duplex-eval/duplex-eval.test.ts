import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { chooseSamples, readManifest } from '../../accuracy/duplex-eval/eval-sample.ts';
import { type JudgeRequest, scriptedJudge } from '../../accuracy/judge/scripted-judge.suite.ts';
import { findFfmpeg, runFfmpeg } from '../../media/ffmpeg.ts';
import { encodeWav } from '../../media/wav-encode.ts';
import { terminal } from '../serve/terminal.suite.ts';
import { splitJpegs } from './eval-frames.ts';
import { evaluate } from './evaluate.ts';
import { type GenerateOptions, generate } from './generate.ts';
import { summarize } from './summarize.ts';

type Event = Readonly<Record<string, unknown>>;

/** A model that says two sentences once it has heard the first unit, and listens after the commit. */
async function duplexServer(
  says: (unit: number) => readonly Event[] = () => [],
): Promise<{ url: string; heard: Event[] }> {
  const heard: Event[] = [];
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await new Promise<void>((resolve) => server.once('listening', resolve));
  server.on('connection', (socket) => {
    let seq = 0;
    const send = (event: Event): void => socket.send(JSON.stringify({ ...event, server_event_seq: ++seq }));
    let units = 0;
    socket.on('message', (data) => {
      const event = JSON.parse(data.toString()) as Event;
      if (event.type === 'session.event_ack') return;
      heard.push(event);
      if (event.type === 'session.update') send({ type: 'session.created', session: { id: 's' } });
      if (event.type === 'input_audio_buffer.append') for (const each of says(units++)) send(each);
      if (event.type === 'input_audio_buffer.commit') {
        send({ type: 'input_audio_buffer.committed', item_id: 'i' });
        send({ type: 'response.listen', response: { metadata: { model_listen: true } } });
      }
      if (event.type === 'session.close') send({ type: 'session.closed', reason: 'client_close' });
    });
  });
  onTestFinished(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  return { url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/v1/realtime?duplex=1`, heard };
}

const spoken: readonly Event[] = [
  { type: 'response.created', response: { id: 'r' } },
  {
    type: 'response.output_audio.delta',
    response_id: 'r',
    delta: Buffer.alloc(4800).toString('base64'),
    format: 'pcm16',
    sample_rate_hz: 24_000,
  },
  {
    type: 'response.output_audio_transcript.delta',
    response_id: 'r',
    delta: 'A test picture. It',
    audio_end_ms: 2400,
  },
  {
    type: 'response.output_audio_transcript.delta',
    response_id: 'r',
    delta: ' counts.',
    metadata: { audio_end_ms: 3100 },
  },
  { type: 'response.done', response_id: 'r', response: { id: 'r', status: 'completed' } },
];

let hasFfmpeg = false;
beforeAll(async () => {
  hasFfmpeg = (await findFfmpeg()) !== null;
});

async function madeDataset(): Promise<{ dir: string; voice: string; manifest: string }> {
  const dir = mkdtempSync(join(tmpdir(), 'omnimeter-duplex-eval-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const video = join(dir, 'a.mp4');
  const source = ['-f', 'lavfi', '-i', 'testsrc=size=160x120:rate=8:duration=3.5', '-c:v', 'mpeg4'];
  await runFfmpeg('making a test video', { args: ['-v', 'error', '-y', ...source, video] });
  const voice = join(dir, 'voice.wav');
  writeFileSync(voice, encodeWav(Buffer.alloc(24_000, 1), { sampleRateHz: 16_000, channels: 1 }));
  const row = { video: 'a.mp4', question_audio: 'voice.wav', question: 'Describe it.', duration: 3.5 };
  const manifest = join(dir, 'manifest.json');
  writeFileSync(
    manifest,
    JSON.stringify([
      { ...row, id: 'a', split: 'RTD_OCR' },
      { ...row, id: 'b', split: 'PR_event_reminder', answer1: 'It counts.', reminder1: 2 },
    ]),
  );
  return { dir, voice, manifest };
}

const all = { split: 'all', family: 'all', ids: [], limit: null } as const;

test('a video is played, judged and summed up', async (context) => {
  if (!hasFfmpeg) return context.skip('needs ffmpeg');
  const { dir, voice, manifest } = await madeDataset();
  const { url, heard } = await duplexServer((unit) => (unit === 1 ? spoken : []));
  const samples = chooseSamples(readManifest(manifest, null), all);
  const options: GenerateOptions = {
    samples,
    url,
    model: 'm',
    refAudio: voice,
    responseRoot: join(dir, 'responses'),
    fps: 1,
    isRealtime: false,
    concurrency: 2,
    overwrite: false,
    headers: [],
    env: {},
  };
  const first = terminal();
  expect(await generate(options, first.io), first.errors.join('\n')).toBe(0);
  const appends = heard.filter(({ type }) => type === 'input_audio_buffer.append');
  // Four units of a second and a picture each, for each of two samples.
  expect(appends).toHaveLength(8);
  expect(appends.slice(0, 1)).toMatchObject([
    { duration_ms: 1000, audio_end_ms: 1000, sample_rate_hz: 16_000 },
  ]);
  expect(appends.every(({ video_frames }) => Array.isArray(video_frames) && video_frames.length === 1)).toBe(
    true,
  );
  expect(heard.find(({ type }) => type === 'session.update')).toMatchObject({
    session: { model: 'm', instructions: 'Streaming Omni Conversation.' },
  });
  expect(heard.some(({ type }) => type === 'playback.ack')).toBe(true);
  expect(JSON.parse(readFileSync(join(dir, 'responses/RTD_OCR/a.json'), 'utf8'))).toEqual([
    { sentence: 'A test picture.', start: 2.4, end: 2.4 },
    { sentence: 'It counts.', start: 2.4, end: 3.1 },
  ]);
  expect(JSON.parse(readFileSync(join(dir, 'responses/RTD_OCR/a.meta.json'), 'utf8'))).toMatchObject({
    clock: 'invalid',
    unit_ms: 1000,
    response_done: true,
    drain_timeout: false,
    close_timeout: false,
  });
  const metrics = JSON.parse(readFileSync(join(dir, 'responses/duplex_metrics.json'), 'utf8'));
  expect(metrics.duplex_request_metrics.map((row: Event) => [row.sample_id, row.response_id]).sort()).toEqual(
    [
      ['a', 'r'],
      ['b', 'r'],
    ],
  );
  const again = terminal();
  expect(await generate(options, again.io)).toBe(0);
  expect(again.lines).toEqual(['Responses: 0 written, 2 kept, 0 failed']);

  const pictures: number[] = [];
  const judge = await scriptedJudge((request: JudgeRequest) => {
    const text = JSON.stringify(request.body);
    pictures.push(text.split('"image_url"').length - 1);
    if (text.includes('content_score')) return '{"content_score": 1.5}';
    return text.includes('success_score')
      ? '{"success_score": 1}'
      : '{"temporal_score": 3, "is_relevant": 1}';
  });
  onTestFinished(judge.close);
  const evaluation = {
    samples,
    responseRoot: join(dir, 'responses'),
    scoreRoot: join(dir, 'scores'),
    judge: { baseUrl: judge.url, model: 'j', apiKey: 'x' },
    videoMode: 'frame-sample',
    judgeFps: 2,
    windowS: 10,
    allowInvalidClock: false,
    workers: 2,
    overwrite: false,
  } as const;
  const refused = terminal();
  expect(await evaluate(evaluation, refused.io)).toBe(1);
  expect(refused.errors.join('\n')).toContain('clock=invalid; pass --allow-invalid-clock');
  const judged = terminal();
  expect(
    await evaluate({ ...evaluation, allowInvalidClock: true }, judged.io),
    judged.errors.join('\n'),
  ).toBe(0);
  const score = JSON.parse(readFileSync(join(dir, 'scores/RTD_OCR/a.json'), 'utf8'));
  // The first sentence has no length; the second is judged on two seconds before: 0.4 s to 1.1 s.
  expect(score.rtd.sentences.map(({ skipped }: Event) => skipped)).toEqual([
    expect.stringContaining('shorter'),
    null,
  ]);
  expect(score.rtd).toMatchObject({ avg_temporal_score: 3, content_score: 1.5 });
  expect(Math.max(...pictures)).toBeGreaterThan(0);
  const summed = terminal();
  summarize(join(dir, 'scores'), summed.io);
  expect(summed.lines.slice(0, 2)).toEqual([
    'task                samples  content (0-3)  temporal (0-3)  success',
    'OCR                 1        1.5000         3.0000          -',
  ]);
  expect(JSON.parse(readFileSync(join(dir, 'scores/summary.json'), 'utf8'))).toMatchObject({
    samples: 2,
    pr: { mean_all_success: 1 },
  });
});

test('a session that breaks fails its sample alone, and leaves no response behind', async (context) => {
  if (!hasFfmpeg) return context.skip('needs ffmpeg');
  const { dir, voice, manifest } = await madeDataset();
  const error = { type: 'error', error: { code: 'runtime_append_failed', message: 'no more' } };
  const { url } = await duplexServer(() => [error]);
  const seen = terminal();
  const code = await generate(
    {
      samples: chooseSamples(readManifest(manifest, null), { ...all, limit: 1 }),
      ...{ url, model: 'm', refAudio: voice, responseRoot: join(dir, 'responses') },
      ...{ fps: 1, isRealtime: true, concurrency: 1, overwrite: false, headers: [], env: {} },
    },
    seen.io,
  );
  expect(code).toBe(1);
  expect(seen.errors.join('\n')).toMatch(/RTD_OCR\/a: failed: .*no more/);
  expect(existsSync(join(dir, 'responses/RTD_OCR/a.json'))).toBe(false);
});

test('pictures in a stream are told apart', () => {
  const jpeg = (...body: number[]) => Buffer.from([0xff, 0xd8, 0xff, 0xe0, ...body, 0xff, 0xd9]);
  expect(splitJpegs(Buffer.concat([jpeg(1, 2), jpeg(3)]))).toEqual([jpeg(1, 2), jpeg(3)]);
  expect(splitJpegs(Buffer.alloc(0))).toEqual([]);
});
