import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FolderLock } from './folder-lock.ts';

let dir: string;
let notes: string[];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'omnimeter-lock-'));
  notes = [];
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const take = (stopped: () => boolean = () => false) =>
  FolderLock.take(dir, { stopped, note: (line) => notes.push(line) });
const lockPath = (): string => join(dir, '.omniinteract.lock');

describe('a folder’s lock', () => {
  it('is one run’s at a time, and then the next one’s', async () => {
    const first = await take();
    let second: FolderLock | null = null;
    const waiting = take().then((lock) => {
      second = lock;
    });
    await expect.poll(() => notes.length).toBe(1);
    expect(second).toBeNull();
    expect(notes[0]).toContain(`waiting for process ${process.pid}`);
    first?.release();
    await waiting;
    expect(second).not.toBeNull();
    expect(readdirSync(dir)).toEqual(['.omniinteract.lock']);
    await waiting;
    rmSync(lockPath());
    expect(readdirSync(dir)).toEqual([]);
  });

  it('is not waited for by a user who leaves', async () => {
    const first = await take();
    expect(await take(() => notes.length > 0)).toBeNull();
    expect(existsSync(lockPath())).toBe(true);
    first?.release();
  });

  it('is taken from a process that was killed', async () => {
    const child = spawn('sleep', ['60']);
    const { pid = 0 } = child;
    const owner = { host: hostname(), pid, ticks: null, token: 'x' };
    writeFileSync(lockPath(), JSON.stringify(owner));
    expect(await take(() => notes.length > 0)).toBeNull();
    const gone = new Promise((resolve) => child.on('exit', resolve));
    child.kill('SIGKILL');
    await gone;
    expect(await take()).not.toBeNull();
    expect(JSON.parse(readFileSync(lockPath(), 'utf8')).pid).toBe(process.pid);
  });

  it.runIf(existsSync('/proc/self/stat'))(
    'is taken from a process whose number another has now',
    async () => {
      const owner = { host: hostname(), pid: process.pid, ticks: '1', token: 'x' };
      writeFileSync(lockPath(), JSON.stringify(owner));
      expect(await take()).not.toBeNull();
    },
  );

  it('is left to another host, which can’t be asked', async () => {
    writeFileSync(lockPath(), JSON.stringify({ host: 'elsewhere', pid: 1, ticks: null, token: 'x' }));
    expect(await take(() => notes.length > 0)).toBeNull();
    expect(notes[0]).toContain('on elsewhere');
  });

  it('is taken where it says nothing', async () => {
    writeFileSync(lockPath(), '');
    expect(await take()).not.toBeNull();
  });

  it('is not released by who lost it', async () => {
    const lock = await take();
    writeFileSync(lockPath(), 'of another');
    lock?.release();
    expect(readFileSync(lockPath(), 'utf8')).toBe('of another');
  });
});
