#!/usr/bin/env node
import { UsageError } from '../foundation/errors.ts';
import { nearestName } from '../foundation/nearest-name.ts';
import { omnimeterVersion } from '../foundation/version.ts';
import { type CommandEntry, commands } from './commands.ts';
import { describeError, exitCodeOf } from './exit-code.ts';
import { wrapText } from './flags/wrap-text.ts';
import { flushed, processIo } from './process-io.ts';

function overview(): string[] {
  const width = Math.max(...commands.map(({ name }) => name.join(' ').length)) + 2;
  return [
    'usage: omnimeter COMMAND [flags]',
    '',
    'Measures omni-modality model servers: text, speech and images, down to the single pipeline stage.',
    '',
    'Commands:',
    ...commands.map(({ name, summary }) => `  ${name.join(' ').padEnd(width)}${summary}`),
    '',
    'omnimeter COMMAND --help says more; --version prints the version.',
  ];
}

type Chosen = { entry: CommandEntry; rest: readonly string[] } | 'overview' | 'version';

/** @throws UsageError for a command that does not exist, naming the nearest */
function chooseCommand(argv: readonly string[]): Chosen {
  const entry = commands.find(({ name }) => name.every((word, i) => argv[i] === word));
  if (entry !== undefined) return { entry, rest: argv.slice(entry.name.length) };
  const [first] = argv;
  if (first === '--version' || first === '-V' || first === 'version') return 'version';
  const topic = argv.find((token) => token.startsWith('--help='))?.slice('--help='.length);
  if (topic !== undefined && topic !== '' && topic !== 'all')
    throw new UsageError(`--help=${topic} needs a command before it: omnimeter COMMAND --help=${topic}`);
  if (argv.some((token) => token === '-h' || token === 'help' || token.startsWith('--help')))
    return 'overview';
  if (first === undefined) throw new UsageError('no command given.\nSee omnimeter --help.');
  const names = commands.map(({ name }) => name.join(' '));
  const isGroup = (words: readonly string[]): boolean =>
    names.some((name) => name.startsWith(`${words.join(' ')} `));
  // As many words as name a group, and the one that should choose from it.
  const depth = argv.findIndex((_, i) => !isGroup(argv.slice(0, i + 1)));
  const asked = argv.slice(0, depth < 0 ? argv.length : depth + 1).join(' ');
  const nearest = nearestName(asked, [...names, ...names.map((name) => name.split(' ')[0] ?? name)]);
  const slip = nearest === null ? '' : ` Did you mean ${nearest}?`;
  const what = depth < 0 ? `${asked} needs a command.` : `unknown command '${asked}'.${slip}`;
  throw new UsageError(`${what}\nCommands: ${names.join(', ')}`);
}

async function main(): Promise<void> {
  const io = processIo();
  let exitCode: number;
  try {
    const chosen = chooseCommand(process.argv.slice(2));
    if (chosen === 'overview' || chosen === 'version') {
      for (const line of chosen === 'version' ? [omnimeterVersion] : overview()) io.stdout(line);
      exitCode = 0;
    } else {
      const command = await chosen.entry.load();
      exitCode = await command.run(chosen.rest, { env: process.env, io });
    }
  } catch (error) {
    for (const line of describeError(error).split('\n')) {
      const listed = line.startsWith('Allowed') || line.startsWith('Available');
      for (const part of listed ? wrapText(line, io.columns, '', '  ') : [line]) io.stderr(part);
    }
    exitCode = exitCodeOf(error);
  }
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  // Explicit: a thread or socket that is slow to close must not keep the program from ending.
  // A failed write to standard output has left its mark.
  process.exit(exitCode || (process.exitCode ?? 0));
}

await main();
