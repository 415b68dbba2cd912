import { InputFileError, messageOf } from '../foundation/errors.ts';
import { carriedTokenizer } from './carried-tokenizer.ts';
import { type Environment, expandHome } from './hub-environment.ts';
import { hubTokenizer } from './hub-tokenizer.ts';
import { loadTokenizer } from './load-tokenizer.ts';
import type { Tokenizer, TokenizerSource } from './tokenizer.ts';
import { kindOfPath, tokenizerAtPath, tokenizerFilesWanted } from './tokenizer-files.ts';

/** An explicit tokenizer is worth waiting for; a model's is only the better of two. */
const explicitTimeoutMs = 10_000;
const modelTimeoutMs = 3_000;

/** Values that can only be meant as a path are never looked up on the hub. */
function looksLikePath(value: string): boolean {
  return /^[./~]|^[A-Za-z]:|\\|\.json$|\/.*\//.test(value);
}

async function locate(value: string, env: Environment, lookupTimeoutMs: number): Promise<TokenizerSource> {
  const path = expandHome(value, env);
  if (kindOfPath(path) !== null) {
    const files = tokenizerAtPath(path);
    if (files !== null) return { id: value, files };
    throw new InputFileError(`${path} has no ${tokenizerFilesWanted}`);
  }
  if (looksLikePath(value)) throw new InputFileError(`${path} does not exist`);
  return hubTokenizer(value, { env, lookupTimeoutMs });
}

/**
 * The tokenizer of a run: the one named, else the model's own, else the carried one with a line that says so.
 * @param request.tokenizer `--tokenizer`: a folder, a file or a hub id; `null` where not given
 * @param request.model `--model`: a path or a hub id; `null` where not known
 * @throws InputFileError for a named tokenizer that cannot be had; a model without one is no error
 */
export async function resolveTokenizer(request: {
  readonly tokenizer: string | null;
  readonly model: string | null;
  readonly env: Environment;
  note(line: string): void;
}): Promise<Tokenizer> {
  const { tokenizer, model, env } = request;
  if (tokenizer !== null) {
    try {
      return await loadTokenizer(await locate(tokenizer, env, explicitTimeoutMs));
    } catch (cause) {
      if (!(cause instanceof InputFileError)) throw cause;
      throw new InputFileError(
        `--tokenizer ${tokenizer}: ${messageOf(cause)}. Expected a folder or file with ${tokenizerFilesWanted}, ` +
          'or a hub id; leave --tokenizer out to count with the carried Qwen3 vocabulary.',
        { cause },
      );
    }
  }
  let reason = 'no model is named';
  if (model !== null) {
    try {
      return await loadTokenizer(await locate(model, env, modelTimeoutMs));
    } catch (cause) {
      if (!(cause instanceof InputFileError)) throw cause;
      reason = messageOf(cause);
    }
  }
  request.note(
    `Tokenizer: the carried Qwen3 vocabulary, because ${reason.replace(/\.$/, '')}. Give --tokenizer to use another.`,
  );
  return carriedTokenizer();
}
