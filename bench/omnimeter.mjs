// The client under test: the built program, as a user runs it.
import { createReadStream, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { runClient } from './processes.mjs';

export const cli = fileURLToPath(new URL('../dist/cli.js', import.meta.url));
if (!existsSync(cli))
  throw new Error('dist/cli.js is missing; `npm run bench` builds it first (npm run build)');

/** script(1) of util-linux gives a command a terminal of its own. */
const script = ['/usr/bin/script', '/bin/script'].find((path) => existsSync(path)) ?? null;
export const terminalAvailable = script !== null;

/** Number of the text events' kind in the journal (docs/decisions/0004). */
const textKind = 0;

/**
 * Runs `omnimeter bench serve` on chat completions with a one-line dataset.
 * @param {{ url: string, requests: number, flags: readonly string[], terminal?: boolean }} plan
 *   terminal: it runs on a terminal and shows its live view; else it shows no progress
 * @param {(run: { facts: any, cost: any, records: AsyncIterable<any> }) => T} look the run folder lives until it ends
 * @template T
 */
export async function benchServe({ url, requests, flags, terminal = false }, look) {
  const folder = mkdtempSync(join(tmpdir(), 'omnimeter-bench-'));
  try {
    const prompts = join(folder, 'prompts.jsonl');
    writeFileSync(prompts, `${JSON.stringify({ prompt: 'Hi' })}\n`);
    const runDir = join(folder, 'run');
    const args = [
      ...[cli, 'bench', 'serve', '--omni', '--backend', 'openai-chat-omni'],
      ...['--endpoint', '/v1/chat/completions', '--base-url', url, '--skip-tokenizer-init'],
      ...['--dataset-name', 'custom', '--dataset-path', prompts],
      ...['--num-prompts', String(requests), '--run-dir', runDir, ...flags],
      ...(terminal ? [] : ['--disable-tqdm']),
    ];
    const cost = await (terminal ? runOnTerminal(args) : runClient(process.execPath, args));
    const facts = JSON.parse(readFileSync(join(runDir, 'run.json'), 'utf8'));
    return await look({ facts, cost, records: measuredRecords(join(runDir, 'records.jsonl')) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Words of the command are paths, names and numbers: a shell reads them as they are. */
async function runOnTerminal(args) {
  return await runClient(script, [
    '-qfec',
    ['env', 'CI=', 'TERM=xterm', process.execPath, ...args].join(' '),
    '/dev/null',
  ]);
}

async function* measuredRecords(path) {
  for await (const line of createInterface({ input: createReadStream(path) })) {
    const record = JSON.parse(line);
    if (record.role === 'measured') yield record;
  }
}

/** A journal column: a list, or one number where all entries are equal. */
function entryOf(column, index) {
  return typeof column === 'number' ? column : column[index];
}

/** Times (CLOCK_MONOTONIC, ms) and token counts of a record's text events. */
export function textEvents(record, facts) {
  const { n, timesMs, kinds, tokens } = record.events;
  const events = [];
  for (let i = 0; i < n; i += 1) {
    if (entryOf(kinds, i) !== textKind) continue;
    events.push({ timeMs: entryOf(timesMs, i) + facts.hostClockOffsetMs, tokens: entryOf(tokens, i) });
  }
  return events;
}
