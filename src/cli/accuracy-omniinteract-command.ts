import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EvaluationOptions } from '../accuracy/omniinteract/evaluate-omniinteract.ts';
import type { PooledAccuracy } from '../accuracy/omniinteract/pool-evaluations.ts';
import type { CommandIo } from '../bench/serve/options.ts';
import { messageOf, OutputFileError, UsageError } from '../foundation/errors.ts';
import { type Command, flagsOrHelp } from './command.ts';
import {
  omniInteractEvaluateFlags,
  omniInteractGateFlags,
  type omniInteractJudgeFlags,
} from './flags/accuracy/omniinteract-flags.ts';
import type { FlagValues } from './flags/flag.ts';
import { expandHome } from './flags/flag-value.ts';
import { judgeUrl } from './judge-url.ts';

/** A gate broke. */
const brokenGate = 3;

/** `omnimeter accuracy omniinteract evaluate DIR`. */
export const omniInteractEvaluateCommand: Command = {
  async help() {
    return {
      usage: 'accuracy omniinteract evaluate DIR [flags]',
      summary:
        'Judges what a model said in OmniInteract conversations, from the folder of artifacts that `bench serve --omniinteract-output-dir` or another program of the same layout wrote. Prints IA-QTF1 with its slices, interruptions and nested questions.',
      table: omniInteractEvaluateFlags,
    };
  },
  async run(argv, context) {
    const parsed = await flagsOrHelp(argv, omniInteractEvaluateFlags, omniInteractEvaluateCommand, context);
    if (parsed === null) return 0;
    const [given, extra] = parsed.positionals;
    if (given === undefined || extra !== undefined)
      throw new UsageError(
        `accuracy omniinteract evaluate takes one folder of artifacts, got ${parsed.positionals.length}.`,
      );
    const dir = expandHome(given);
    const { io } = context;
    // Lazy, as every command's own work is.
    const { evaluateOmniInteract, evaluationSummaryFile } = await import(
      '../accuracy/omniinteract/evaluate-omniinteract.ts'
    );
    const { accuracyTable } = await import('../accuracy/omniinteract/accuracy-table.ts');
    const { findEvaluationCases } = await import('../accuracy/omniinteract/find-evaluation-cases.ts');
    const options = await judgeOptions(parsed.values, dir);
    const found = findEvaluationCases(dir, parsed.values['dataset-path']);
    const accuracy = await evaluateOmniInteract({
      ...found,
      ...options,
      progress: (done, total) => io.stderr(`judged ${done} of ${total} cases`),
      say: (line) => io.stderr(`note: ${line}`),
    });
    for (const line of accuracyTable(accuracy)) io.stdout(line);
    const summary = join(options.outputDir, evaluationSummaryFile);
    io.stderr(`Evaluation written to ${summary}`);
    if (accuracy.status_reason !== null) io.stderr(`error: ${accuracy.status_reason}`);
    const gated = await judgeGate([summary], parsed.values, io);
    return accuracy.status === 'ok' || gated !== 0 ? gated : 1;
  },
};

/** `omnimeter accuracy omniinteract aggregate RUN …`. */
export const omniInteractAggregateCommand: Command = {
  async help() {
    return {
      usage: 'accuracy omniinteract aggregate RUN … [flags]',
      summary:
        'Pools evaluations, one per subset for instance: adds their true and false positives and false negatives, and computes IA-QTF1 of all. A run is a folder of artifacts, an evaluation folder or its unified_eval_summary.json, or a result JSON of bench serve.',
      table: omniInteractGateFlags,
    };
  },
  async run(argv, context) {
    const parsed = await flagsOrHelp(argv, omniInteractGateFlags, omniInteractAggregateCommand, context);
    if (parsed === null) return 0;
    if (parsed.positionals.length === 0)
      throw new UsageError('accuracy omniinteract aggregate needs at least one run.');
    const { poolEvaluations } = await import('../accuracy/omniinteract/pool-evaluations.ts');
    const pooled = poolEvaluations(
      parsed.positionals.map(expandHome),
      parsed.values['omniinteract-aggregate-min-ia-qtf1'],
    );
    const { pooledTable } = await import('../accuracy/omniinteract/pooled-table.ts');
    for (const line of pooledTable(pooled)) context.io.stdout(line);
    return finish(pooled, parsed.values.json, context.io);
  },
};

/**
 * What the judging flags ask for.
 * @param dir folder of artifacts
 * @throws UsageError without a judge
 * @throws InputFileError for a file of prompts that is none
 */
async function judgeOptions(
  flags: FlagValues<typeof omniInteractJudgeFlags>,
  dir: string,
): Promise<Pick<EvaluationOptions, 'judge' | 'prompts' | 'workers' | 'skipExisting' | 'outputDir'>> {
  const model = flags['omniinteract-judge-model'];
  if (model === null) throw new UsageError('OmniInteract evaluation requires --omniinteract-judge-model');
  const promptsFile = flags['judge-prompts'];
  // Lazy: YAML is read for few.
  const { readPromptsFile } = await import('../accuracy/omniinteract/read-prompts-file.ts');
  return {
    judge: {
      baseUrl: judgeUrl('omniinteract-judge-base-url', flags['omniinteract-judge-base-url']),
      model,
      apiKey: flags['omniinteract-judge-api-key'],
      timeoutS: flags['omniinteract-judge-timeout-s'],
      maxTokens: flags['omniinteract-judge-max-tokens'],
    },
    prompts: promptsFile === null ? null : readPromptsFile(promptsFile),
    workers: flags['omniinteract-eval-workers'],
    skipExisting: flags['omniinteract-eval-skip-existing'],
    outputDir: flags['omniinteract-eval-output-dir'] ?? join(dir, 'evaluation'),
  };
}

async function judgeGate(
  paths: readonly string[],
  flags: FlagValues<typeof omniInteractGateFlags>,
  io: CommandIo,
): Promise<number> {
  const least = flags['omniinteract-aggregate-min-ia-qtf1'];
  if (least === null && flags.json === null) return 0;
  const { poolEvaluations } = await import('../accuracy/omniinteract/pool-evaluations.ts');
  return finish(poolEvaluations(paths, least), flags.json, io);
}

function finish(pooled: PooledAccuracy, json: string | null, io: CommandIo): number {
  const text = JSON.stringify(pooled, null, 2);
  for (const doubt of pooled.warnings) io.stderr(`warning: ${doubt}`);
  if (json === '-') io.stdout(text);
  else if (json !== null) writeText(json, `${text}\n`);
  for (const why of pooled.broken) io.stderr(`FAILED: ${why}`);
  return pooled.broken.length > 0 ? brokenGate : 0;
}

function writeText(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (cause) {
    throw new OutputFileError(`--json: cannot write ${path}: ${messageOf(cause)}.`, { cause });
  }
}
