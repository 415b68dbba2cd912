// What the figures were measured on, and with.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';

function firstLine(command, args) {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return null;
  }
}

/** A Python that has aiohttp; Debian's own may, where the first on the PATH has not. */
export function pythonWithAiohttp() {
  const ask = 'import aiohttp, sys; print(sys.executable, sys.version.split()[0], aiohttp.__version__)';
  for (const command of ['python3', '/usr/bin/python3']) {
    const said = firstLine(command, ['-c', ask]);
    if (said === null) continue;
    const [path, python, aiohttp] = said.split(' ');
    return { path, python, aiohttp };
  }
  return null;
}

/** Share of all processors that is idle during a second; `null` where the system does not say. */
export async function idleRatio() {
  const read = () => {
    try {
      const [user, nice, system, idle, iowait, irq, softirq, steal] = readFileSync('/proc/stat', 'utf8')
        .split('\n', 1)[0]
        .split(/ +/)
        .slice(1)
        .map(Number);
      return { idle: idle + iowait, all: user + nice + system + idle + iowait + irq + softirq + steal };
    } catch {
      return null;
    }
  };
  const before = read();
  await wait(1000);
  const after = read();
  return before && after ? (after.idle - before.idle) / (after.all - before.all) : null;
}

/** @param {ReturnType<typeof pythonWithAiohttp>} python */
export function machineInfo(python) {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return {
    cpu: os.cpus()[0]?.model.trim() ?? 'unknown',
    cores: os.availableParallelism(),
    memoryGib: Math.round(os.totalmem() / 2 ** 30),
    system: `${os.type()} ${os.release()} ${os.arch()}`,
    node: process.version,
    omnimeter: version,
    commit: firstLine('git', ['rev-parse', '--short', 'HEAD']),
    python: python && { python: python.python, aiohttp: python.aiohttp },
  };
}
