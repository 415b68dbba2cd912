import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { splitShellWords } from '../../src/foundation/shell-words.ts';
import { type MadeDataset, makeDatasetIn } from '../../src/workloads/omniinteract/made-dataset.suite.ts';
import {
  type EmbeddedServer,
  readJson,
  runCli,
  startCli,
  startEmbeddedServer,
  withFolder,
} from './run-cli.ts';

const model = 'openbmb/MiniCPM-o-4_5';

let folder: string;
let made: MadeDataset;
let server: EmbeddedServer;
let judge: Server;
let judgeUrl: string;
let asked = 0;

/** What the model says: a word within the first second, short enough for every clip. */
const spoken = {
  at_ms: 1000,
  text: 'A picture changes.',
  audio_s: 0.4,
  delta_ms: 100,
  ttft_ms: 50,
  rtf: 0.2,
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'omnimeter-e2e-omniinteract-'));
  made = await makeDatasetIn(folder);
  const script = join(folder, 'script.json');
  const named = [{ name: 'quiet', listen_only: true }];
  writeFileSync(script, JSON.stringify({ sessions: [{ responses: [spoken] }, ...named] }));
  server = await startEmbeddedServer([model, '--omni', '--duplex-script', script]);
  judge = createServer((request, response) => {
    request.resume().on('end', () => {
      asked += 1;
      const content = '{"score": 1, "flag": "Neutral", "trigger_phrase": "picture", "hallucination": false}';
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ choices: [{ message: { role: 'assistant', content } }] }));
    });
  }).listen(0, '127.0.0.1');
  await once(judge, 'listening');
  const address = judge.address();
  judgeUrl = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`;
}, 120_000);

afterAll(async () => {
  await server?.close();
  judge?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A command line of the guide; nothing but its paths and ports is another. */
function guide(name: string): string[] {
  const text = readFileSync(new URL(`../../src/cli/__fixtures__/${name}.sh`, import.meta.url), 'utf8');
  const words = splitShellWords(text.replaceAll('\\\n', ' ').trim());
  expect(words[0]).toBe('vllm');
  const here: Readonly<Record<string, string>> = {
    '/path/to/OmniInteract': made.root,
    '/path/to/reference.wav': made.refAudio,
    'http://127.0.0.1:8000': server.url,
    'http://127.0.0.1:8001': judgeUrl,
  };
  return words.slice(1).map((word) => here[word] ?? word);
}

const files = (dir: string): string[] => readdirSync(dir, { recursive: true, encoding: 'utf8' }).sort();

const count = (dir: string, name: string): number =>
  existsSync(dir) ? files(dir).filter((path) => path.split('/').at(-1) === name).length : 0;

describe("the guide's OmniInteract command lines, verbatim", { timeout: 240_000 }, () => {
  it('a run of three cases', async () => {
    await withFolder(async (dir) => {
      const args = [...guide('guide-omniinteract'), '--save-result', '--result-filename', 'r.json'];
      const { exitCode, stdout, stderr } = await runCli(args, { cwd: dir });
      expect(stderr).not.toContain('warning');
      expect(exitCode).toBe(0);
      expect(stdout).toMatch(/Successful requests: +3 /);
      expect(stdout).toMatch(/Maximum request concurrency: +1 /);
      expect(stdout).toMatch(/Mean server TTFT \(ms\): +\d/);
      expect(stdout).toMatch(/Responses timed by the server: +3 /);
      expect(stdout).toMatch(/Max input pacing lag \(ms\): +\d/);
      const out = join(dir, 'omniinteract-artifacts');
      for (const name of ['.done', 'output.wav', 'wav_transcript.json', 'events.json', 'result.json'])
        expect(count(out, name)).toBe(3);
      const result = readJson(join(dir, 'r.json'));
      expect(result.omniinteract).toEqual({
        ...{ total: 3, success: 3, failed: 0, eligible_for_official_eval: 3, successful_but_ineligible: 0 },
        ...{ audio_clipped_bytes: 0, artifacts_complete: true },
      });
      expect(result).toMatchObject({ num_prompts: 3, completed: 3, num_duplex_response_ttft_ms_samples: 3 });
      const events: unknown[] = JSON.parse(
        readFileSync(join(out, files(out).find((path) => path.endsWith('events.json')) ?? ''), 'utf8'),
      );
      expect(events[0]).toMatchObject({ type: 'session.created' });
    });
  });

  it('scenarios, each of which is covered', async () => {
    await withFolder(async (dir) => {
      const args = [...guide('guide-omniinteract-scenarios'), '--max-concurrency', '3'];
      const { exitCode, stdout } = await runCli(args, { cwd: dir });
      expect(exitCode).toBe(0);
      expect(stdout).toMatch(/Successful requests: +5 /);
      const rows = readFileSync(join(dir, 'omniinteract-artifacts/sampled_cases.jsonl'), 'utf8')
        .trim()
        .split('\n');
      // The only nested and the only interrupted case of the made dataset.
      expect(rows.join()).toContain('1q1a/videos/0002.mp4');
      expect(rows.join()).toContain('1q1a_math/videos/0001.mp4');
      expect(rows.join()).toContain('1qna/videos_bench');
      // Its own list draws the same cases again.
      const again = guide('guide-omniinteract-scenarios');
      const replay = [
        ...again.slice(0, again.indexOf('--dataset-path')),
        ...again.slice(again.indexOf('--dataset-path') + 2, again.indexOf('--num-warmups')),
        ...['--num-prompts', '1', '--omniinteract-output-dir', 'again'],
        ...['--omniinteract-video-list', 'omniinteract-artifacts/sampled_cases.jsonl'],
      ];
      const replayed = await runCli(replay, { cwd: dir });
      expect(replayed.exitCode).toBe(0);
      const first = readFileSync(join(dir, 'again/sampled_cases.jsonl'), 'utf8').trim();
      expect(first).toBe(rows[0]);
    });
  });

  it('evaluation by a judge', async () => {
    await withFolder(async (dir) => {
      const args = [...guide('guide-omniinteract-evaluate'), '--max-concurrency', '3'];
      const save = ['--save-result', '--result-filename', 'r.json', '--run-dir', 'run'];
      const { exitCode, stdout } = await runCli([...args, ...save], { cwd: dir });
      expect(exitCode).toBe(0);
      expect(asked).toBeGreaterThan(0);
      expect(stdout).toContain(' OmniInteract Accuracy ');
      expect(stdout).toMatch(/Judge model: +Qwen2\.5-7B-Instruct/);
      const { omniinteract } = readJson(join(dir, 'r.json'));
      expect(omniinteract).toMatchObject({ accuracy: { status: 'ok', evaluated: 3 } });
      const summary = join(dir, 'omniinteract-artifacts/evaluation/unified_eval_summary.json');
      expect(readJson(summary)).toMatchObject({ status: 'ok', evaluated: 3 });
      // The stored run has it too.
      expect(readJson(join(dir, 'run/run.json')).datasetResults).toEqual({ omniinteract });
      const report = await runCli(['report', 'run'], { cwd: dir });
      expect(report.stdout).toBe(stdout.slice(stdout.indexOf('============ Serving')));
    });
  });
});

describe('sessions that say nothing', { timeout: 120_000 }, () => {
  const quiet = (): string[] => [
    ...guide('guide-omniinteract'),
    ...['--num-prompts', '1', '--extra-body', '{"duplex_script": "quiet"}'],
  ];

  it('are a success, and have no figures', async () => {
    await withFolder(async (dir) => {
      const { exitCode, stdout } = await runCli(quiet(), { cwd: dir });
      expect(exitCode).toBe(0);
      expect(stdout).toMatch(/Successful requests: +1 /);
      expect(stdout).not.toContain('TTFT');
      expect(count(join(dir, 'omniinteract-artifacts'), '.done')).toBe(1);
    });
  });

  it('have failed where a response is required, and leave a list all the same', async () => {
    await withFolder(async (dir) => {
      const args = [...quiet(), '--omniinteract-require-response'];
      const { exitCode, stdout } = await runCli(args, { cwd: dir });
      expect(exitCode).toBe(1);
      expect(stdout).toContain('OmniInteract E2E requires a response with audio and transcript');
      const out = join(dir, 'omniinteract-artifacts');
      expect(count(out, '.failed.json')).toBe(1);
      expect(count(out, 'sampled_cases.jsonl')).toBe(1);
      expect(readJson(join(out, 'batch_summary.json'))).toMatchObject({ total: 1, failed: 1 });
    });
  });
});

describe('a run that is killed', { timeout: 240_000 }, () => {
  it('is gone on with by the same command', async () => {
    await withFolder(async (dir) => {
      const out = join(dir, 'omniinteract-artifacts');
      const args = [
        ...guide('guide-omniinteract'),
        ...['--save-result', '--save-detailed', '--result-filename', 'r.json', '--run-dir'],
      ];
      const first = startCli([...args, 'first'], { cwd: dir });
      await expect.poll(() => count(out, '.done'), { timeout: 60_000, interval: 50 }).toBe(1);
      // The slot of a case is free before its files are written: the second one is under way.
      first.child.kill('SIGKILL');
      await first.done;
      const done = files(out).find((path) => path.endsWith('.done')) ?? '';
      const marker = readFileSync(join(out, done), 'utf8');

      const second = await runCli([...args, 'second'], { cwd: dir });
      expect(second.exitCode).toBe(0);
      expect(second.stderr).toContain('going on with a run that was cut off: 1 finished cases');
      expect(second.stderr).toContain('decoding 2 videos');
      expect(second.stdout).toMatch(/Successful requests: +3 /);
      expect(second.stdout).toMatch(/Kept from an earlier run: +1 /);
      expect(readFileSync(join(out, done), 'utf8')).toBe(marker);
      expect(count(out, '.done')).toBe(3);
      expect(files(out).filter((path) => path.endsWith('.tmp'))).toEqual([]);
      expect(readJson(join(out, 'batch_summary.json'))).toMatchObject({ total: 3, success: 3 });
      const result = readJson(join(dir, 'r.json'));
      expect(result).toMatchObject({ completed: 3, kept_requests: 1, kept: [true, false, false] });
      // The parts stand one after the other: as long as their cases, which ran one at a time.
      const latencies = Array.isArray(result.e2els) ? result.e2els.map(Number) : [];
      const sum = latencies.reduce((total, latency) => total + latency, 0);
      expect(Number(result.duration)).toBeGreaterThan(sum - 0.5);
      expect(Number(result.duration)).toBeLessThan(sum + 5);
      const printed = (text: string): string => text.slice(text.indexOf('Successful requests'));
      const report = await runCli(['report', 'second'], { cwd: dir });
      expect(printed(report.stdout)).toBe(printed(second.stdout));

      const third = await runCli([...args, 'third'], { cwd: dir });
      expect(third.stdout).not.toContain('Kept from an earlier run');
      expect(third.stderr).toContain('decoding 3 videos');
    });
  });
});

describe('what is missing is said before anything is sent', { timeout: 60_000 }, () => {
  it('FFmpeg', async () => {
    await withFolder(async (dir) => {
      const bin = join(dir, 'bin');
      mkdirSync(bin);
      symlinkSync(process.execPath, join(bin, 'node'));
      const { exitCode, stderr } = await runCli(guide('guide-omniinteract'), {
        cwd: dir,
        env: { PATH: bin },
      });
      expect(exitCode).toBe(2);
      expect(stderr).toMatch(/Required media command is unavailable: ffprobe\. Install it .*apt-get install/);
    });
  });

  it('the dataset, on a machine without a network', async () => {
    await withFolder(async (dir) => {
      const args = guide('guide-omniinteract');
      args[args.indexOf('--dataset-path') + 1] = 'lucky-lance/OmniInteract@main';
      const env = { HF_HOME: dir, HF_HUB_OFFLINE: '1' };
      const { exitCode, stderr } = await runCli(args, { cwd: dir, env });
      expect(exitCode).toBe(2);
      expect(stderr).toContain("Could not download OmniInteract from 'lucky-lance/OmniInteract@main'");
    });
  });

  it('a video that is none', async () => {
    await withFolder(async (dir) => {
      cpSync(made.root, join(dir, 'data'), { recursive: true });
      for (const path of files(join(dir, 'data')).filter((name) => name.endsWith('.mp4')))
        writeFileSync(join(dir, 'data', path), 'no video');
      const args = guide('guide-omniinteract');
      args[args.indexOf('--dataset-path') + 1] = join(dir, 'data');
      const { exitCode, stderr } = await runCli(args, { cwd: dir });
      expect(exitCode).toBe(2);
      expect(stderr).toContain('ffprobe failed: ');
    });
  });
});
