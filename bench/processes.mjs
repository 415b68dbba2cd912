// Processes of a benchmark: pinned to a core of their own, in a scheduling group of their own, with what they cost.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';

/** Cores of the two sides; a machine with one core has to share it. */
export const cores = { server: 0, client: Math.min(1, os.availableParallelism() - 1) };

const taskset = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'taskset'))
  .find((path) => existsSync(path));

/** Whether processes are pinned at all. */
export const pins = taskset !== undefined;

const running = new Set();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130));

function start(command, args, core) {
  const [file, all] = taskset ? [taskset, ['-c', String(core), command, ...args]] : [command, args];
  // Detached: a session of its own is a scheduling group of its own on Linux.
  const child = spawn(file, all, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  child.once('exit', () => running.delete(child));
  prefer(child.pid);
  return child;
}

/** Puts a process before others of the machine, where that is allowed; other work then disturbs it less. */
function prefer(pid) {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, '-20');
  } catch {
    // Not Linux, not root, or no such groups: it runs like any other.
  }
}

/** CPU seconds of children that have ended, theirs included; `null` where the system does not say. */
function endedChildrenCpuS() {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // Clock ticks are hundredths of a second in all of Linux's user space.
    return (Number(fields[13]) + Number(fields[14])) / 100;
  } catch {
    return null;
  }
}

/** CPU seconds of a process so far; `null` where the system does not say. */
function cpuSOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return null;
  }
}

function peakRssBytes(pid) {
  try {
    const kib = /^VmHWM:\s*(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kib === undefined ? null : Number(kib) * 1024;
  } catch {
    return null;
  }
}

/**
 * Runs a client to its end.
 * @returns what it said and cost: CPU of the whole process from start to exit, and the highest memory that was seen
 * @throws where it ends badly or takes too long
 */
export async function runClient(command, args, limitS = 120) {
  const cpuBeforeS = endedChildrenCpuS();
  const startedMs = performance.now();
  const child = start(command, args, cores.client);
  let peakBytes = null;
  const watch = setInterval(() => {
    peakBytes = peakRssBytes(child.pid) ?? peakBytes;
  }, 20);
  const limit = setTimeout(() => child.kill('SIGKILL'), limitS * 1000);
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) {
    child[name].setEncoding('utf8');
    child[name].on('data', (text) => {
      output[name] += text;
    });
  }
  const exitCode = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  clearInterval(watch);
  clearTimeout(limit);
  if (exitCode !== 0) {
    throw new Error(`${command} ${args.join(' ')} ended with ${exitCode ?? 'a signal'}: ${output.stderr}`);
  }
  const cpuAfterS = endedChildrenCpuS();
  return {
    ...output,
    wallS: (performance.now() - startedMs) / 1000,
    cpuS: cpuBeforeS === null || cpuAfterS === null ? null : cpuAfterS - cpuBeforeS,
    peakRssBytes: peakBytes,
  };
}

/** Starts a server, and waits for the first of its lines that `ready` makes something of. */
async function startServer(args, ready) {
  const child = start(process.execPath, args, cores.server);
  let said = '';
  child.stderr.setEncoding('utf8');
  child.stderr.on('data', (text) => {
    said += text;
  });
  const stop = () =>
    new Promise((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) resolve();
      else {
        child.once('exit', () => resolve());
        child.kill('SIGTERM');
      }
    });
  for await (const line of createInterface({ input: child.stdout })) {
    const found = ready(line);
    if (found === null) continue;
    child.stdout.resume();
    return { found, stop, cpuS: () => cpuSOf(child.pid) };
  }
  throw new Error(`${args.join(' ')} ended before it listened: ${said}`);
}

/** The raw source of event streams. @param {{ events: number, perSecond: number }} plan 0 per second = no pace */
export async function startSource({ events, perSecond }) {
  const script = new URL('sse-source.mjs', import.meta.url).pathname;
  const args = [script, '--events', String(events), '--per-second', String(perSecond)];
  const { found: port, stop, cpuS } = await startServer(args, (line) => JSON.parse(line).port);
  return { port, url: `http://127.0.0.1:${port}`, stop, cpuS };
}

/** The encoder that audio is compared with. @param {{ events: number, bytes: number, everyMs: number }} plan */
export async function startBase64Source({ events, bytes, everyMs }) {
  const script = new URL('base64-source.mjs', import.meta.url).pathname;
  const args = ['--events', String(events), '--bytes', String(bytes), '--every-ms', String(everyMs)];
  const { found: port, stop, cpuS } = await startServer([script, ...args], (line) => JSON.parse(line).port);
  return { url: `http://127.0.0.1:${port}`, stop, cpuS };
}

/** The embedded server. @param {readonly string[]} args of `omnimeter serve` */
export async function startEmbeddedServer(cli, args) {
  const {
    found: url,
    stop,
    cpuS,
  } = await startServer(
    [cli, 'serve', ...args, '--port', '0'],
    (line) => /http:\/\/[^\s]+/.exec(line)?.[0] ?? null,
  );
  return { url, stop, cpuS };
}
