/**
 * Runs every `check:…` script of package.json at once: the type checker alone takes as long as all others one after
 * another. What a check prints comes whole when it ends.
 */

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';

const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const checks = Object.keys(scripts).filter((name) => name.startsWith('check:'));

/** @returns whether it passed */
function run(name) {
  return new Promise((resolve) => {
    const child = spawn('npm', ['run', '--silent', name], { stdio: ['ignore', 'pipe', 'pipe'] });
    const printed = [];
    child.stdout.on('data', (bytes) => printed.push(bytes));
    child.stderr.on('data', (bytes) => printed.push(bytes));
    child.on('error', (error) => printed.push(Buffer.from(`${error.message}\n`)));
    child.on('close', (code) => {
      console.log(`${code === 0 ? 'passed' : 'FAILED'}: ${name}`);
      process.stdout.write(Buffer.concat(printed));
      resolve(code === 0);
    });
  });
}

const passed = await Promise.all(checks.map(run));
if (passed.includes(false)) process.exitCode = 1;
