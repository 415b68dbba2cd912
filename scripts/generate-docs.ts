/**
 * Writes the pages of docs/ that have a source in the code. With --check it writes nothing and fails where a page
 * differs from its source.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { renderCliDoc } from '../src/cli/cli-doc.ts';
import { commands } from '../src/cli/commands.ts';
import { renderMetricsDoc } from '../src/report/metrics-doc.ts';
import { renderHfSetsDoc } from '../src/workloads/hf/hf-sets-doc.ts';

const root = new URL('../', import.meta.url);

async function generated(): Promise<Readonly<Record<string, string>>> {
  const loaded = await Promise.all(commands.map((command) => command.load()));
  const pages = await Promise.all(loaded.map((command) => command.help()));
  return {
    'docs/cli.md': renderCliDoc(pages),
    'docs/metrics.md': renderMetricsDoc(),
    'docs/hub-datasets.md': renderHfSetsDoc(),
  };
}

function isCurrent(path: string, text: string): boolean {
  const file = new URL(path, root);
  return existsSync(file) && readFileSync(file, 'utf8') === text;
}

const stale = Object.entries(await generated()).filter(([path, text]) => !isCurrent(path, text));
if (process.argv.includes('--check')) {
  for (const [path] of stale)
    console.error(`${path} differs from the code it is made from. Run: npm run docs`);
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  for (const [path, text] of stale) {
    writeFileSync(new URL(path, root), text);
    console.log(`wrote ${path}`);
  }
}
