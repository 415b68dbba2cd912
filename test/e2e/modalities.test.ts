import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readRun } from '../../src/records/journal.ts';
import { reportFigures } from './report-figures.ts';
import {
  type CliResult,
  type EmbeddedServer,
  readJson,
  runCli,
  startEmbeddedServer,
  withFolder,
} from './run-cli.ts';
import { readTruth, truthOf } from './truth.ts';

async function withServer<T>(
  args: readonly string[],
  use: (server: EmbeddedServer) => Promise<T>,
): Promise<T> {
  const server = await startEmbeddedServer(args);
  try {
    return await use(server);
  } finally {
    await server.close();
  }
}

const bench = (server: EmbeddedServer, model: string, flags: readonly string[]): Promise<CliResult> =>
  runCli([
    ...['bench', 'serve', '--omni', '--port', server.port, '--model', model, '--skip-tokenizer-init'],
    ...['--dataset-name', 'random', '--random-input-len', '40', ...flags],
  ]);

/** Titles of a report in order, without their fill. */
const titles = (stdout: string): string[] =>
  stdout.split('\n').flatMap((line) => /^([=-])\1+ ?(\w.*?[\w)]) ?[=-]{2,}$/.exec(line)?.[2] ?? []);

describe('images from a prompt', () => {
  it('have the sections of the published report, in its order, and the figures of the published run', async () => {
    const scale = 0.1;
    await withServer(['Qwen/Qwen-Image', '--omni', '--time-scale', String(scale)], async (server) => {
      const run = await bench(server, 'Qwen/Qwen-Image', [
        ...['--endpoint', '/v1/images/generations', '--max-concurrency', '1', '--num-warmups', '1'],
        ...['--num-prompts', '3', '--random-output-len', '1', '--ignore-eos', '--percentile-metrics', 'e2el'],
        ...['--extra-body', '{"num_inference_steps": 20, "seed": 42, "true_cfg_scale": 4.0}'],
      ]);
      expect(run.exitCode, run.stderr).toBe(0);
      expect(titles(run.stdout)).toEqual([
        'Serving Benchmark Result',
        'Peak Memory',
        'Stage Durations',
        'End-to-end Latency',
        'Image Result',
        'Image Generation',
      ]);
      const figures = reportFigures(run.stdout);
      expect(figures.get('Serving / Total images generated')).toBe(3);
      expect(figures.get('Serving / Average pixels per image')).toBe(1024 * 1024);
      expect(figures.get('Serving / Mean PEAK_MEMORY_MB (MB)')).toBe(58_832);
      const published: Record<string, number> = {
        'Mean denoise step latency (ms)': 136.59,
        'Mean IMAGE_GENERATION (ms)': 2731.84,
      };
      for (const [label, ms] of Object.entries(published))
        expect(figures.get(`Serving / ${label}`) ?? 0).toBeCloseTo(ms * scale, -1);
      // Client and server time are told apart: the latency is longer than the making, by transfer and decoding.
      expect(figures.get('Serving / Mean E2EL (ms)')).toBeGreaterThan(
        figures.get('Serving / Mean IMAGE_GENERATION (ms)') ?? Number.POSITIVE_INFINITY,
      );
    });
  }, 60_000);
});

describe('videos', () => {
  it('have one real-time factor at any poll interval, and fractional rates', async () => {
    await withServer(['BestWishYsh/Helios-Distilled', '--omni', '--time-scale', '0.1'], async (server) => {
      const run = async (pollS: number): Promise<{ figures: Map<string, number>; stderr: string }> => {
        const result = await bench(server, 'BestWishYsh/Helios-Distilled', [
          ...['--endpoint', '/v1/videos', '--max-concurrency', '1', '--num-prompts', '3'],
          ...['--percentile-metrics', 'e2el', '--video-download'],
          ...['--extra-body', JSON.stringify({ num_frames: 33, fps: 12.5, seed: 1, poll_interval_s: pollS })],
        ]);
        expect(result.exitCode, result.stderr).toBe(0);
        expect(titles(result.stdout)).toEqual([
          'Serving Benchmark Result',
          'Peak Memory',
          'Stage Durations',
          'End-to-end Latency',
          'Video Result',
          'Video RTF',
          'Video Generation',
        ]);
        return { figures: reportFigures(result.stdout), stderr: result.stderr };
      };
      const often = await run(0.1);
      const seldom = await run(1);
      for (const { figures, stderr } of [often, seldom]) {
        expect(figures.get('Serving / Total video frames generated')).toBe(99);
        expect(figures.get('Serving / Total video duration generated(s)')).toBe(7.92);
        expect(stderr).toContain('note: Jobs were asked after every');
      }
      // Half a second of making, seen after 0.1 s steps or after a whole second.
      expect(seldom.figures.get('Serving / Mean E2EL (ms)')).toBeGreaterThan(
        (often.figures.get('Serving / Mean E2EL (ms)') ?? 0) + 200,
      );
      expect(seldom.figures.get('Serving / Mean VIDEO_RTF')).toBe(
        often.figures.get('Serving / Mean VIDEO_RTF'),
      );
    });
  }, 60_000);
});

describe('speech', () => {
  it.each([24_000, 44_100, 48_000])(
    'of 64 streams at once has the samples that the server wrote, at %i Hz',
    async (rate) => {
      await withFolder(async (dir) => {
        const truthPath = join(dir, 'truth.jsonl');
        const model = 'Qwen/Qwen3-TTS-12Hz-1.7B-CustomVoice';
        const runDir = join(dir, 'run');
        await withServer(
          [
            ...[model, '--omni', '--time-scale', '0.05', '--truth-log', truthPath],
            ...['--stage-overrides', JSON.stringify({ 1: { speech: { sampleRateHz: rate } } })],
          ],
          async (server) => {
            const run = await bench(server, model, [
              ...['--backend', 'openai-audio-speech', '--num-prompts', '64', '--max-concurrency', '64'],
              ...['--percentile-metrics', 'audio_ttfp,audio_duration,audio_underrun', '--run-dir', runDir],
            ]);
            expect(run.exitCode, run.stderr).toBe(0);
            expect(titles(run.stdout).slice(0, 3)).toEqual([
              'Serving Benchmark Result',
              'Text Result',
              'Audio Result',
            ]);
            expect(run.stdout).not.toContain('Total generated tokens');
          },
        );
        const truth = readTruth(truthPath);
        const { records } = await readRun(runDir);
        expect(records).toHaveLength(64);
        for (const { requestId, audio } of records) {
          const samples = truthOf(truth, requestId ?? '').reduce(
            (sum, event) => sum + (event.samples ?? 0),
            0,
          );
          expect(samples).toBeGreaterThan(0);
          expect(audio).toMatchObject({ sampleRateHz: rate, frames: samples, durationS: samples / rate });
        }
      });
    },
    60_000,
  );

  it.each(['wav', 'mp3', 'flac', 'opus'])(
    'asked for as %s and not streamed has its length',
    async (format) => {
      await withFolder(async (dir) => {
        const model = 'Qwen/Qwen3-TTS-12Hz-1.7B-CustomVoice';
        const truthPath = join(dir, 'truth.jsonl');
        const file = join(dir, 'r.json');
        await withServer(
          [model, '--omni', '--time-scale', '0.02', '--truth-log', truthPath],
          async (server) => {
            const run = await bench(server, model, [
              ...['--backend', 'openai-audio-speech', '--num-prompts', '2', '--unstreamed', '--save-result'],
              ...[
                '--save-detailed',
                '--result-filename',
                file,
                '--percentile-metrics',
                'audio_ttfp,audio_duration',
              ],
              ...['--extra-body', JSON.stringify({ response_format: format })],
            ]);
            expect(run.exitCode, run.stderr).toBe(0);
            expect(run.stdout).not.toContain('AUDIO_TTFP');
            expect(run.stdout).toMatch(/Streaming continuity OK rate: +n\/a/);
          },
        );
        const samples = [...readTruth(truthPath).values()]
          .flat()
          .reduce((sum, each) => sum + (each.samples ?? 0), 0);
        const seconds = Number(readJson(file).total_audio_duration_s);
        // Encoders pad to their frame; formats without loss do not.
        const slackS = format === 'wav' || format === 'flac' ? 1e-9 : 0.3;
        expect(Math.abs(seconds - samples / 24_000)).toBeLessThanOrEqual(slackS);
      });
    },
    60_000,
  );
});

describe('transcription', () => {
  it('reports the length of the recordings over the time that all took', async () => {
    await withFolder(async (dir) => {
      const fixture = (name: string): string =>
        fileURLToPath(new URL(`../../src/media/__fixtures__/${name}`, import.meta.url));
      const rows = ['tone-24k-mono.flac', 'tone-8k-stereo.wav'].map((name) =>
        JSON.stringify({ audio: fixture(name) }),
      );
      writeFileSync(join(dir, 'rows.jsonl'), rows.join('\n'));
      await withServer(['openai/whisper-small', '--time-scale', '0.2'], async (server) => {
        const run = await runCli([
          ...[
            'bench',
            'serve',
            '--backend',
            'openai-audio',
            '--port',
            server.port,
            '--model',
            'openai/whisper-small',
          ],
          ...[
            '--dataset-name',
            'custom_audio',
            '--dataset-path',
            join(dir, 'rows.jsonl'),
            '--num-prompts',
            '2',
          ],
          ...['--save-result', '--result-filename', join(dir, 'r.json')],
        ]);
        expect(run.exitCode, run.stderr).toBe(0);
        expect(run.stdout).toContain('RTFx (Inverse Real-Time Factor):');
        const result = readJson(join(dir, 'r.json'));
        expect(Number(result.rtfx) * Number(result.duration)).toBeGreaterThan(0.5);
        expect(Number(result.total_output_tokens)).toBeGreaterThan(0);
      });
    });
  }, 60_000);
});

describe('vectors', () => {
  it('of queries and documents come as scores', async () => {
    await withServer(['BAAI/bge-reranker-v2-m3'], async (server) => {
      const run = await runCli([
        ...['bench', 'serve', '--backend', 'vllm-rerank', '--port', server.port],
        ...['--model', 'BAAI/bge-reranker-v2-m3', '--dataset-name', 'random-rerank', '--num-prompts', '8'],
        ...['--random-batch-size', '4', '--random-input-len', '64'],
      ]);
      expect(run.exitCode, run.stderr).toBe(0);
      expect(reportFigures(run.stdout).get('Serving / Successful requests')).toBe(2);
    });
  }, 60_000);

  it.each([
    ['openai-embeddings', 'BAAI/bge-m3'],
    ['vllm-pooling', 'BAAI/bge-m3'],
  ])(
    '%s prints the report of vectors',
    async (backend, model) => {
      await withServer([model], async (server) => {
        const run = await runCli([
          ...['bench', 'serve', '--backend', backend, '--port', server.port, '--model', model],
          ...['--dataset-name', 'random', '--random-input-len', '32', '--num-prompts', '4'],
        ]);
        expect(run.exitCode, run.stderr).toBe(0);
        expect(titles(run.stdout)).toEqual(['Serving Benchmark Result', 'End-to-end Latency']);
        expect(reportFigures(run.stdout).get('Serving / Total input tokens')).toBeGreaterThan(0);
        expect(run.stdout).not.toContain('generated');
      });
    },
    60_000,
  );
});

describe('image edits', () => {
  it('streamed have the sections of the published report, text first', async () => {
    await withServer(
      ['tencent/HunyuanImage-3.0-Instruct', '--omni', '--time-scale', '0.05'],
      async (server) => {
        const run = await bench(server, 'tencent/HunyuanImage-3.0-Instruct', [
          ...['--endpoint', '/v1/images/edits', '--dataset-name', 'random-mm', '--num-prompts', '3'],
          ...['--max-concurrency', '1', '--random-mm-bucket-config', '{(64, 64, 1): 1.0}', '--print-stage'],
          ...['--percentile-metrics', 'ttft,tpot,itl,e2el'],
          ...['--extra-body', '{"stream": true, "num_inference_steps": 50}'],
        ]);
        expect(run.exitCode, run.stderr).toBe(0);
        const published = readFileSync(
          new URL('../../src/report/__fixtures__/golden/hunyuan-image3-print-stage.txt', import.meta.url),
          'utf8',
        );
        const ofServerOnly = ['Peak Memory', 'Stage Durations', 'Stage Postprocess'];
        const own = titles(run.stdout).filter((title) => !ofServerOnly.includes(title));
        expect(own).toEqual(titles(published));
        const figures = reportFigures(run.stdout);
        expect(figures.get('Serving / Total images generated')).toBe(3);
        // The picture's own stage, not the longer one that wrote before.
        expect(figures.get('Serving / Mean IMAGE_GENERATION (ms)')).toBe(
          figures.get('Stage 1 (dit) / Mean IMAGE_GENERATION (ms)'),
        );
      },
    );
  }, 60_000);

  it('without images are failed requests with the original’s text', async () => {
    await withServer(['tencent/HunyuanImage-3.0-Instruct', '--omni'], async (server) => {
      const run = await bench(server, 'tencent/HunyuanImage-3.0-Instruct', [
        ...['--endpoint', '/v1/images/edits', '--num-prompts', '2'],
      ]);
      expect(run.exitCode).toBe(1);
      expect(run.stdout).toContain(
        '2 × unsendable: openai-image-edits-omni requires image multimodal content. For synthetic inputs, use --dataset-name random-mm with an image bucket.',
      );
      expect(titles(run.stdout)).toEqual(['Serving Benchmark Result']);
    });
  }, 60_000);
});
