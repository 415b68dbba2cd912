import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { growFileTable } from './file-table.ts';

const linux = existsSync('/proc/self/status');

/** Slots of the process's table of open files, as the kernel says. */
function tableSize(): number {
  return Number(/^FDSize:\s*(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]);
}

describe.runIf(linux)('growFileTable', () => {
  test('makes room in the kernel and leaves no file open', () => {
    const openBefore = readdirSync('/proc/self/fd').length;
    growFileTable(700);
    expect(tableSize()).toBeGreaterThanOrEqual(764);
    expect(readdirSync('/proc/self/fd').length).toBe(openBefore);
  });

  test('goes as far as the limit of open files allows', () => {
    expect(() => growFileTable(2 ** 40)).not.toThrow();
    expect(readdirSync('/proc/self/fd').length).toBeLessThan(700);
  });
});
