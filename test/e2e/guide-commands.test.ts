import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { reportFigures } from './report-figures.ts';
import { runCli, startEmbeddedServer, withFolder } from './run-cli.ts';

/** Splits a command line of the guide as a shell does: backslash-newlines, single quotes. */
function shellWords(command: string): string[] {
  const words: string[] = [];
  for (const match of command.replaceAll('\\\n', ' ').matchAll(/'([^']*)'|([^\s']+)/g))
    words.push(match[1] ?? match[2] ?? '');
  return words;
}

/** The arguments of a command line of the guide, which names another program. */
function argumentsOf(command: string): string[] {
  const words = shellWords(command);
  expect(words[0]).toBe('vllm');
  return words.slice(1);
}

/** A command line that stands in a file, as flags of the command line are tested with it too. */
function guideCommand(name: string): string {
  return readFileSync(new URL(`../../src/cli/__fixtures__/${name}.sh`, import.meta.url), 'utf8').trim();
}

const sharegptCommand = `vllm bench serve \\
  --omni \\
  --port 43845 \\
  --model /home/models/Qwen/Qwen3-Omni-30B-A3B-Instruct \\
  --endpoint /v1/chat/completions \\
  --backend openai-chat-omni \\
  --num-prompts 2 \\
  --dataset-name sharegpt \\
  --dataset-path ShareGPT_V3_unfiltered_cleaned_split.json \\
  --percentile-metrics ttft,tpot,itl,e2el`;

const randomCommand = `vllm bench serve \\
  --omni \\
  --port 43845 \\
  --endpoint /v1/chat/completions \\
  --backend openai-chat-omni \\
  --model /home/models/Qwen/Qwen3-Omni-30B-A3B-Instruct \\
  --dataset-name random \\
  --num-prompts 2 \\
  --random-prefix-len 5 \\
  --random-input-len 10 \\
  --random-output-len 100 \\
  --percentile-metrics ttft,tpot,itl,e2el,audio_ttfp,audio_rtf \\
  --ignore-eos`;

const serveStagesCommand = 'vllm serve --omni --port 29999 --model ~/Qwen3-Omni-30B-A3B-Instruct';
const stagesCommand = `vllm bench serve --omni \\
  --dataset-name random \\
  --port 29999 \\
  --max-concurrency 1 \\
  --num-warmups 2 \\
  --model ~/Qwen3-Omni-30B-A3B-Instruct \\
  --endpoint /v1/chat/completions \\
  --backend openai-chat-omni \\
  --num-prompts 3 \\
  --random-input-len 2500 \\
  --ignore-eos \\
  --percentile-metrics ttft,tpot,itl,e2el,audio_ttfp,audio_rtf,ttfc,tpoc,icl \\
  --random-output-len 900 \\
  --extra-body '{"modalities": ["text","audio"]}' \\
  --print-stage`;

const conversation = (id: string, question: string, answer: string) => ({
  id,
  conversations: [
    { from: 'human', value: question },
    { from: 'gpt', value: answer },
  ],
});

describe('the guide’s command lines, with another program name', () => {
  it('sharegpt and random', async () => {
    const server = await startEmbeddedServer([
      '/home/models/Qwen/Qwen3-Omni-30B-A3B-Instruct',
      '--omni',
      '--port',
      '43845',
      '--time-scale',
      '0.02',
    ]);
    try {
      await withFolder(async (dir) => {
        const rows = [
          conversation(
            'a',
            'How do I measure the time to the first token of a server?',
            'Take the time before the request is written and the time of the read that brought the first token.',
          ),
          conversation(
            'b',
            'What is a vocoder good for in speech synthesis?',
            'It turns acoustic features or codec frames into samples of a waveform.',
          ),
          { id: 'too short', conversations: [{ from: 'human', value: 'Hi' }] },
        ];
        writeFileSync(join(dir, 'ShareGPT_V3_unfiltered_cleaned_split.json'), JSON.stringify(rows));
        const sharegpt = await runCli(argumentsOf(sharegptCommand), { cwd: dir });
        expect(sharegpt.exitCode, sharegpt.stderr).toBe(0);
        const figures = reportFigures(sharegpt.stdout);
        expect(figures.get('Serving / Successful requests')).toBe(2);
        expect(figures.get('Serving / Total audio frames generated')).toBeGreaterThan(0);
        for (const title of [
          'End-to-end Latency',
          'Text Result',
          'Time to First Token',
          'Inter-token Latency',
          'Audio Result',
        ])
          expect(sharegpt.stdout).toContain(title);

        const random = await runCli(argumentsOf(randomCommand), { cwd: dir });
        expect(random.exitCode, random.stderr).toBe(0);
        const seen = reportFigures(random.stdout);
        expect(seen.get('Serving / Total generated tokens')).toBe(200);
        expect(seen.get('Serving / Mean AUDIO_TTFP (ms)')).toBeGreaterThan(0);
        expect(seen.get('Serving / Mean AUDIO_RTF')).toBeDefined();
        // Every line that stands in the carried model's stead is said once, and nothing else is.
        expect(random.stderr.split('\n').filter((line) => line.includes('Qwen3 vocabulary'))).toHaveLength(1);
      });
    } finally {
      await server.close();
    }
  }, 120_000);

  it('images, whose path picks the adapter', async () => {
    const server = await startEmbeddedServer([
      ...['Qwen/Qwen-Image', '--omni', '--port', '8000', '--time-scale', '0.02'],
    ]);
    try {
      await withFolder(async (home) => {
        const folder = join(home, 'models/Qwen/Qwen-Image/tokenizer');
        mkdirSync(folder, { recursive: true });
        cpSync('src/tokens/__fixtures__/tiny-wordpiece', folder, { recursive: true });
        const run = await runCli(argumentsOf(guideCommand('guide-images')), {
          cwd: home,
          env: { HOME: home },
        });
        expect(run.exitCode, run.stderr).toBe(0);
        const figures = reportFigures(run.stdout);
        expect(figures.get('Serving / Successful requests')).toBe(10);
        expect(figures.get('Serving / Total images generated')).toBe(10);
        expect(figures.get('Serving / Average pixels per image')).toBe(1024 * 1024);
        expect(run.stdout).not.toContain('Text Result');
      });
    } finally {
      await server.close();
    }
  }, 60_000);

  it('multi-stage with --print-stage gives the published run, scaled', async () => {
    const scale = 0.25;
    await withFolder(async (dir) => {
      const truth = join(dir, 'truth.jsonl');
      const server = await startEmbeddedServer([
        ...argumentsOf(serveStagesCommand).slice(1),
        '--time-scale',
        String(scale),
        '--truth-log',
        truth,
      ]);
      let run: Awaited<ReturnType<typeof runCli>>;
      try {
        run = await runCli(argumentsOf(stagesCommand), { cwd: dir });
      } finally {
        await server.close();
      }
      expect(run.exitCode, run.stderr).toBe(0);
      const figures = reportFigures(run.stdout);
      // The published means of this very command line (three requests of 2500 in, 900 out), ms.
      const published: Record<string, number> = {
        'Stage 0 (thinker) / Mean stage_gen_time (ms)': 18_243.16,
        'Stage 0 (thinker) / Mean Serving TTFT (ms)': 816.31,
        'Stage 0 (thinker) / Mean TPOT (ms)': 19.41,
        'Stage 0 (thinker) / Mean ITL (ms)': 19.41,
        'Stage 1 (talker) / Mean stage_gen_time (ms)': 18_849.64,
        'Stage 1 (talker) / Mean Serving TTFC (ms)': 1029.14,
        'Stage 1 (talker) / Mean TPOP (ms)': 17.53,
        'Stage 1 (talker) / Mean ICL (ms)': 16.27,
        'Stage 2 (code2wav) / Mean stage_gen_time (ms)': 18_860.74,
        'Stage 2 (code2wav) / Mean Serving AUDIO_TTFP (ms)': 1366.16,
      };
      for (const [label, ms] of Object.entries(published)) {
        const seen = figures.get(label) ?? Number.NaN;
        // A mean over thousands of steps must hold far better than a single event.
        const tolerance = Math.max(ms * scale * 0.02, ms < 100 ? 0.15 : 5);
        expect(Math.abs(seen - ms * scale), `${label}: ${seen / scale} for ${ms}`).toBeLessThanOrEqual(
          tolerance,
        );
      }
      expect(figures.get('Stage 0 (thinker) / Stage generated tokens')).toBe(2700);
      expect(figures.get('Stage 2 (code2wav) / Stage audio duration generated(s)')).toBe(260.11);
      expect(figures.get('Stage 2 (code2wav) / Stage audio frames generated')).toBe(6_242_730);
      expect(figures.get('Serving / Total audio frames generated')).toBe(6_242_730);
      expect(figures.get('Serving / Total generated tokens')).toBe(2700);
      const samples = readFileSync(truth, 'utf8')
        .trim()
        .split('\n')
        .map((line): { event: string; samples?: number; id: string } => JSON.parse(line))
        .filter(({ event, id }) => event === 'audio' && id.includes('bench-'))
        .reduce((sum, event) => sum + (event.samples ?? 0), 0);
      expect(samples).toBe(6_242_730);
    });
  }, 180_000);
});
