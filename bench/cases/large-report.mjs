import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atMost, shown } from '../figures.mjs';
import { benchServe, cli } from '../omnimeter.mjs';
import { runClient, startSource } from '../processes.mjs';

const eventsPerRequest = 100;
/** Requests of the stored run that is made a large one of. */
const patterns = 64;

/** A few real requests as the journal has them, and the run's description. */
async function patternRun() {
  const source = await startSource({ events: eventsPerRequest, perSecond: 200 });
  try {
    const flags = ['--model', 'bench', '--max-concurrency', '64', '--metric-percentiles', '50,90,99'];
    return await benchServe({ url: source.url, requests: patterns, flags }, async ({ facts, records }) => {
      const lines = [];
      for await (const record of records) lines.push(record);
      return { facts, lines };
    });
  } finally {
    await source.stop();
  }
}

/** Adds a time to every time of a record; its other figures stay. */
function moved(value, byMs) {
  if (Array.isArray(value)) return value.map((item) => moved(item, byMs));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => {
      if (name === 'timesMs') return [name, field.map((ms) => Math.round((ms + byMs) * 1e4) / 1e4)];
      if (/^(intended|admitted|send|end|connected|headers)Ms$/.test(name) && typeof field === 'number')
        return [name, field + byMs];
      return [name, moved(field, byMs)];
    }),
  );
}

async function writeLargeRun(folder, { facts, lines }, requests) {
  const file = createWriteStream(join(folder, 'records.jsonl'));
  for (let index = 0; index < requests; index += 1) {
    const byMs = Math.floor(index / lines.length) * 600;
    const record = { ...moved(lines[index % lines.length], byMs), index, requestId: `bench-${index}` };
    if (!file.write(`${JSON.stringify(record)}\n`)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'close');
  const endMs = facts.endMs + Math.floor(requests / lines.length) * 600;
  writeFileSync(join(folder, 'run.json'), JSON.stringify({ ...facts, numPrompts: requests, endMs }));
}

/** What a large stored run costs to report, with its HTML page. */
export const largeReportCase = {
  name: 'large-report',
  title: 'Report of a large run',
  async run({ quick, note }) {
    const requests = quick ? 10_000 : 100_000;
    const folder = mkdtempSync(join(tmpdir(), 'omnimeter-bench-report-'));
    try {
      note(`large report: ${requests} requests of ${eventsPerRequest} events`);
      await writeLargeRun(folder, await patternRun(), requests);
      const args = [cli, 'report', folder, '--html', join(folder, 'report.html')];
      const { wallS, cpuS, peakRssBytes } = await runClient(process.execPath, args);
      const peakRssMb = peakRssBytes === null ? null : peakRssBytes / 1e6;
      const what = `${requests} requests, ${(requests * eventsPerRequest) / 1e6} M events`;
      return {
        rows: [
          ['run', 'wall s', 'CPU s', 'peak RSS MB'],
          [what, shown(wallS, 1), shown(cpuS, 1), shown(peakRssMb, 0)],
        ],
        checks: [
          atMost(`report --html of ${what}: wall`, wallS, 20, 's'),
          atMost(`report --html of ${what}: peak RSS`, peakRssMb, 1500, 'MB'),
        ],
        rounds: [{ wallS, cpuS, peakRssMb }],
      };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
