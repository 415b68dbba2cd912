import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { TokenizerFileRole, TokenizerSource } from './tokenizer.ts';

/** The files a tokenizer may consist of, by the names that models publish them under. */
export const tokenizerFileNames = {
  tokenizer: 'tokenizer.json',
  config: 'tokenizer_config.json',
  chatTemplate: 'chat_template.jinja',
  chatTemplateJson: 'chat_template.json',
} as const satisfies Partial<Record<TokenizerFileRole, string>>;

/** What lies at a path, or `null`. */
export function kindOfPath(path: string): 'file' | 'folder' | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  return stats.isDirectory() ? 'folder' : 'file';
}

function filesBeside(folder: string): Partial<Record<TokenizerFileRole, string>> {
  const files: Partial<Record<TokenizerFileRole, string>> = {};
  for (const [role, name] of Object.entries(tokenizerFileNames) as [TokenizerFileRole, string][]) {
    const path = join(folder, name);
    if (kindOfPath(path) === 'file') files[role] = path;
  }
  return files;
}

/**
 * The tokenizer in a folder, or the one a tokenizer.json stands for; its companions are taken from beside it.
 * @returns `null` where nothing there is a tokenizer
 */
export function tokenizerAtPath(path: string, id: string): TokenizerSource | null {
  const kind = kindOfPath(path);
  if (kind === null) return null;
  const folder = kind === 'folder' ? path : dirname(path);
  const files = filesBeside(folder);
  if (kind === 'file' && basename(path) !== tokenizerFileNames.tokenizer) files.tokenizer = path;
  return files.tokenizer === undefined ? null : { id, files };
}
