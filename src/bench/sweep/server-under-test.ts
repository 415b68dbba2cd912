import { EndpointUnavailableError, messageOf } from '../../foundation/errors.ts';
import { type GroupProcess, startGroup } from './process-group.ts';
import { type SweepCommand, startWords } from './sweep-options.ts';

/** Between two looks at a server that is starting, ms. */
const pollMs = 250;
/** How long one call of the server's housekeeping may take, ms. */
const callMs = 30_000;
/** What vLLM offers in its development mode; other servers have some or none of it. */
const resetPaths = ['/reset_prefix_cache', '/reset_mm_cache', '/reset_encoder_cache'];

/** Where a server's command makes it listen, by its flags; vLLM's defaults. */
export function serverUrl(words: readonly string[]): string {
  const flagValue = (flags: readonly string[]): string | null => {
    for (const [i, word] of words.entries()) {
      const [name = '', ...rest] = word.split('=');
      if (flags.includes(name)) return rest.length > 0 ? rest.join('=') : (words[i + 1] ?? null);
    }
    return null;
  };
  const host = flagValue(['--host']) ?? '127.0.0.1';
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  const port = flagValue(['--port', '-p']) ?? '8000';
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

/** A server that the sweep started, or one that was there. */
export type ServerUnderTest = {
  /** Empties its caches, as far as it can. */
  resetCaches(): Promise<void>;
  stop(): Promise<void>;
};

/**
 * Starts a server and waits until it answers `GET /health` with 200.
 * @param onStart hears of the process before it is ready
 * @throws EndpointUnavailableError when it ends, stays silent, or another server holds its address
 */
export async function startServer(
  command: SweepCommand,
  words: readonly string[],
  options: {
    readonly readyTimeoutS: number;
    readonly show: boolean;
    readonly note: (line: string) => void;
    readonly onStart: (group: GroupProcess) => void;
  },
): Promise<ServerUnderTest> {
  const url = serverUrl(words);
  if (await isHealthy(url))
    throw new EndpointUnavailableError(
      `a server already answers at ${url}, so that the one of this sweep could not be told from it. Stop it, or give --serve-cmd another --port.`,
    );
  const group = startGroup(startWords(command, words), {
    env: { ...process.env, VLLM_SERVER_DEV_MODE: '1' },
    show: options.show,
    tied: command.program !== null,
  });
  options.onStart(group);
  try {
    await ready(group, url, options.readyTimeoutS);
  } catch (error) {
    await group.stop();
    throw error;
  }
  return { resetCaches: () => resetCaches(url, options.note), stop: () => group.stop() };
}

/** A server that was running before: it is not the sweep's to stop, nor are its caches to empty. */
export function runningServer(note: (line: string) => void): ServerUnderTest {
  return {
    resetCaches: async () => note("the server is not this sweep's: what it caches stays from run to run."),
    stop: async () => {},
  };
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    const reply = await fetch(`${url}/health`, { signal: AbortSignal.timeout(callMs) });
    await reply.body?.cancel();
    return reply.status === 200;
  } catch {
    return false;
  }
}

async function ready(group: GroupProcess, url: string, timeoutS: number): Promise<void> {
  const deadline = performance.now() + timeoutS * 1000;
  while (!(await isHealthy(url))) {
    const tail = (): string => group.lastLines().join('\n');
    if (!group.isRunning()) {
      const { code, error } = await group.ended;
      throw new EndpointUnavailableError(
        `the server ended before it was ready (${error ?? `exit code ${code}`}).\n${tail()}`.trimEnd(),
      );
    }
    if (performance.now() > deadline)
      throw new EndpointUnavailableError(
        `the server did not answer ${url}/health within ${timeoutS} s. Give --server-ready-timeout more, or check the command's --host and --port.\n${tail()}`.trimEnd(),
      );
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

/** Calls that a server does not have are noted; one that refuses them has failed. */
async function resetCaches(url: string, note: (line: string) => void): Promise<void> {
  const missing: string[] = [];
  for (const path of resetPaths) {
    const reply = await fetch(url + path, { method: 'POST', signal: AbortSignal.timeout(callMs) }).catch(
      (error: unknown) => {
        throw new EndpointUnavailableError(`POST ${url}${path}: ${messageOf(error)}`, { cause: error });
      },
    );
    await reply.body?.cancel();
    if (reply.ok) continue;
    if (![404, 405, 501].includes(reply.status))
      throw new EndpointUnavailableError(
        `POST ${url}${path} was answered with ${reply.status}: the caches are not empty. Give --after-bench-cmd what empties them.`,
      );
    missing.push(path);
  }
  if (missing.length > 0)
    note(`the server has no ${missing.join(', ')}: caches that they would empty stay from run to run.`);
}
