import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { InputFileError, messageOf } from '../../foundation/errors.ts';
import { type JudgePrompts, promptsOf } from './judge-prompts.ts';

/**
 * Prompts of a file, YAML or JSON; docs/accuracy.md shows its form.
 * @throws InputFileError
 */
export function readPromptsFile(path: string): JudgePrompts {
  let value: unknown;
  try {
    value = parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new InputFileError(`${path}: the prompts cannot be read: ${messageOf(cause)}`, { cause });
  }
  return promptsOf(value, path);
}
