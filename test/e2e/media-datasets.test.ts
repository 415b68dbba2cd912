import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { benchFlags, type Recorded, withRecorder } from './recorder.ts';
import { reportFigures } from './report-figures.ts';
import { runCli, startEmbeddedServer, withFolder } from './run-cli.ts';

/** The guide's command line as words; it quotes with single quotes alone. */
function guideArguments(name: string): string[] {
  const text = readFileSync(new URL(`../../src/cli/__fixtures__/${name}.sh`, import.meta.url), 'utf8');
  const words = [...text.replaceAll('\\\n', ' ').matchAll(/'([^']*)'|([^\s']+)/g)];
  return words.slice(1).map(([, quoted, plain]) => quoted ?? plain ?? '');
}

/** Kinds and MIME types of the media of a chat request. */
function mediaOf({ body }: Recorded): string[] {
  return [...JSON.stringify(body).matchAll(/"(\w+_url)":\{"url":"data:([^;]+);base64,/g)].map(
    ([, kind, mime]) => `${kind} ${mime}`,
  );
}

const mixed = [
  ...['--dataset-name', 'random-mm', '--backend', 'openai-chat-omni', '--endpoint', '/v1/chat/completions'],
  ...['--random-mm-base-items-per-request', '3', '--random-mm-bucket-config'],
  '{(64, 64, 1): 0.4, (32, 32, 2): 0.4, (0, 0.1, 1): 0.2}',
  ...['--random-mm-limit-mm-per-prompt', '{"image": 2, "video": 1, "audio": 1}'],
  ...['--random-input-len', '10', '--model', 'm', '--skip-tokenizer-init', '--request-id-prefix', 'r-'],
];

describe('random-mm', () => {
  it('runs as the guide has it, against the embedded server', async () => {
    const server = await startEmbeddedServer([
      ...['Qwen/Qwen3-Omni-30B-A3B-Instruct', '--omni', '--port', '40849', '--time-scale', '0.05'],
    ]);
    try {
      await withFolder(async (dir) => {
        const env = { XDG_CACHE_HOME: dir };
        const { exitCode, stdout, stderr } = await runCli(guideArguments('guide-random-mm'), { env });
        expect(exitCode, stderr).toBe(0);
        const figures = reportFigures(stdout);
        expect(figures.get('Serving / Successful requests')).toBe(1);
        expect(figures.get('Serving / Total generated tokens')).toBe(2);
        expect(stderr).toMatch(/random-mm: .*made in/);
      });
    } finally {
      await server.close();
    }
  }, 60_000);

  it('sends the same bytes from any number of threads, made now or kept', async () => {
    await withFolder(async (dir) => {
      const run = async (threads: string, env: Record<string, string>) =>
        await withRecorder(async (recorder) => {
          const flags = [...mixed, '--num-prompts', '12', '--load-threads', threads];
          const { exitCode, stderr } = await runCli(benchFlags(recorder.url, flags), { env });
          expect(exitCode, stderr).toBe(0);
          const requests = recorder.generations();
          expect(requests.every((request) => mediaOf(request).length === 3)).toBe(true);
          const bodies = requests.map(({ headers, rawBody }) => `${headers['x-request-id']} ${rawBody}`);
          return { bodies: bodies.sort(), kinds: new Set(requests.flatMap(mediaOf)), stderr };
        });
      const kept = { XDG_CACHE_HOME: dir };
      const one = await run('1', { OMNIMETER_CACHE: 'off' });
      const two = await run('2', kept);
      const again = await run('2', kept);
      expect(two.bodies).toEqual(one.bodies);
      expect(again.bodies).toEqual(one.bodies);
      expect(two.stderr).toContain('made in');
      expect(again.stderr).toContain('taken from an earlier run in');
      expect([...one.kinds].sort()).toEqual([
        'audio_url audio/wav',
        'image_url image/jpeg',
        'video_url video/mp4',
      ]);
    });
  }, 90_000);

  it('is refused before anything is made or sent where the endpoint takes text only', async () => {
    await withRecorder(async (recorder) => {
      const flags = ['--dataset-name', 'random-mm', '--model', 'm', '--skip-tokenizer-init'];
      const { exitCode, stderr } = await runCli(benchFlags(recorder.url, flags));
      expect(exitCode).toBe(2);
      expect(stderr).toContain('sends text only');
      expect(recorder.generations()).toHaveLength(0);
    });
  });
});

describe('workload_trace', () => {
  const bodies = [
    { model: 'm', messages: [{ role: 'user', content: 'héllo' }], modalities: ['text'], stream: true },
    { model: 'm', messages: [{ role: 'user', content: [{ type: 'text', text: 'b' }] }], stream: false, n: 1 },
    { model: 'm', messages: [{ role: 'system', content: 'c' }], stream: true, seed: 7 },
  ];

  it('sends recorded bodies as they are, at their times', async () => {
    await withFolder(async (dir) => {
      const path = join(dir, 'trace.jsonl');
      const rows = bodies.map((body, at) => ({
        body,
        timestamp: 50 + at * 0.4,
        headers: { 'x-row': `${at}` },
      }));
      writeFileSync(path, rows.map((row) => JSON.stringify(row)).join('\n'));
      await withRecorder(async (recorder) => {
        const flags = [
          ...['--backend', 'openai-chat-omni', '--endpoint', '/v1/chat/completions', '--model', 'm'],
          ...['--dataset-name', 'workload_trace', '--dataset-path', path, '--num-prompts', '0'],
          ...['--print-stage', '--skip-tokenizer-init'],
        ];
        const { exitCode, stdout, stderr } = await runCli(benchFlags(recorder.url, flags));
        expect(exitCode, stderr).toBe(0);
        expect(stdout).toContain('Self timing is set, using the timestamps from the trace file.');
        const seen = recorder.generations();
        expect(seen.map(({ body }) => body)).toEqual(bodies);
        expect(seen.map(({ headers }) => headers['x-row'])).toEqual(['0', '1', '2']);
        const gaps = seen.slice(1).map(({ atMs }, at) => atMs - (seen[at]?.atMs ?? 0));
        for (const gap of gaps) expect(Math.abs(gap - 400)).toBeLessThan(150);
      });
    });
  }, 30_000);
});
