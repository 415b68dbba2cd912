import { EndpointUnavailableError } from '../../foundation/errors.ts';
import { type GroupProcess, startGroup } from '../sweep/process-group.ts';
import { serverUrl } from '../sweep/server-under-test.ts';
import { type SweepCommand, startWords } from '../sweep/sweep-options.ts';
import type { CaseServer } from './case-file.ts';
import type { LogFile } from './log-file.ts';

/** Between two looks at a server that is starting, ms. */
const pollMs = 250;
const callMs = 10_000;

/** A server of a case file that runs. */
export type RunningServer = {
  readonly server: CaseServer;
  isRunning(): boolean;
  /** Ends it with all that it started. */
  stop(): Promise<void>;
};

/** Where a server says that it is ready. */
export function healthUrl({ url, words, healthPath }: CaseServer): string {
  return `${(url ?? serverUrl(words)).replace(/\/+$/, '')}${healthPath}`;
}

/**
 * Starts a server in a group of its own and waits until it answers.
 * @param onStart hears of the process before it is ready
 * @throws EndpointUnavailableError when it ends, stays silent, or another server holds its address
 */
export async function startCaseServer(
  server: CaseServer,
  command: SweepCommand,
  around: { readonly log: LogFile; readonly onStart: (group: GroupProcess) => void },
): Promise<RunningServer> {
  const url = healthUrl(server);
  if (await answers(url))
    throw new EndpointUnavailableError(
      `server '${server.name}': something answers at ${url} already, so that this one could not be told from it. Stop it, or give the server another port.`,
    );
  const group = startGroup(startWords(command, server.words), {
    env: { ...process.env, ...server.env },
    show: false,
    tied: command.program !== null,
    onOutput: (text) => around.log.write(text),
  });
  around.onStart(group);
  const stop = async (): Promise<void> => {
    await group.stop();
    around.log.close();
  };
  try {
    await ready(server, group, url, around.log.path);
  } catch (error) {
    await stop();
    throw error;
  }
  return { server, isRunning: () => group.isRunning(), stop };
}

async function answers(url: string): Promise<boolean> {
  try {
    const reply = await fetch(url, { signal: AbortSignal.timeout(callMs) });
    await reply.body?.cancel();
    return reply.status === 200;
  } catch {
    return false;
  }
}

async function ready(server: CaseServer, group: GroupProcess, url: string, log: string): Promise<void> {
  const deadline = performance.now() + server.readyTimeoutS * 1000;
  while (!(await answers(url))) {
    const tail = (): string => [`Log: ${log}`, ...group.lastLines()].join('\n');
    if (!group.isRunning()) {
      const { code, error } = await group.ended;
      throw new EndpointUnavailableError(
        `server '${server.name}' ended before it was ready (${error ?? `exit code ${code}`}).\n${tail()}`,
      );
    }
    if (performance.now() > deadline)
      throw new EndpointUnavailableError(
        `server '${server.name}' did not answer ${url} within ${server.readyTimeoutS} s (ready_timeout_s).\n${tail()}`,
      );
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
