import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { UsageError } from '../foundation/errors.ts';
import { benchServeCommand } from './bench-serve-command.ts';
import { type Command, type CommandContext, flagsOrHelp } from './command.ts';
import type { FlagTable } from './flags/flag.ts';
import { startServerProcess } from './server-process.ts';

const model = 'Qwen/Qwen3-Omni-30B-A3B-Instruct';
/** The model's replies are minutes of speech; ten times faster, six of them take seconds. */
const timeScale = 0.1;

const demoFlags = {} as const satisfies FlagTable;

/** `omnimeter demo`. */
export const demoCommand: Command = {
  async help() {
    return {
      usage: 'demo',
      summary:
        'Starts the embedded three-stage omni server on a free port, benchmarks text and speech against it, prints the report with every stage, and writes it as an HTML page. Needs no flags, no network and no GPU; takes well under a minute.',
      table: demoFlags,
    };
  },
  async run(argv, context) {
    const parsed = await flagsOrHelp(argv, demoFlags, demoCommand, context);
    if (parsed === null) return 0;
    const [extra] = parsed.positionals;
    if (extra !== undefined) throw new UsageError(`unexpected argument '${extra}'. demo takes none.`);
    return demo(context);
  },
};

/** What the demo measures: flags of `bench serve`, a line each. */
function benchFlags(port: number): string[][] {
  return [
    ['--omni', '--backend', 'openai-chat-omni', '--port', String(port)],
    ['--model', model],
    ['--dataset-name', 'random', '--random-input-len', '100', '--random-output-len', '120'],
    ['--num-prompts', '6', '--max-concurrency', '2', '--num-warmups', '1', '--print-stage'],
    ['--percentile-metrics', 'ttft,tpot,itl,e2el,audio_ttfp,audio_rtf,audio_duration,ttfc,tpoc,icl'],
    ['--extra-body', '{"modalities": ["text", "audio"]}'],
  ];
}

async function demo(context: CommandContext): Promise<number> {
  const { io } = context;
  // The model's own tokenizer lies on a hub; the demo asks no network, and the carried vocabulary is the same one.
  process.env.HF_HUB_OFFLINE = '1';
  const program = programName();
  const serveFlags = [model, '--omni', '--time-scale', String(timeScale)];
  io.stdout('Starting the embedded server:');
  for (const line of shown(program, 'serve', [[...serveFlags, '--port', '0']])) io.stdout(line);
  const server = await startServerProcess([...serveFlags, '--port', '0']);
  try {
    const runDir = mkdtempSync(join(tmpdir(), 'omnimeter-demo-'));
    const flags = benchFlags(server.port);
    io.stdout('Measuring it:');
    for (const line of shown(program, 'bench serve', flags)) io.stdout(line);
    io.stdout('');
    const page = join(runDir, 'report.html');
    const exitCode = await benchServeCommand.run(
      [...flags.flat(), '--run-dir', runDir, '--html', page],
      context,
    );
    for (const line of afterwards(program, { runDir, page, serveFlags })) io.stdout(line);
    return exitCode;
  } finally {
    await server.stop();
  }
}

function afterwards(
  program: string,
  { runDir, page, serveFlags }: { runDir: string; page: string; serveFlags: readonly string[] },
): string[] {
  return [
    '',
    `The engines are simulated and run ${1 / timeScale} times faster than the model that they stand for. The server, the`,
    'requests, the speech and the measuring are real.',
    '',
    `The report as a page, to be opened in a browser: ${page}`,
    `Every record of this run is in ${runDir}.`,
    '',
    'Another report of the same run:',
    ...shown(program, 'report', [[runDir, '--metric-percentiles', '50,90,99']]),
    'The server, to stay, and the same benchmark against it:',
    ...shown(program, 'serve', [[...serveFlags, '--port', '8000']]),
    ...shown(program, 'bench serve', benchFlags(8000)),
    'To measure a server of your own:',
    ...shown(program, 'bench serve', [['--help']]),
  ];
}

/** A command line that can be pasted into a shell, a line per group of flags. */
function shown(program: string, command: string, groups: readonly (readonly string[])[]): string[] {
  const [first = [], ...rest] = groups;
  const lines = [
    `  ${program} ${command} ${shellWords(first)}`,
    ...rest.map((group) => `    ${shellWords(group)}`),
  ];
  return lines.map((line, i) => (i < lines.length - 1 ? `${line} \\` : line));
}

/** How this program was called, so that the commands it prints can be run as they stand. */
function programName(): string {
  const path = process.argv[1] ?? '';
  if (basename(path) === 'omnimeter') return 'omnimeter';
  const fromHere = relative(process.cwd(), path);
  return `node ${fromHere.startsWith('..') ? path : fromHere}`;
}

/** The words as a POSIX shell reads them back. */
function shellWords(words: readonly string[]): string {
  return words
    .map((word) => (/^[\w./:,@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`))
    .join(' ');
}
