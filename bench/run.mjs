// What the client costs and how far off it is, side by side with others, in one run: `npm run bench`.
// docs/benchmarks.md says what is measured and how.
import { mkdirSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { groundTruthCase } from './cases/ground-truth.mjs';
import { largeReportCase } from './cases/large-report.mjs';
import { liveViewCase } from './cases/live-view.mjs';
import { mediaCase } from './cases/media.mjs';
import { memoryCase } from './cases/memory.mjs';
import { pacingCase } from './cases/pacing.mjs';
import { sendLagCase, unaryCase } from './cases/requests.mjs';
import { serverCase } from './cases/server.mjs';
import { serverLawCase } from './cases/server-law.mjs';
import { startTimeCase } from './cases/start-time.mjs';
import { streamsCase } from './cases/streams.mjs';
import { shown, tableLines } from './figures.mjs';
import { idleRatio, machineInfo, pythonWithAiohttp } from './machine.mjs';
import { cores, pins } from './processes.mjs';

const cases = [
  streamsCase(512),
  streamsCase(256),
  groundTruthCase,
  sendLagCase,
  unaryCase,
  memoryCase,
  mediaCase,
  liveViewCase,
  largeReportCase,
  startTimeCase,
  pacingCase,
  serverCase,
  serverLawCase,
];

const usage = `usage: npm run bench -- [flags]

  --quick      fewer and shorter rounds
  --only NAME  one part; may be given again: ${cases.map(({ name }) => name).join(', ')}
  --strict     exit 1 where an acceptance figure is not met`;

/** Below this, other work on the machine shows in the times. */
const quietIdleRatio = 0.9;

function options() {
  try {
    const { values } = parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        only: { type: 'string', multiple: true, default: [] },
        strict: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    const unknown = values.only.find((name) => cases.every((part) => part.name !== name));
    if (unknown !== undefined) throw new Error(`--only ${unknown} names no part`);
    return values;
  } catch (error) {
    console.error(`${error.message}\n\n${usage}`);
    process.exit(2);
  }
}

function note(text) {
  process.stderr.write(process.stderr.isTTY ? `\r\u001b[K${text}` : `${text}\n`);
}

function clearNote() {
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K');
}

function print(lines) {
  clearNote();
  for (const line of lines) console.log(line);
}

function describeMachine(machine, idle) {
  const python = machine.python
    ? `Python ${machine.python.python} with aiohttp ${machine.python.aiohttp}`
    : 'no python3 has aiohttp (Debian: apt-get install python3-aiohttp), so it is left out';
  const lines = [
    `omnimeter ${machine.omnimeter}${machine.commit ? ` (${machine.commit})` : ''}, Node ${machine.node}, ${python}`,
    `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGib} GiB, ${machine.system}`,
    pins
      ? `servers on core ${cores.server}, clients on core ${cores.client}`
      : 'no taskset: processes are not pinned to cores',
  ];
  if (idle !== null && idle < quietIdleRatio) {
    lines.push(
      `The machine is busy (${shown(idle * 100, 0)} % idle): look at the ratios, and expect late times.`,
    );
  }
  return lines;
}

function checkLines(checks) {
  const mark = { true: 'pass', false: 'FAIL', null: 'n/a ' };
  return checks.map(({ what, value, limit, unit, passed }) => {
    const digits = Number.isInteger(value) ? 0 : limit >= 100 ? 0 : 3;
    return `${mark[passed]}  ${what}: ${shown(value, digits)} (at most ${limit}${unit ? ` ${unit}` : ''})`;
  });
}

function save(result) {
  const folder = fileURLToPath(new URL('results/', import.meta.url));
  mkdirSync(folder, { recursive: true });
  const path = `${folder}${result.startedAt.replaceAll(/[:.]/g, '-')}.json`;
  writeFileSync(path, `${JSON.stringify(result, null, 2)}\n`);
  return path;
}

async function main() {
  const { quick, only, strict, help } = options();
  if (help) {
    console.log(usage);
    return;
  }
  const startedAt = new Date().toISOString();
  const python = pythonWithAiohttp();
  const idle = await idleRatio();
  const machine = machineInfo(python);
  print(describeMachine(machine, idle));
  const parts = {};
  const checks = [];
  for (const part of cases) {
    if (only.length > 0 && !only.includes(part.name)) continue;
    const { rows, checks: found, rounds } = await part.run({ quick, python, note });
    print(['', part.title, ...tableLines(rows)]);
    parts[part.name] = { title: part.title, table: rows, checks: found, rounds };
    checks.push(...found);
  }
  if (checks.length > 0) print(['', 'Acceptance', ...checkLines(checks)]);
  const tookS = (Date.now() - Date.parse(startedAt)) / 1000;
  const load = { idleRatioBefore: idle, loadAverageAfter: os.loadavg() };
  const path = save({ startedAt, tookS, quick, machine, load, parts, checks });
  print(['', `${shown(tookS, 0)} s; all rounds: ${path}`]);
  if (strict && checks.some(({ passed }) => passed === false)) process.exitCode = 1;
}

await main();
