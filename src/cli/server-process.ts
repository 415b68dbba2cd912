import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { EndpointUnavailableError } from '../foundation/errors.ts';
import { serverUrlIn } from './listening-line.ts';

/** An embedded server in a process of its own. */
export type ServerProcess = {
  readonly url: string;
  readonly port: number;
  /** Ends the process and waits until it is gone. */
  stop(): Promise<void>;
};

/** How long a server may take to listen, ms: seconds on a slow machine with a cold disk. */
const startLimitMs = 30_000;
/** How long an orderly end may take, ms. */
const stopLimitMs = 3000;

/**
 * Starts `omnimeter serve` beside this process and waits until it answers.
 * It has a channel to this process and ends when that closes, so that it cannot outlive a parent that is killed.
 * @param flags what follows `serve`
 * @throws EndpointUnavailableError with what the server printed, when it ends or stays silent
 */
export async function startServerProcess(flags: readonly string[]): Promise<ServerProcess> {
  const program = process.argv[1] ?? '';
  const child = spawn(process.execPath, [...process.execArgv, program, 'serve', ...flags], {
    // Detached: Ctrl-C must reach the benchmark alone, which lets open requests end first.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const stop = async (): Promise<void> => {
    await ended(child);
    process.off('exit', kill);
  };
  try {
    const url = await listening(child);
    await answers(url);
    return { url, port: Number(new URL(url).port), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function listening(child: ChildProcess): Promise<string> {
  const printed: string[] = [];
  return new Promise((resolve, reject) => {
    const fail = (why: string): void =>
      reject(new EndpointUnavailableError([`the embedded server ${why}.`, ...printed].join('\n')));
    const timer = setTimeout(() => fail(`did not listen within ${startLimitMs / 1000} s`), startLimitMs);
    child.once('error', (error) => fail(`could not be started (${error.message})`));
    child.once('exit', (code, signal) => {
      clearTimeout(timer);
      fail(`ended at once (${signal ?? `exit code ${code}`})`);
    });
    for (const stream of [child.stdout, child.stderr]) {
      if (!stream) continue;
      createInterface({ input: stream }).on('line', (line) => {
        const url = serverUrlIn(line);
        printed.push(line);
        if (url === null) return;
        clearTimeout(timer);
        resolve(url);
      });
    }
  });
}

async function answers(url: string): Promise<void> {
  const reply = await fetch(`${url}/health`, { signal: AbortSignal.timeout(startLimitMs) }).catch(
    (error: unknown) => {
      throw new EndpointUnavailableError(`the embedded server does not answer ${url}/health.`, {
        cause: error,
      });
    },
  );
  await reply.body?.cancel();
  if (!reply.ok)
    throw new EndpointUnavailableError(`the embedded server answers ${url}/health with ${reply.status}.`);
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), stopLimitMs);
    child.once('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    child.kill('SIGTERM');
  });
}
