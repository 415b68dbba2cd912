/**
 * Bundles src/web into dist/report-page.html: one file with its script and style inside, and places for a run's title
 * and data. Runs after the bundler, which cleans dist/.
 */

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const web = new URL('../src/web/', import.meta.url);
const built = await build({
  configFile: false,
  root: fileURLToPath(web),
  logLevel: 'warn',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    write: false,
    target: 'es2022',
    lib: { entry: fileURLToPath(new URL('main.tsx', web)), formats: ['iife'], name: 'omnimeterReport' },
  },
});
const [{ output }] = [built].flat();
const [script] = output.filter(({ type }) => type === 'chunk');
if (output.length !== 1) throw new Error('the page must be one script');

// Within an HTML script nothing may look like its end.
const code = script.code.trim().replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
const hash = `sha256-${createHash('sha256').update(code).digest('base64')}`;
const style = readFileSync(new URL('report.css', web), 'utf8')
  .replaceAll(/\/\*.*?\*\//gs, '')
  .replaceAll(/\s+/g, ' ')
  .trim();
// Its licence asks to go with every copy, and every report is one.
const preact = new URL('../node_modules/preact/', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('package.json', preact), 'utf8'));
const licence = `<!-- This page carries preact ${version}:\n${readFileSync(new URL('LICENSE', preact), 'utf8').trim()}\n-->`;

const fillings = { 'script-hash': hash, style, script: code };
const page = readFileSync(new URL('page.html', web), 'utf8')
  .replace(/\{\{(script-hash|style|script)\}\}/g, (_, name) => fillings[name])
  .replace('<head>', `<head>\n    ${licence}`);
writeFileSync(new URL('../dist/report-page.html', import.meta.url), page);
console.log(`dist/report-page.html ${(page.length / 1024).toFixed(0)} kB`);
