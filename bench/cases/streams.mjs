import { fileURLToPath } from 'node:url';
import { atMost, median, medianRatio, percentile, shown } from '../figures.mjs';
import { benchServe, textEvents } from '../omnimeter.mjs';
import { runClient, startSource } from '../processes.mjs';
import { stampsMs } from '../stamps.mjs';

const script = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));
/** All streams begin together and end together. The lateness is that of the time between; the CPU is that of all. */
const skipped = { startMs: 1000, endMs: 250 };
const perSecond = 50;

/**
 * `cpuS`: from the first request to the last reply, as the process saw itself. `wholeCpuS`: all of the process, where
 * it does nothing but what a user waits for.
 * @typedef {{ cpuS: number, wholeCpuS: number | null, late: number[], events: number }} Cost
 */

/** @param {{ stampMs: number, lateMs: number }[]} lateness */
function lateBetween(lateness) {
  let fromMs = Number.POSITIVE_INFINITY;
  let toMs = 0;
  for (const { stampMs } of lateness) {
    fromMs = Math.min(fromMs, stampMs);
    toMs = Math.max(toMs, stampMs);
  }
  const isBetween = ({ stampMs }) => stampMs > fromMs + skipped.startMs && stampMs < toMs - skipped.endMs;
  return lateness.filter(isBetween).map(({ lateMs }) => lateMs);
}

/** @returns {Promise<Cost>} */
async function ownFigures(command, args) {
  const { stdout } = await runClient(command, args);
  const { cpuS, lateness, events } = JSON.parse(stdout);
  return { cpuS, wholeCpuS: null, late: lateBetween(lateness), events };
}

/** @returns {Promise<Cost>} */
async function omnimeter(transport, { source, streams }) {
  const plan = {
    url: source.url,
    requests: streams,
    flags: ['--model', 'bench', '--max-concurrency', String(streams), '--transport', transport],
  };
  return await benchServe(plan, async ({ facts, cost, records }) => {
    const lateness = [];
    for await (const record of records) {
      if (!record.outcome.ok) throw new Error(`a stream failed: ${record.outcome.message}`);
      const stamps = stampsMs(record.text);
      for (const [order, { timeMs }] of textEvents(record, facts).entries()) {
        lateness.push({ stampMs: stamps[order], lateMs: timeMs - stamps[order] });
      }
    }
    const { cpuS } = facts.self;
    return { cpuS, wholeCpuS: cost.cpuS, late: lateBetween(lateness), events: lateness.length };
  });
}

function clientsOf(python) {
  const where = ({ source, streams }) => ['--port', String(source.port), '--streams', String(streams)];
  return {
    socket: { label: 'omnimeter, socket', run: (at) => omnimeter('socket', at) },
    nodeHttp: { label: 'omnimeter, node-http', run: (at) => omnimeter('node-http', at) },
    floor: {
      label: 'floor: sockets, only counting',
      run: (at) => ownFigures(process.execPath, [script('socket-floor.mjs'), ...where(at)]),
    },
    aiohttp: python && {
      label: `Python ${python.python}, aiohttp ${python.aiohttp}`,
      run: (at) => ownFigures(python.path, [script('aiohttp-loop.py'), ...where(at)]),
    },
  };
}

/** Every client once, beginning with another one each round. */
async function round(clients, number, { streams, events, note }) {
  const names = Object.keys(clients).filter((name) => clients[name] !== null);
  const first = number % names.length;
  const source = await startSource({ events, perSecond });
  const seen = {};
  try {
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      note(`${streams} streams, round ${number + 1}: ${clients[name].label}`);
      const cost = await clients[name].run({ source, streams });
      const sent = streams * events;
      if (cost.events !== undefined && cost.events !== sent)
        throw new Error(`${clients[name].label} saw ${cost.events} of ${sent} events`);
      seen[name] = {
        usPerEvent: (cost.cpuS / sent) * 1e6,
        wholeUsPerEvent: cost.wholeCpuS === null ? null : (cost.wholeCpuS / sent) * 1e6,
        lateP50Ms: percentile(cost.late, 50),
        lateP99Ms: percentile(cost.late, 99),
      };
    }
  } finally {
    await source.stop();
  }
  return seen;
}

/**
 * CPU per server-sent event and lateness of four clients that read the same streams in turn.
 * @param {number} streams
 */
export function streamsCase(streams) {
  return {
    name: `streams-${streams}`,
    title: `${streams} streams × ${perSecond} events/s, one event per write`,
    async run({ quick, python, note }) {
      const clients = clientsOf(python);
      const rounds = [];
      for (let number = 0; number < (quick ? 2 : 4); number += 1) {
        rounds.push(await round(clients, number, { streams, events: quick ? 150 : 250, note }));
      }
      const column = (name, field) => rounds.map((seen) => seen[name]?.[field] ?? null);
      const ratio = (of, over, field = 'usPerEvent') => medianRatio(column(of, field), column(over, field));
      const rows = Object.entries(clients).map(([name, client]) => [
        client?.label ?? 'Python, aiohttp: no interpreter has aiohttp',
        shown(median(column(name, 'usPerEvent'))),
        shown(ratio(name, 'floor')),
        shown(ratio(name, 'aiohttp')),
        shown(median(column(name, 'wholeUsPerEvent'))),
        shown(median(column(name, 'lateP50Ms')), 3),
        shown(median(column(name, 'lateP99Ms')), 3),
      ]);
      return {
        rows: [
          [
            'client',
            'µs CPU/event',
            '× floor',
            '× aiohttp',
            'with start and report',
            'late p50 ms',
            'late p99 ms',
          ],
          ...rows,
        ],
        checks: [
          atMost(`${streams} streams: CPU per event, socket over aiohttp`, ratio('socket', 'aiohttp'), 0.45),
          atMost(`${streams} streams: CPU per event, socket over floor`, ratio('socket', 'floor'), 2.0),
        ],
        rounds,
      };
    },
  };
}
