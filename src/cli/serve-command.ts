import { OmnimeterError, UsageError } from '../foundation/errors.ts';
import type { ServeOptions } from '../server/serve-options.ts';
import { type Command, type CommandContext, flagsOrHelp } from './command.ts';
import type { FlagValues } from './flags/flag.ts';
import { allServeFlags, type serveFlags } from './flags/serve/serve-flags.ts';
import { listeningLine } from './listening-line.ts';

/** `omnimeter serve`. */
export const serveCommand: Command = {
  async help() {
    return {
      usage: 'serve MODEL [flags]',
      summary:
        'Serves an omni model with simulated engines: the real API, a real pipeline of stages, and timing laws in place of weights. No GPU, no download.',
      table: allServeFlags,
    };
  },
  async run(argv, context) {
    const parsed = await flagsOrHelp(argv, allServeFlags, serveCommand, context);
    if (parsed === null) return 0;
    const options = serveOptions(parsed.values, parsed.positionals);
    for (const line of effectless(parsed.explicit)) context.io.stderr(`note: ${line}`);
    return options.headless ? work(options, context) : serve(options, context);
  },
};

/** @throws UsageError unless one model is named */
function serveOptions(flags: FlagValues<typeof serveFlags>, positionals: readonly string[]): ServeOptions {
  const [first, extra] = positionals;
  if (extra !== undefined) throw new UsageError(`unexpected argument '${extra}'. serve takes one model.`);
  if (first !== undefined && flags.model !== null && first !== flags.model)
    throw new UsageError(`two models: '${first}' and --model ${flags.model}. Name one.`);
  const model = first ?? flags.model;
  if (model === null)
    throw new UsageError(
      'serve needs a model, e.g. omnimeter serve Qwen/Qwen3-Omni-30B-A3B-Instruct --omni.',
    );
  if (flags['served-model-name'] === '')
    throw new UsageError(
      '--served-model-name is empty: no request could name it. Leave the flag out for the model as given.',
    );
  if (flags['api-key']?.includes('') === true)
    throw new UsageError('--api-key is empty. Leave the flag out for a server that needs no key.');
  return {
    model,
    servedModelName: flags['served-model-name'],
    host: flags.host,
    port: flags.port,
    timeScale: flags['time-scale'],
    stageOverrides: flags['stage-overrides'],
    truthLog: flags['truth-log'],
    logStats: flags['log-stats'],
    asyncChunk: flags['async-chunk'],
    seed: flags.seed,
    deployConfig: flags['deploy-config'],
    platform: flags.device,
    engineFlags: {
      'max-num-seqs': flags['max-num-seqs'],
      'max-num-batched-tokens': flags['max-num-batched-tokens'],
      'max-model-len': flags['max-model-len'],
      'limit-mm-per-prompt': flags['limit-mm-per-prompt'],
    },
    apiKeys: flags['api-key'] ?? [],
    allowedLocalMediaPath: flags['allowed-local-media-path'],
    allowedMediaDomains: flags['allowed-media-domains'],
    maxBodyMb: flags['max-body-mb'],
    faults: flags.fault ?? [],
    duplexScript: flags['duplex-script'],
    stageId: flags['stage-id'],
    headless: flags.headless,
    masterAddress: flags['omni-master-address'],
    masterPort: flags['omni-master-port'],
    heartbeatTimeoutS: flags['omni-heartbeat-timeout'],
    replicasHere: flags['omni-dp-size-local'],
  };
}

function effectless(explicit: ReadonlySet<string>): string[] {
  const names = [...explicit].filter((name) => allServeFlags[name]?.belongsTo !== undefined);
  if (names.length === 0) return [];
  return [`engines are simulated, so these have no effect: ${names.map((name) => `--${name}`).join(' ')}`];
}

async function serve(options: ServeOptions, { io }: CommandContext): Promise<number> {
  // Lazy: the server's libraries are not needed to find a mistake in the flags, or to show help.
  const { startServer } = await import('../server/start-server.ts');
  const server = await startServer(options, { logLine: io.stdout }).catch((error: unknown) => {
    throw asUsageError(error, options);
  });
  for (const notice of server.notices) io.stderr(`note: ${notice}`);
  io.stdout(
    `${server.servedModelName}: pipeline ${server.pipelineName} on simulated engines, time scale ${options.timeScale}`,
  );
  const stopped = new Promise<void>((resolve) => {
    io.onInterrupt(resolve);
    // Started with a channel (see server-process.ts): a parent that is gone wants no server.
    if (process.connected) process.once('disconnect', resolve);
  });
  io.stdout(listeningLine(server.url));
  await stopped;
  await server.close();
  return 0;
}

/** Runs a stage for a server elsewhere, until interrupted. */
async function work(options: ServeOptions, { io }: CommandContext): Promise<number> {
  const { startWorker } = await import('../server/start-worker.ts');
  const worker = await startWorker(options, io.stdout).catch((error: unknown) => {
    throw asUsageError(error, options);
  });
  for (const notice of worker.notices) io.stderr(`note: ${notice}`);
  const stopped = new Promise<void>((resolve) => {
    io.onInterrupt(resolve);
    if (process.connected) process.once('disconnect', resolve);
  });
  try {
    await Promise.race([stopped, worker.ended]);
  } finally {
    await worker.close();
  }
  return 0;
}

/** Problems that another flag would mend: an unknown model, an address that cannot be had. */
function asUsageError(error: unknown, { host, port }: ServeOptions): unknown {
  if (error instanceof OmnimeterError) return new UsageError(error.message, { cause: error });
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const why = typeof code === 'string' ? addressProblems[code] : undefined;
  if (why === undefined) return error;
  return new UsageError(`cannot listen on ${host}:${port}: ${why}`, { cause: error });
}

const addressProblems: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is taken. Choose another with --port, or --port 0 for any free one.',
  EACCES: 'the port needs privileges. Choose one above 1023 with --port.',
  EADDRNOTAVAIL: 'this host does not have that address. Choose another with --host.',
  ENOTFOUND: 'there is no such host. Choose an address of this host with --host.',
};
