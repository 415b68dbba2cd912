import type { EvalSample } from '../accuracy/duplex-eval/eval-sample.ts';
import { UsageError } from '../foundation/errors.ts';
import { type Command, type CommandContext, flagsOrHelp } from './command.ts';
import { duplexEvalFlags } from './flags/duplex-eval/duplex-eval-flags.ts';
import type { FlagValues } from './flags/flag.ts';
import { judgeUrl } from './judge-url.ts';

type Flags = FlagValues<typeof duplexEvalFlags>;

const steps = ['generate', 'evaluate', 'summarize'] as const;

/** `omnimeter bench omni-duplex-eval generate|evaluate|summarize`. */
export const duplexEvalCommand: Command = {
  async help() {
    return {
      usage: 'bench omni-duplex-eval STEP [flags]',
      summary:
        'Omni-DuplexEval, in three steps: generate plays the videos to a full-duplex model and writes what it says and when; evaluate lets a judge score it; summarize sums the scores up.',
      table: duplexEvalFlags,
    };
  },
  async run(argv, context) {
    const parsed = await flagsOrHelp(argv, duplexEvalFlags, duplexEvalCommand, context);
    if (parsed === null) return 0;
    const [step, extra] = parsed.positionals;
    const chosen = steps.find((each) => each === step);
    if (chosen === undefined || extra !== undefined)
      throw new UsageError(
        `bench omni-duplex-eval takes one step, ${steps.join(', ')}; got ${parsed.positionals.join(' ') || 'none'}.`,
      );
    if (chosen === 'generate') return generateStep(parsed.values, context);
    if (chosen === 'evaluate') return evaluateStep(parsed.values, context);
    // Lazy, as every step's own work is.
    const { summarize } = await import('../bench/duplex-eval/summarize.ts');
    return summarize(needed(parsed.values, 'score-root', 'summarize'), context.io);
  },
};

async function generateStep(flags: Flags, context: CommandContext): Promise<number> {
  const { env, io } = context;
  const refAudio = needed(flags, 'ref-audio', 'generate');
  const responseRoot = needed(flags, 'response-root', 'generate');
  const { generate } = await import('../bench/duplex-eval/generate.ts');
  const key = env.OPENAI_API_KEY;
  return generate(
    {
      samples: await samples(flags, context),
      url: flags.url,
      model: flags.model,
      refAudio,
      responseRoot,
      fps: flags.fps,
      isRealtime: flags.pace === 'realtime',
      concurrency: flags.concurrency,
      overwrite: flags.overwrite,
      headers: key ? [['Authorization', `Bearer ${key}`]] : [],
      env,
    },
    io,
  );
}

async function evaluateStep(flags: Flags, context: CommandContext): Promise<number> {
  const model = needed(flags, 'judge-model', 'evaluate');
  const responseRoot = needed(flags, 'response-root', 'evaluate');
  const scoreRoot = needed(flags, 'score-root', 'evaluate');
  const baseUrl = judgeUrl('judge-base-url', flags['judge-base-url']);
  const { evaluate } = await import('../bench/duplex-eval/evaluate.ts');
  return evaluate(
    {
      samples: await samples(flags, context),
      responseRoot,
      scoreRoot,
      judge: { baseUrl, model, apiKey: flags['judge-api-key'] },
      videoMode: flags['judge-video-mode'],
      judgeFps: flags['judge-fps'],
      windowS: flags['window-size'],
      allowInvalidClock: flags['allow-invalid-clock'],
      workers: flags['eval-workers'],
      overwrite: flags.overwrite,
    },
    context.io,
  );
}

async function samples(flags: Flags, { env, io }: CommandContext): Promise<EvalSample[]> {
  const { evalSamples } = await import('../bench/duplex-eval/eval-samples.ts');
  const { dataset, split, family, limit } = flags;
  return await evalSamples(
    { dataset, mediaRoot: flags['media-root'], choice: { split, family, ids: flags.ids ?? [], limit } },
    { env, note: (line) => io.stderr(`note: ${line}`) },
  );
}

function needed(
  flags: Flags,
  name: 'ref-audio' | 'response-root' | 'score-root' | 'judge-model',
  step: string,
): string {
  const value = flags[name];
  if (value === null) throw new UsageError(`bench omni-duplex-eval ${step} requires --${name}.`);
  return value;
}
