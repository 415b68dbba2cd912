import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { sanitizeForTerminal } from '../../report/sanitize-for-terminal.ts';

/** Lines of a process's output that are kept for the message when it fails. */
const keptLines = 30;
/** How long processes may take to end themselves, ms. */
const graceMs = 5000;

/** A process that leads a group of its own, so that all its children can be ended with it. */
export type GroupProcess = {
  readonly pid: number;
  /** Resolves when the process has ended; never rejects. */
  readonly ended: Promise<{ readonly code: number; readonly error: string | null }>;
  isRunning(): boolean;
  /** The last lines that it printed, as a terminal may show them. */
  lastLines(): string[];
  /** Asks the process alone to end. */
  signal(signal: NodeJS.Signals): void;
  /** Ends the whole group, by force where it does not end itself. */
  stop(): Promise<void>;
};

/**
 * Starts a process in a group of its own.
 * @param options.show prints what it prints; otherwise only its last lines are kept
 * @param options.onOutput hears all that it prints, where that is not shown
 * @param options.tied gives it a channel that closes with this process; `omnimeter serve` ends then
 */
export function startGroup(
  words: readonly string[],
  options: {
    readonly env: NodeJS.ProcessEnv;
    readonly show: boolean;
    readonly tied: boolean;
    readonly onOutput?: (text: string) => void;
  },
): GroupProcess {
  const [file = '', ...args] = words;
  const output = options.show ? 'inherit' : 'pipe';
  const stdio: ('ignore' | 'inherit' | 'pipe' | 'ipc')[] = ['ignore', output, output];
  if (options.tied) stdio.push('ipc');
  const child = spawn(file, args, { detached: true, stdio, env: options.env });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', keepLines(lines));
    if (options.onOutput) stream?.on('data', options.onOutput);
  }
  let running = true;
  const pid = child.pid ?? -1;
  // However this process ends itself, nothing that it started stays behind.
  const kill = (): void => signalGroup(pid, 'SIGKILL');
  process.once('exit', kill);
  const ended = new Promise<{ code: number; error: string | null }>((resolve) => {
    const end = (code: number, error: string | null): void => {
      running = false;
      process.off('exit', kill);
      resolve({ code, error });
    };
    child.once('error', (error) => end(127, error.message));
    child.once('close', (code, signal) => end(code ?? 128 + (signal ? constants.signals[signal] : 0), null));
  });
  return {
    pid,
    ended,
    isRunning: () => running && child.exitCode === null && child.signalCode === null,
    lastLines: () => lines.slice(-keptLines).map((line) => sanitizeForTerminal(line, 500)),
    signal: (signal) => void (running && child.kill(signal)),
    stop: () => stopGroup(child, pid, ended),
  };
}

function keepLines(lines: string[]): (text: string) => void {
  let rest = '';
  return (text) => {
    const parts = (rest + text).split('\n');
    // A server may print for hours; a line without an end must not grow for ever.
    rest = (parts.pop() ?? '').slice(-10_000);
    lines.push(...parts);
    if (lines.length > 4 * keptLines) lines.splice(0, lines.length - keptLines);
  };
}

async function stopGroup(child: ChildProcess, pid: number, ended: Promise<unknown>): Promise<void> {
  signalGroup(pid, 'SIGTERM');
  await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, graceMs).unref())]);
  // The leader may be gone while its workers hold memory and ports.
  signalGroup(pid, 'SIGKILL');
  if (child.connected) child.disconnect();
  await ended;
}

/** Sends a signal to all of a group; one that is gone is no error. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  if (pid <= 0) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code !== 'ESRCH' && code !== 'EPERM') throw error;
  }
}

/**
 * When a process started, in the kernel's ticks: tells it from a later one of the same number. `null` = it has ended,
 * or the system does not say.
 */
export function startTicks(pid: number): string | null {
  try {
    // After the name in parentheses, which may hold blanks: the state, and the start time as the 20th field.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return fields[0] === 'Z' ? null : (fields[19] ?? null);
  } catch {
    return null;
  }
}
