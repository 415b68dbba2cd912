import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { benchServeFlags } from './bench-serve/bench-serve-flags.ts';
import { readConfigFile } from './config-file.ts';

function fileOf(yaml: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'omnimeter-config-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'bench.yaml');
  writeFileSync(file, yaml);
  return file;
}

test('a flag given twice under two spellings is told, not chosen from', async () => {
  const file = fileOf('num_prompts: 3\nnum-prompts: 5\n');
  await expect(readConfigFile(file, benchServeFlags)).rejects.toThrow(
    `${file}: num-prompts: the file gives num-prompts already as num_prompts. Leave one of them out.`,
  );
});

test('a map and single members of one flag go together', async () => {
  const file = fileOf('extra-body: {a: 1}\nextra_body.b: 2\n');
  expect((await readConfigFile(file, benchServeFlags)).get('extra-body')).toEqual({ a: 1, b: 2 });
});
