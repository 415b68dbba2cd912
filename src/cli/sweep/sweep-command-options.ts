import { join } from 'node:path';
import { type LinkVariable, parseLinkVariables, withLoadLists } from '../../bench/sweep/combinations.ts';
import { readParameterFile } from '../../bench/sweep/parameter-file.ts';
import type { SweepCommand, SweepOptions } from '../../bench/sweep/sweep-options.ts';
import { messageOf, UsageError } from '../../foundation/errors.ts';
import { joinShellWords, splitShellWords } from '../../foundation/shell-words.ts';
import type { FlagValues } from '../flags/flag.ts';
import { parseNumber } from '../flags/flag-value.ts';
import type { sweepServeFlags, sweepWorkloadFlags } from '../flags/sweep/sweep-flags.ts';

type Common = Omit<FlagValues<typeof sweepWorkloadFlags>, 'workload-var' | 'workload-iters'>;

/** How this very program is started again, as a child. */
export function thisProgram(): string[] {
  return [process.execPath, ...process.execArgv, process.argv[1] ?? ''];
}

/**
 * What a sweep was asked to do.
 * @param command the sweep's own name and arguments, for the line that says how to go on
 * @throws UsageError, InputFileError; nothing has been started
 */
export function sweepOptions(
  flags: Common,
  around: { readonly command: readonly string[]; readonly now: Date },
): SweepOptions {
  const benchText = flags['bench-cmd'];
  if (benchText === null)
    throw new UsageError(
      '--bench-cmd is missing: the command that measures, such as "omnimeter bench serve …".',
    );
  const serveText = flags['serve-cmd'];
  if (serveText === null && flags['serve-params'] !== null)
    throw new UsageError('--serve-params changes the command of --serve-cmd, which is not given.');
  const name = flags['experiment-name'] ?? timestamp(around.now);
  if (name === '' || name.includes('/') || name === '..')
    throw new UsageError(`--experiment-name: '${name}' is no name of a folder.`);
  if (flags.resume && flags['experiment-name'] === null)
    throw new UsageError('--resume needs --experiment-name: which experiment to go on with.');
  return {
    serve: serveText === null ? null : serveCommand(words(serveText, '--serve-cmd')),
    bench: benchCommand(words(benchText, '--bench-cmd')),
    afterBench:
      flags['after-bench-cmd'] === null ? null : words(flags['after-bench-cmd'], '--after-bench-cmd'),
    showStdout: flags['show-stdout'],
    serverReadyTimeoutS: flags['server-ready-timeout'],
    serveItems: readParameterFile(flags['serve-params']),
    benchItems: readParameterFile(flags['bench-params']),
    links: links(flags['link-vars']),
    experimentDir: join(flags['output-dir'], name),
    numRuns: flags['num-runs'],
    warmupNumPrompts: flags['warmup-num-prompts'],
    continueOnError: flags['continue-on-error'],
    dryRun: flags['dry-run'],
    resume: flags.resume,
    resumeHint: resumeHint(around.command, name, flags),
  };
}

/** The settings of the benchmark times the simple lists. */
export function withLists(
  options: SweepOptions,
  flags: Pick<
    FlagValues<typeof sweepServeFlags>,
    'sweep-max-concurrency' | 'sweep-request-rate' | 'sweep-num-prompts-factor'
  >,
): SweepOptions {
  const promptsFactor = flags['sweep-num-prompts-factor'];
  const maxConcurrency = (flags['sweep-max-concurrency'] ?? []).map((text) => {
    const value = parseNumber(text);
    if (value !== null && Number.isSafeInteger(value) && value >= 1) return value;
    throw new UsageError(
      `--sweep-max-concurrency: '${text}' is no concurrency. Expected whole numbers from 1.`,
    );
  });
  const requestRate = (flags['sweep-request-rate'] ?? []).map((text) => {
    const value = parseNumber(text);
    if (value !== null && value > 0) return value;
    throw new UsageError(`--sweep-request-rate: '${text}' is no rate. Expected numbers over 0, or inf.`);
  });
  if (promptsFactor !== null && maxConcurrency.length === 0)
    throw new UsageError('--sweep-num-prompts-factor goes with --sweep-max-concurrency, which is not given.');
  return {
    ...options,
    benchItems: withLoadLists(options.benchItems, {
      maxConcurrency: [...new Set(maxConcurrency)],
      requestRate: [...new Set(requestRate)],
      promptsFactor,
    }),
  };
}

function words(text: string, flag: string): string[] {
  try {
    const found = splitShellWords(text);
    if (found.length > 0) return found;
  } catch (cause) {
    throw new UsageError(`${flag}: '${text}' is no command: ${messageOf(cause)}.`, { cause });
  }
  throw new UsageError(`${flag} is empty. Give the command to start.`);
}

/** `omnimeter …` is this program, wherever it lies; anything else is started as written. */
export function serveCommand(found: readonly string[]): SweepCommand {
  const own = found[0] === 'omnimeter';
  return { words: found, program: own ? { replaces: 1, words: thisProgram() } : null };
}

/**
 * `vllm bench serve …` is this program too: it is the drop-in that the sweep belongs to, so that a command line moves
 * over as it is. Another client is named by its path.
 */
export function benchCommand(found: readonly string[]): SweepCommand {
  if (found[0] !== 'vllm' || found[1] !== 'bench') return serveCommand(found);
  return { words: ['omnimeter', ...found.slice(1)], program: { replaces: 1, words: thisProgram() } };
}

function links(text: string): LinkVariable[] {
  return parseLinkVariables(text);
}

function timestamp(now: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${now.getFullYear()}${two(now.getMonth() + 1)}${two(now.getDate())}`;
  return `${day}_${two(now.getHours())}${two(now.getMinutes())}${two(now.getSeconds())}`;
}

function resumeHint(command: readonly string[], name: string, flags: Common): string {
  const named = flags['experiment-name'] === null ? ['--experiment-name', name] : [];
  const resume = flags.resume ? [] : ['--resume'];
  return joinShellWords(['omnimeter', ...command, ...named, ...resume]);
}
