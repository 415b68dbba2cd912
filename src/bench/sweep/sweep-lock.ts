import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UsageError } from '../../foundation/errors.ts';
import { signalGroup, startTicks } from './process-group.ts';

type Mark = { readonly pid: number; readonly ticks: string | null };

export const sweepLockFile = '.sweep.json';

/**
 * Marks a folder as being worked on, and remembers the processes that work for it: a sweep that is killed by force
 * leaves a server on its port and a benchmark that still writes, which the next one ends.
 */
export class SweepLock {
  readonly #path: string;
  readonly #children = new Map<number, Mark>();

  private constructor(path: string) {
    this.#path = path;
  }

  /**
   * @param report says what was left and is ended now
   * @param elsewhere how to work in another folder
   * @throws UsageError while another one works in the folder
   */
  static take(
    dir: string,
    report: (line: string) => void,
    elsewhere = 'give --experiment-name another name',
  ): SweepLock {
    const path = join(dir, sweepLockFile);
    const left = readMarks(path);
    const [owner, ...children] = left;
    if (owner && owner.pid !== process.pid && isSame(owner))
      throw new UsageError(
        `${dir} is being worked on by process ${owner.pid}. Wait for it, or ${elsewhere}.`,
      );
    for (const child of children) {
      if (!isSame(child)) continue;
      report(`Ending process ${child.pid}, left by a run that was killed.`);
      signalGroup(child.pid, 'SIGKILL');
    }
    mkdirSync(dir, { recursive: true });
    const lock = new SweepLock(path);
    lock.#write();
    return lock;
  }

  /** Remembers the leader of a group. */
  add(pid: number): void {
    if (pid <= 0) return;
    this.#children.set(pid, markOf(pid));
    this.#write();
  }

  remove(pid: number): void {
    if (this.#children.delete(pid)) this.#write();
  }

  release(): void {
    rmSync(this.#path, { force: true });
  }

  #write(): void {
    writeFileSync(this.#path, JSON.stringify([markOf(process.pid), ...this.#children.values()]));
  }
}

function markOf(pid: number): Mark {
  return { pid, ticks: startTicks(pid) };
}

/** The very process that was marked still runs. Where the system cannot tell, it is taken for gone. */
function isSame({ pid, ticks }: Mark): boolean {
  return ticks !== null && startTicks(pid) === ticks;
}

function readMarks(path: string): Mark[] {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (!Array.isArray(value)) return [];
    return value.flatMap((mark: unknown) => {
      if (typeof mark !== 'object' || mark === null || !('pid' in mark) || !('ticks' in mark)) return [];
      const { pid, ticks } = mark;
      return typeof pid === 'number' && typeof ticks === 'string' ? [{ pid, ticks }] : [];
    });
  } catch {
    return [];
  }
}
