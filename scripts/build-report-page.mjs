/**
 * Bundles the pages of src/web into dist/: each one file with its script and style inside, and places for a run's title
 * and data. Runs after the bundler, which cleans dist/.
 */

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const web = new URL('../src/web/', import.meta.url);

/** The one script of a page. */
async function bundled(entry) {
  const built = await build({
    configFile: false,
    root: fileURLToPath(web),
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      write: false,
      target: 'es2022',
      lib: { entry: fileURLToPath(new URL(entry, web)), formats: ['iife'], name: 'omnimeterReport' },
    },
  });
  const [{ output }] = [built].flat();
  const [script] = output.filter(({ type }) => type === 'chunk');
  if (output.length !== 1) throw new Error('the page must be one script');
  // Within an HTML script nothing may look like its end.
  return script.code.trim().replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
}

function minified(style) {
  return readFileSync(new URL(style, web), 'utf8')
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** Its licence asks to go with every copy, and every report is one. */
function preactLicence() {
  const preact = new URL('../node_modules/preact/', import.meta.url);
  const { version } = JSON.parse(readFileSync(new URL('package.json', preact), 'utf8'));
  const text = readFileSync(new URL('LICENSE', preact), 'utf8').trim();
  return `\n    <!-- This page carries preact ${version}:\n${text}\n-->`;
}

async function buildPage({ entry, style, frame, carries, to }) {
  const script = await bundled(entry);
  const fillings = {
    'script-hash': `sha256-${createHash('sha256').update(script).digest('base64')}`,
    style: minified(style),
    script,
  };
  const page = readFileSync(new URL(frame, web), 'utf8')
    .replace(/\{\{(script-hash|style|script)\}\}/g, (_, name) => fillings[name])
    .replace('<head>', () => `<head>${carries}`);
  writeFileSync(new URL(`../dist/${to}`, import.meta.url), page);
  console.log(`dist/${to} ${(page.length / 1024).toFixed(0)} kB`);
}

await buildPage({
  entry: 'main.tsx',
  style: 'report.css',
  frame: 'page.html',
  carries: preactLicence(),
  to: 'report-page.html',
});
await buildPage({
  entry: 'request-timeline/timeline-page.ts',
  style: 'request-timeline/timeline-page.css',
  frame: 'page.html',
  carries: '',
  to: 'timeline-page.html',
});
