import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { runCli, startCli, withFolder } from './run-cli.ts';

const root = new URL('../../', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));

describe('help', () => {
  test('the overview names every command', async () => {
    const { exitCode, stdout, stderr } = await runCli(['--help']);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    for (const command of ['demo', 'bench serve', 'serve', 'report'])
      expect(stdout).toContain(`  ${command} `);
  });

  test('the version', async () => {
    expect(await runCli(['--version'])).toMatchObject({ exitCode: 0, stdout: `${version}\n` });
  });

  test.each([
    [['bench', 'serve', '--help'], /usage: omnimeter bench serve/],
    [['bench', 'serve', '--help=all'], /--repetition-penalty FLOAT/],
    [['bench', 'serve', '--help=LOAD'], /^Load:\n {2}--num-prompts INT/],
    [['bench', 'serve', '--help=dataset_random'], /^Dataset random:/],
    [['bench', 'serve', '--help=--max-concurrency'], /^--max-concurrency INT\n/],
    [['bench', 'serve', '--help=backend'], / {2}openai-chat-omni: /],
    [['bench', 'serve', '--help=ramp'], /^Flags with "ramp":/],
    [['bench', 'serve', '--num-prompts', 'x', '--help'], /usage: omnimeter bench serve/],
    [['serve', '--help'], /usage: omnimeter serve MODEL/],
    [['report', '--help=goodput'], /^--goodput KEY:VALUE/],
    [['demo', '--help'], /usage: omnimeter demo/],
  ])('%j', async (args, expected) => {
    const { exitCode, stdout, stderr } = await runCli(args);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toMatch(expected);
  });

  test('lines keep to the width of a terminal', async () => {
    for (const args of [
      ['bench', 'serve', '--help=all'],
      ['serve', '--help'],
    ]) {
      const { stdout } = await runCli(args);
      const long = stdout.split('\n').filter((line) => line.length > 110);
      expect(long).toEqual([]);
    }
  });

  test('a reader that goes away ends the output, not the program', async () => {
    const script = `node "${fileURLToPath(new URL('dist/cli.js', root))}" bench serve --help=all | head -1; echo "\${PIPESTATUS[0]}"`;
    const child = spawn('bash', ['-c', script], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text));
    await new Promise((resolve) => child.once('close', resolve));
    expect(output).toBe('usage: omnimeter bench serve [flags]\n0\n');
  });
});

describe('mistakes cost exit code 2, before anything is sent', () => {
  test.each([
    [[], /^error: no command given/],
    [['bnch', 'serve'], /unknown command 'bnch'\. Did you mean bench\?/],
    [['bench', 'sevre'], /Did you mean bench serve\?/],
    [['bench'], /bench needs a command/],
    [
      ['bench', 'serve', '--num-promtps', '5'],
      /unknown flag --num-promtps\. Did you mean --num-prompts\?\nAllowed flags: /,
    ],
    [['bench', 'serve', 'stray'], /unexpected argument 'stray'/],
    [['bench', 'serve', '--help=nonsense'], /neither a group nor a flag/],
    [
      ['bench', 'serve', '--percentile-metrics', 'ttfft'],
      /unknown metric 'ttfft'\. Did you mean ttft\?\nAllowed: ttft, /,
    ],
    [['bench', 'serve', '--backend', 'openai-chat', '--endpoint', '/v1/x'], /URL must end with one of/],
    [['serve'], /serve needs a model/],
    [['serve', 'a', 'b'], /unexpected argument 'b'/],
    [
      ['serve', 'Qwen/Qwen3-Omni-30B-A3B-Instruct', '--tensor-paralel-size', '2'],
      /Did you mean --tensor-parallel-size\?/,
    ],
    [['serve', 'no-such-model'], /no-such-model/],
    [['report'], /report needs the folder of a run/],
    [['report', '/nowhere'], /there is no folder \/nowhere/],
    [['demo', 'x'], /unexpected argument 'x'/],
  ])('%j', async (args, message) => {
    const { exitCode, stdout, stderr } = await runCli(args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(/^error: /);
    expect(stderr).toMatch(message);
  });

  test('a configuration file is named with its mistake', async () => {
    await withFolder(async (dir) => {
      const file = join(dir, 'run.yaml');
      writeFileSync(file, 'num_promts: 5\n');
      const { exitCode, stderr } = await runCli(['bench', 'serve', '--config', file]);
      expect(exitCode).toBe(2);
      expect(stderr).toContain(
        `error: --config ${file}: unknown key "num_promts". Did you mean num-prompts?`,
      );
    });
  });
});

describe('serve', () => {
  test('says what has no effect, answers, and ends in order on a signal', async () => {
    const server = startCli([
      'serve',
      'Qwen/Qwen3-Omni-30B-A3B-Instruct',
      '--omni',
      '--port',
      '0',
      '-tp',
      '2',
    ]);
    const [, url] = await server.printed(/server ready: (http:\S+)/);
    expect((await fetch(`${url}/health`)).status).toBe(200);
    server.child.kill('SIGINT');
    const { exitCode, stderr } = await server.done;
    expect(exitCode).toBe(0);
    expect(stderr).toContain('these have no effect: --tensor-parallel-size');
  });

  test('a port that is taken is a usage error', async () => {
    const first = startCli(['serve', 'Qwen/Qwen3-Omni-30B-A3B-Instruct', '--port', '0']);
    const [, port = ''] = await first.printed(/server ready: http:\S+:(\d+)/);
    const second = await runCli(['serve', 'Qwen/Qwen3-Omni-30B-A3B-Instruct', '--port', port]);
    expect(second.exitCode).toBe(2);
    expect(second.stderr).toContain(`cannot listen on 127.0.0.1:${port}: the port is taken`);
    first.child.kill('SIGTERM');
    expect((await first.done).exitCode).toBe(0);
  });
});

describe('demo', () => {
  test('reports text, speech and stages, keeps the run and leaves no server behind', async () => {
    const { exitCode, stdout } = await runCli(['demo']);
    expect(exitCode).toBe(0);
    for (const line of [
      'Successful requests:                     6',
      'Failed requests:                         0',
      '================== Audio Result ==================',
      '=============== Stage 0 (thinker) ================',
      '=============== Stage 2 (code2wav) ===============',
    ])
      expect(stdout).toContain(line);
    const [, runDir = ''] = /Every record of this run is in (\S+)\.\n/.exec(stdout) ?? [];
    expect(existsSync(join(runDir, 'records.jsonl'))).toBe(true);
    const again = await runCli(['report', runDir]);
    const from = stdout.indexOf('============ Serving');
    expect(again.stdout.trim()).toBe(stdout.slice(from, stdout.indexOf('\nThe engines')).trim());
    rmSync(runDir, { recursive: true });
    const [, port = ''] = /--port (\d+) /.exec(stdout.slice(stdout.indexOf('Measuring it:'))) ?? [];
    await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow();
  });

  test('its server ends when the demo is killed', async () => {
    const demo = startCli(['demo']);
    const [, port = ''] = await demo.printed(/bench serve .*--port (\d+) /);
    expect((await fetch(`http://127.0.0.1:${port}/health`)).ok).toBe(true);
    demo.child.kill('SIGKILL');
    await demo.done;
    const gone = async (): Promise<boolean> =>
      fetch(`http://127.0.0.1:${port}/health`).then(
        () => false,
        () => true,
      );
    await expect.poll(gone, { timeout: 10_000, interval: 50 }).toBe(true);
  });
});
