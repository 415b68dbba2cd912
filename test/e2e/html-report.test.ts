import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedServer, runCli, startEmbeddedServer, withFolder } from './run-cli.ts';

const model = 'Qwen/Qwen3-Omni-30B-A3B-Instruct';
let server: EmbeddedServer;
beforeAll(async () => {
  server = await startEmbeddedServer([model, '--omni', '--time-scale', '0.02']);
});
afterAll(() => server.close());

const flags = (port: string): string[] => [
  ...['bench', 'serve', '--omni', '--backend', 'openai-chat-omni', '--model', model, '--port', port],
  ...['--dataset-name', 'random', '--random-input-len', '10', '--random-output-len', '8'],
  ...['--num-prompts', '3', '--print-stage', '--extra-body', '{"modalities": ["text", "audio"]}'],
];

/** The data that stands in a page. */
function dataOf(page: string): Record<string, unknown> {
  const html = readFileSync(page, 'utf8');
  expect(html).toMatch(/^<!doctype html>\s*<html lang="en">/);
  // Nothing is fetched: no address in a tag, no import in the style.
  expect(html).not.toMatch(/<(link|script|img|iframe)[^>]+(src|href)="(?!data:)/);
  expect(html).not.toMatch(/@import|url\(/);
  return JSON.parse(
    /<script type="application\/json" id="report-data">(.*?)<\/script>/s.exec(html)?.[1] ?? '',
  );
}

test('a run writes its page, and a stored run the same one', async () => {
  await withFolder(async (dir) => {
    const [runDir, page, again] = [join(dir, 'run'), join(dir, 'pages', 'run.html'), join(dir, 'again.html')];
    const run = await runCli([...flags(server.port), '--run-dir', runDir, '--html', page]);
    expect(run.exitCode).toBe(0);
    expect(run.stderr).toContain(`HTML report written to ${page}`);
    const data = dataOf(page);
    expect(data).toMatchObject({ version: 1, run: { model, completed: 3, failed: 0 } });
    expect(JSON.stringify(data)).toContain('code2wav');
    const report = await runCli(['report', runDir, '--html', again]);
    expect(report.exitCode).toBe(0);
    expect(dataOf(again)).toEqual(data);
    expect(existsSync(`${again}.part`)).toBe(false);
  });
});

test('a run in which everything failed has its page too', async () => {
  await withFolder(async (dir) => {
    const page = join(dir, 'failed.html');
    const run = await runCli([
      ...flags(server.port),
      ...[
        '--endpoint',
        '/nowhere/v1/chat/completions',
        '--ready-check-timeout-sec',
        '0',
        '--skip-tokenizer-init',
      ],
      ...['--run-dir', join(dir, 'run'), '--html', page],
    ]);
    expect(run.exitCode).toBe(1);
    expect(dataOf(page)).toMatchObject({
      run: { completed: 0, failed: 3 },
      failures: [{ status: 404, count: 3 }],
    });
  });
});

test('a page that cannot be written is an error that says so, after the report', async () => {
  await withFolder(async (dir) => {
    const run = await runCli([
      ...flags(server.port),
      '--html',
      join('/dev/null', 'page.html'),
      '--run-dir',
      join(dir, 'run'),
    ]);
    expect(run.exitCode).not.toBe(0);
    expect(run.stdout).toContain('Successful requests:                     3');
    expect(run.stderr).toMatch(/cannot write the HTML report to \/dev\/null\/page\.html.*--html/s);
  });
});
