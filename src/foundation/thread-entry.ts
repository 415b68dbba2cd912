import { fileURLToPath } from 'node:url';

/**
 * Where the built entry of a worker thread is. In the package it stands beside the bundle; from source it is the
 * built one, since Node 20 cannot load TypeScript in a worker.
 * @param name entry name in the bundle, e.g. `load-thread`
 * @param from the caller's `import.meta.url`
 */
export function threadEntry(name: string, from: string): string {
  const source = from.endsWith('.ts');
  return fileURLToPath(new URL(source ? `../../dist/${name}.js` : `./${name}.js`, from));
}
