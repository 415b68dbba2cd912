import { linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { UsageError } from '../../foundation/errors.ts';
import { benchServeCommand } from '../bench-serve-command.ts';

let dir: string;
let said: string[];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'omnimeter-outputs-'));
  said = [];
});
afterEach(() => rmSync(dir, { recursive: true }));

const io = {
  stdout: (line: string) => void said.push(line),
  stderr: (line: string) => void said.push(line),
  redraw: () => {},
  settle: () => {},
  isTty: false,
  columns: 80,
  onInterrupt: () => {},
};

const prompts = '{"prompt":"a"}\n';
/** Nobody listens at this port; what is refused in time never asks. */
const bench = (name: string, ...more: string[]) => {
  const path = join(dir, name);
  writeFileSync(path, prompts);
  const words = ['--dataset-name', 'custom', '--dataset-path', path, '--model', 'm', '--port', '1'];
  return {
    path,
    ended: benchServeCommand.run([...words, ...more.map((word) => word.replaceAll('DIR', dir))], {
      env: {},
      io,
    }),
  };
};

describe('outputs of bench serve', () => {
  it.each([
    ['rows.jsonl', '--html', ['--html', 'DIR/rows.jsonl']],
    ['rows.jsonl', '--html', ['--html', 'DIR/there/../rows.jsonl']],
    [
      'rows.jsonl',
      '--result-filename',
      ['--save-result', '--result-dir', 'DIR', '--result-filename', 'rows.jsonl'],
    ],
    ['rows.jsonl', '--result-filename', ['--append-result', '--result-filename', 'DIR/rows.jsonl']],
    ['rows.timeline.html', '--result-filename', ['--plot-timeline', '--result-filename', 'DIR/rows.json']],
    [
      'rows.dataset_stats.svg',
      '--result-filename',
      ['--plot-dataset-stats', '--result-filename', 'DIR/rows.json'],
    ],
    ['records.jsonl', '--run-dir', ['--run-dir', 'DIR']],
  ])('never overwrite the dataset %s by %s', async (name, flag, more) => {
    mkdirSync(join(dir, 'there'));
    const { path, ended } = bench(name, ...more);
    await expect(ended).rejects.toThrow(UsageError);
    await expect(ended).rejects.toThrow(new RegExp(`^${flag}: .* is read by this command and would be over`));
    expect(readFileSync(path, 'utf8')).toBe(prompts);
    expect(said).toEqual([]);
  });

  it.each([
    ['link', symlinkSync],
    ['hard link', linkSync],
  ])('know it by a %s too', async (_, link) => {
    writeFileSync(join(dir, 'rows.jsonl'), prompts);
    link(join(dir, 'rows.jsonl'), join(dir, 'page.html'));
    await expect(bench('rows.jsonl', '--html', 'DIR/page.html').ended).rejects.toThrow(/is read by this/);
  });

  it('never overwrite the flags’ file, nor each other', async () => {
    const config = join(dir, 'flags.yaml');
    writeFileSync(config, 'seed: 1\n');
    await expect(bench('r.jsonl', '--config', config, '--html', config).ended).rejects.toThrow(
      /flags\.yaml is read/,
    );
    const both = bench('r.jsonl', '--html', 'DIR/o', '--save-result', '--result-filename', 'DIR/o');
    await expect(both.ended).rejects.toThrow(/^--result-filename: .*o is written by --html too/);
  });
});
