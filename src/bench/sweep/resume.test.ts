import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { UsageError } from '../../foundation/errors.ts';
import { runSweep } from './run-sweep.ts';
import type { SweepOptions } from './sweep-options.ts';

const folder = mkdtempSync(join(tmpdir(), 'omnimeter-resume-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A client that saves a result as it is told to and ends with the code of --code. */
const client = join(folder, 'client.cjs');
writeFileSync(
  client,
  `const { writeFileSync, mkdirSync } = require('node:fs');
const of = (flag) => process.argv[process.argv.lastIndexOf(flag) + 1];
mkdirSync(of('--result-dir'), { recursive: true });
writeFileSync(of('--result-dir') + '/' + of('--result-filename'), JSON.stringify({ prompts: of('--num-prompts') }));
const isWarmup = of('--result-filename') === 'warmup.json';
process.exit(Number(of(isWarmup && process.argv.includes('--warmup-code') ? '--warmup-code' : '--code')));
`,
);

let experiments = 0;
function experiment(more: Partial<SweepOptions> = {}) {
  experiments += 1;
  const experimentDir = join(folder, `e${experiments}`);
  return async (
    args: readonly string[],
    resume: boolean,
    now: Partial<SweepOptions> = {},
  ): Promise<{ code: number; said: string }> => {
    const said: string[] = [];
    const io = {
      stdout: (line: string) => void said.push(line),
      stderr: (line: string) => void said.push(line),
      ...{ redraw: () => {}, settle: () => {}, isTty: false, columns: 80, onInterrupt: () => {} },
    };
    const options: SweepOptions = {
      ...{ serve: null, afterBench: null, showStdout: false, serverReadyTimeoutS: 1 },
      bench: { words: [process.execPath, client, ...args], program: null },
      ...{ serveItems: [{}], benchItems: [{ _benchmark_name: 'one', max_concurrency: 1 }], links: [] },
      ...{ experimentDir, numRuns: 2, warmupNumPrompts: 0, continueOnError: false, dryRun: false },
      ...{ resumeHint: null, ...more, resume, ...now },
    };
    const { exitCode } = await runSweep(options, io);
    return { code: exitCode, said: said.join('\n') };
  };
}

describe('a sweep that is gone on with', () => {
  it('tells of thresholds that broke when its runs were measured', async () => {
    const run = experiment();
    expect((await run(['--code', '3'], false)).code).toBe(3);
    const { code, said } = await run(['--code', '3'], true);
    expect(code).toBe(3);
    expect(said).toContain('2 runs were stored already and not measured again. 2 of them broke a threshold.');
  });

  it('says how many runs it did not measure again', async () => {
    const run = experiment();
    expect((await run(['--code', '0'], false)).said).not.toContain('stored already');
    const { code, said } = await run(['--code', '0'], true, { numRuns: 3 });
    expect(code).toBe(0);
    expect(said).toContain('note: 2 runs were stored already and not measured again.');
  });

  it('refuses other commands than those of its runs, and names what differs', async () => {
    const run = experiment();
    await run(['--num-prompts', '4', '--code', '0'], false);
    const changed = run(['--num-prompts', '8', '--code', '0'], true);
    await expect(changed).rejects.toThrow(UsageError);
    await expect(changed).rejects.toThrow("--bench-cmd: '--num-prompts 4' then, '--num-prompts 8' now");
    await expect(run(['--num-prompts', '4'], true)).rejects.toThrow("'--code 0' then, (nothing) now");
  });

  it('says where nobody kept the commands', async () => {
    const run = experiment();
    await run(['--code', '0'], false);
    rmSync(join(folder, `e${experiments}`, 'commands.json'));
    const { code, said } = await run(['--code', '0', '--num-prompts', '2'], true);
    expect(code).toBe(0);
    expect(said).toMatch(/does not say with which commands its 2 finished runs were measured/);
  });

  it('takes another command while nothing has been measured', async () => {
    const run = experiment({ continueOnError: true });
    expect((await run(['--code', '7'], false)).code).toBe(1);
    expect((await run(['--code', '0'], true)).code).toBe(0);
  });

  it('refuses other parameters under the name of old ones', async () => {
    const run = experiment();
    await run(['--code', '0'], false);
    const benchItems = [{ _benchmark_name: 'one', max_concurrency: 2 }];
    await expect(run(['--code', '0'], true, { benchItems })).rejects.toThrow(
      /run=0.json was measured with max_concurrency 1, and is to have 2 now/,
    );
  });

  it('does not judge warm-ups, nor take the code of another command for a threshold', async () => {
    const after = [process.execPath, '-e', 'process.exit(3)'];
    await expect(experiment({ afterBench: after })(['--code', '0'], false)).rejects.toThrow(/exit code 3/);
    const run = experiment({ warmupNumPrompts: 1 });
    expect((await run(['--code', '0', '--warmup-code', '3'], false)).code).toBe(0);
  });

  it('keeps no secrets with the commands', async () => {
    const run = experiment();
    const args = ['--header', 'Authorization=Bearer abc', '--api-key', 'def', '--code', '0'];
    await run([...args, '--base-url', 'http://u:ghi@h/v1'], false);
    const text = readFileSync(join(folder, `e${experiments}`, 'commands.json'), 'utf8');
    expect(text).toContain('Authorization=***');
    expect(text).not.toMatch(/abc|def|ghi/);
  });

  it('goes on with other secrets than those of then, and with no other fields beside them', async () => {
    const run = experiment();
    const args = (key: string, seed: number) => [
      ...['--extra-body', JSON.stringify({ api_key: key, seed, headers: { 'X-Who': key } })],
      ...['--extra-body.auth_token', key, '--code', '0'],
    ];
    await run(args('k-of-then', 1), false);
    const path = join(folder, `e${experiments}`, 'commands.json');
    expect(readFileSync(path, 'utf8')).not.toContain('k-of-then');
    expect((await run(args('k-of-now', 1), true)).code).toBe(0);
    await expect(run(args('k-of-now', 2), true)).rejects.toThrow(/"seed":1.*then, .*"seed":2.* now/);
  });

  it('takes secrets out of commands that an earlier version kept', async () => {
    const run = experiment();
    const args = ['--extra-body', '{"api_key": "k-of-then"}', '--code', '0'];
    await run(args, false);
    const path = join(folder, `e${experiments}`, 'commands.json');
    const kept = JSON.parse(readFileSync(path, 'utf8'));
    const before = String(kept['--bench-cmd']).replace('***', 'k-of-then');
    writeFileSync(path, JSON.stringify({ ...kept, '--bench-cmd': before }));
    expect((await run(args, true)).code).toBe(0);
    expect(readFileSync(path, 'utf8')).not.toContain('k-of-then');
  });
});
