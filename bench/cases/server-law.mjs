import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atMost, median, percentile, shown } from '../figures.mjs';
import { cli } from '../omnimeter.mjs';
import { runClient, startEmbeddedServer } from '../processes.mjs';

const floorScript = new URL('../socket-floor.mjs', import.meta.url).pathname;

/** Half of the load that the server's CPU is measured at. */
const streams = 250;
/** As many as are measured: what is measured is a server at work, not the compiling of its first hundred requests. */
const warmStreams = streams;
const firstMs = 100;
const stepMs = 20;
/** A model without chance: the first token after so long, then one each step. */
const steady = JSON.stringify({
  0: {
    ttft: { baseMs: firstMs, perInputTokenMs: 0, sd: 0 },
    step: { nativeMs: stepMs, sd: 0, outlierP: 0 },
    batchSlope: 0,
    maxNumSeqs: 1024,
  },
});

/** How late each text event of the log was written, by the law that its request was accepted under, ms. */
function latenessOf(lines) {
  const acceptedMs = new Map();
  const events = new Map();
  const lateMs = [];
  for (const line of lines) {
    if (line === '') continue;
    const { t, id, event } = JSON.parse(line);
    if (event === 'accepted') acceptedMs.set(id, t);
    if (event !== 'text') continue;
    const order = events.get(id) ?? 0;
    events.set(id, order + 1);
    const fromMs = acceptedMs.get(id);
    if (fromMs !== undefined) lateMs.push(t - fromMs - firstMs - stepMs * order);
  }
  return { lateMs, requests: events.size };
}

async function round() {
  const folder = mkdtempSync(join(tmpdir(), 'omnimeter-bench-'));
  const truth = join(folder, 'truth.jsonl');
  try {
    const flags = [
      '--omni',
      '--served-model-name',
      'bench',
      '--stage-overrides',
      steady,
      '--truth-log',
      truth,
    ];
    const server = await startEmbeddedServer(cli, ['Qwen/Qwen2.5-7B-Instruct', ...flags]);
    const read = (count) =>
      runClient(process.execPath, [
        ...[floorScript, '--port', new URL(server.url).port, '--streams', String(count)],
      ]);
    await read(warmStreams);
    await read(streams);
    await server.stop();
    // The requests that warmed the server come first; each has a line of its own when it was accepted.
    const lines = readFileSync(truth, 'utf8').split('\n');
    const accepted = lines.flatMap((line, at) => (line.includes('"event":"accepted"') ? [at] : []));
    const { lateMs, requests } = latenessOf(lines.slice(accepted[warmStreams]));
    return { requests, events: lateMs.length, p50Ms: percentile(lateMs, 50), p99Ms: percentile(lateMs, 99) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** When the embedded server writes its events, against the law that it simulates. */
export const serverLawCase = {
  name: 'server-law',
  title: `${streams} streams × 50 tokens/s of the embedded server, against its own law`,
  async run({ quick, note }) {
    const rounds = [];
    for (let number = 0; number < (quick ? 1 : 3); number += 1) {
      note(`server law, round ${number + 1}`);
      rounds.push(await round());
    }
    const column = (field) => median(rounds.map((seen) => seen[field]));
    return {
      rows: [
        ['events', 'late p50 ms', 'late p99 ms'],
        [String(column('events')), shown(column('p50Ms'), 3), shown(column('p99Ms'), 3)],
      ],
      checks: [
        atMost('server law: requests missing', streams - column('requests'), 0),
        atMost('server law: event times off, p99', column('p99Ms'), 2, 'ms'),
      ],
      rounds,
    };
  },
};
