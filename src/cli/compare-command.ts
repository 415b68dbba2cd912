import { UsageError } from '../foundation/errors.ts';
import { parseGate } from '../report/compare/gate.ts';
import { type Command, flagsOrHelp } from './command.ts';
import { compareFlags } from './flags/compare/compare-flags.ts';
import { expandHome } from './flags/flag-value.ts';

const summary =
  'Compares runs with a baseline: per metric the change, an interval from resampling the requests, and whether it is more than scatter, with the error controlled over all metrics. A side is a run folder, a result JSON (of omnimeter, vllm bench or SGLang), a file of results line by line, a folder of a sweep, or several of them separated by commas.';

const outputFlags = ['--json', '--markdown', '--html', '--junit'];

/** `omnimeter compare BASELINE CANDIDATE …`. */
export const compareCommand: Command = {
  async help() {
    return { usage: 'compare BASELINE CANDIDATE … [flags]', summary, table: compareFlags };
  },
  async run(argv, context) {
    const parsed = await flagsOrHelp(withStandardOutput(argv), compareFlags, compareCommand, context);
    if (parsed === null) return 0;
    const { values: flags, positionals } = parsed;
    if (positionals.length < 2)
      throw new UsageError(
        `compare needs a baseline and at least one candidate, got ${positionals.length === 0 ? 'none' : `only '${positionals[0]}'`}: omnimeter compare A B.`,
      );
    const familyError = flags['family-error'];
    if (!(familyError > 0 && familyError <= 0.5))
      throw new UsageError(`--family-error: ${familyError} is no probability over 0 and at most 0.5.`);
    const gates = [
      ...(flags['fail-on'] ?? []).map((text) => parseGate('fail-on', text)),
      ...(flags.threshold ?? []).map((text) => parseGate('threshold', text)),
    ];
    // Lazy, as every command's own work is.
    const { runCompare } = await import('../bench/compare/run-compare.ts');
    const { exitCode } = await runCompare(
      {
        sides: positionals.map(expandHome),
        gates,
        significantOnly: flags['significant-only'],
        failOnRegression: flags['fail-on-regression'],
        familyError,
        seed: flags.seed,
        outputs: { json: flags.json, markdown: flags.markdown, html: flags.html, junit: flags.junit },
        stepSummary: context.env.GITHUB_STEP_SUMMARY || null,
      },
      context.io,
    );
    return exitCode;
  },
};

/** `--json` and its like without a file, before another flag or at the end, mean standard output. */
function withStandardOutput(argv: readonly string[]): string[] {
  return argv.map((token, i) => {
    const next = argv[i + 1];
    const bare = next === undefined || (next.startsWith('--') && next !== '-');
    return outputFlags.includes(token) && bare ? `${token}=-` : token;
  });
}
