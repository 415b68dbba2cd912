import { linkSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { checkOutputs } from './check-outputs.ts';

const folder = mkdtempSync(join(tmpdir(), 'omnimeter-outputs-'));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);
writeFileSync(at('in'), 'x');
writeFileSync(at('old'), 'y');
symlinkSync(at('in'), at('soft'));
linkSync(at('in'), at('hard'));

const check = (...paths: string[]) =>
  checkOutputs(
    paths.map((path, i) => ({ flag: `--f${i}`, path })),
    [at('in')],
  );

describe('checkOutputs', () => {
  it('lets new files and files that are not read be written', () => {
    expect(() =>
      check(at('new'), at('old'), at('in.json'), at('in/below'), '/dev/null', '/dev/null'),
    ).not.toThrow();
  });

  it.each([at('in'), at('soft'), at('hard'), relative('.', at('in'))])('refuses the input %s', (path) => {
    expect(() => check(at('new'), path)).toThrow(/--f1: .* is read by this command/);
  });

  it('refuses two outputs into one file, there or not', () => {
    expect(() => check(at('new'), at('new'))).toThrow(/--f1: .* is written by --f0 too/);
    expect(() => check(at('old'), relative('.', at('old')))).toThrow(/written by --f0 too/);
  });
});
