import { median, medianRatio, shown } from '../figures.mjs';
import { benchServe } from '../omnimeter.mjs';
import { startSource } from '../processes.mjs';

const transports = ['socket', 'node-http'];

function failOnLoss(facts, count, asked) {
  if (count !== asked) throw new Error(`${count} of ${asked} requests have a good record`);
  return facts.self;
}

async function countGood(records) {
  let good = 0;
  for await (const record of records) if (record.outcome.ok) good += 1;
  return good;
}

/** How late requests of an open schedule leave. */
export const sendLagCase = {
  name: 'send-lag',
  title: 'Poisson arrivals, 500 requests/s: send minus intended time',
  async run({ quick, note }) {
    const requests = quick ? 1000 : 3000;
    const rounds = [];
    const source = await startSource({ events: 4, perSecond: 50 });
    try {
      for (let number = 0; number < (quick ? 1 : 3); number += 1) {
        note(`send lag, round ${number + 1}`);
        const plan = {
          url: source.url,
          requests,
          flags: ['--model', 'bench', '--request-rate', '500', '--seed', String(number)],
        };
        const self = await benchServe(plan, async ({ facts, records }) =>
          failOnLoss(facts, await countGood(records), requests),
        );
        const { sendLagP50Ms, sendLagP99Ms, sendLagMaxMs, cpuS } = self;
        rounds.push({ sendLagP50Ms, sendLagP99Ms, sendLagMaxMs, cpuS });
      }
    } finally {
      await source.stop();
    }
    const of = (field, digits) => shown(median(rounds.map((seen) => seen[field])), digits);
    return {
      rows: [
        ['client', 'p50 ms', 'p99 ms', 'max ms', 'µs CPU/request'],
        [
          'omnimeter, socket',
          of('sendLagP50Ms', 3),
          of('sendLagP99Ms', 3),
          of('sendLagMaxMs', 3),
          shown((median(rounds.map(({ cpuS }) => cpuS)) / requests) * 1e6, 0),
        ],
      ],
      checks: [],
      rounds,
    };
  },
};

/** How many small unstreamed replies a client gets through. */
export const unaryCase = {
  name: 'unary',
  title: 'Unstreamed small chat replies, 64 at once',
  async run({ quick, note }) {
    const requests = quick ? 5000 : 20_000;
    const rounds = [];
    const source = await startSource({ events: 1, perSecond: 0 });
    try {
      for (let number = 0; number < (quick ? 1 : 2); number += 1) {
        const seen = {};
        for (const transport of number % 2 === 0 ? transports : transports.toReversed()) {
          note(`unstreamed, round ${number + 1}: ${transport}`);
          const plan = {
            url: source.url,
            requests,
            flags: ['--model', 'bench', '--unstreamed', '--max-concurrency', '64', '--transport', transport],
          };
          seen[transport] = await benchServe(plan, async ({ facts, records }) => {
            const { cpuS } = failOnLoss(facts, await countGood(records), requests);
            return {
              requestsPerS: requests / ((facts.endMs - facts.startMs) / 1000),
              usPerRequest: (cpuS / requests) * 1e6,
            };
          });
        }
        rounds.push(seen);
      }
    } finally {
      await source.stop();
    }
    const column = (transport, field) => rounds.map((seen) => seen[transport][field]);
    return {
      rows: [
        ['client', 'requests/s', 'µs CPU/request', '× node-http'],
        ...transports.map((transport) => [
          `omnimeter, ${transport}`,
          shown(median(column(transport, 'requestsPerS')), 0),
          shown(median(column(transport, 'usPerRequest')), 0),
          shown(medianRatio(column(transport, 'usPerRequest'), column('node-http', 'usPerRequest'))),
        ]),
      ],
      checks: [],
      rounds,
    };
  },
};
