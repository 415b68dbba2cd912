import { statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { TokenizerFileRole, TokenizerSource } from './tokenizer.ts';

/** Paths by role. */
export type TokenizerFiles = TokenizerSource['files'];

/** The files a tokenizer may consist of, by the names that models publish them under. */
export const tokenizerFileNames: readonly (readonly [role: TokenizerFileRole, name: string])[] = [
  ['tokenizer', 'tokenizer.json'],
  ['vocabulary', 'vocab.json'],
  ['merges', 'merges.txt'],
  ['config', 'tokenizer_config.json'],
  ['chatTemplate', 'chat_template.jinja'],
  ['chatTemplateJson', 'chat_template.json'],
];

/** What makes a tokenizer, in words, for error messages. */
export const tokenizerFilesWanted = 'tokenizer.json, or vocab.json with merges.txt and tokenizer_config.json';

/** Whether these files are enough to build a tokenizer from. */
export function isTokenizer(files: TokenizerFiles): boolean {
  if (files.bundle !== undefined || files.tokenizer !== undefined) return true;
  return files.vocabulary !== undefined && files.merges !== undefined && files.config !== undefined;
}

/** The tokenizer files that exist by their published names, found by `pathOf`. */
export function collectTokenizerFiles(pathOf: (name: string) => string | null): TokenizerFiles {
  const files: Partial<Record<TokenizerFileRole, string>> = {};
  for (const [role, name] of tokenizerFileNames) {
    const path = pathOf(name);
    if (path !== null) files[role] = path;
  }
  return files;
}

/** What lies at a path (links are followed), or `null`. */
export function kindOfPath(path: string): 'file' | 'folder' | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  return stats.isDirectory() ? 'folder' : 'file';
}

/**
 * The tokenizer in a folder, or the one that a file stands for; companions are taken from beside the file.
 * @returns `null` where nothing there makes a tokenizer
 */
export function tokenizerAtPath(path: string): TokenizerFiles | null {
  const kind = kindOfPath(path);
  if (kind === null) return null;
  const folder = kind === 'folder' ? path : dirname(path);
  const beside = collectTokenizerFiles((name) =>
    kindOfPath(join(folder, name)) === 'file' ? join(folder, name) : null,
  );
  const isOwnName = tokenizerFileNames.some(([, name]) => name === basename(path));
  const files = kind === 'file' && !isOwnName ? { ...beside, tokenizer: path } : beside;
  return isTokenizer(files) ? files : null;
}
