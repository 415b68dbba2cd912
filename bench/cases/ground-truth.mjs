import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atMost, median, percentile, shown } from '../figures.mjs';
import { benchServe, cli, textEvents } from '../omnimeter.mjs';
import { startEmbeddedServer } from '../processes.mjs';

const model = 'Qwen/Qwen3-Omni-30B-A3B-Instruct';
const streams = 256;
/** A thinker that writes 50 tokens a second, whatever the load. */
const steady = JSON.stringify({
  0: {
    ttft: { baseMs: 30, perInputTokenMs: 0, sd: 0 },
    step: { nativeMs: 20, sd: 0, outlierP: 0 },
    batchSlope: 0,
    maxNumSeqs: 4096,
  },
});

/**
 * How the streams begin. Users arrive: Poisson, 256/s, after which all streams run together for some seconds. `at once`
 * is shown beside it and has no limit: 256 replies then begin within a few milliseconds, on one core, while 256
 * connections are opened and V8 sees this server's chunks for the first time.
 */
const startFlags = { arriving: ['--request-rate', String(streams)], 'at once': [] };

/** Text events of each request as the server wrote them (docs/truth-log.md). */
function writtenEvents(path) {
  const requests = new Map();
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    if (line === '') continue;
    const { t, id, event, tokens } = JSON.parse(line);
    if (event !== 'text') continue;
    const list = requests.get(id) ?? [];
    list.push({ timeMs: t, tokens });
    requests.set(id, list);
  }
  return requests;
}

/** How far off the client's times were, and how many of its counts were wrong. */
async function compare({ facts, records }, written) {
  const eventErrors = [];
  const firstErrors = [];
  let seenRequests = 0;
  let wrong = 0;
  for await (const record of records) {
    seenRequests += 1;
    const sent = written.get(record.requestId) ?? [];
    const seen = textEvents(record, facts);
    if (seen.length !== sent.length) wrong += 1;
    for (const [order, { timeMs, tokens }] of seen.entries()) {
      const truth = sent[order];
      if (truth === undefined) continue;
      if (tokens !== truth.tokens) wrong += 1;
      eventErrors.push(timeMs - truth.timeMs);
      if (order === 0) firstErrors.push(timeMs - truth.timeMs);
    }
  }
  return {
    events: eventErrors.length,
    wrong: wrong + Math.abs(seenRequests - streams),
    eventP50Ms: percentile(eventErrors, 50),
    eventP99Ms: percentile(eventErrors, 99),
    firstP50Ms: percentile(firstErrors, 50),
    firstP99Ms: percentile(firstErrors, 99),
  };
}

async function round({ tokens, transport, starts }) {
  const folder = mkdtempSync(join(tmpdir(), 'omnimeter-bench-'));
  const truth = join(folder, 'truth.jsonl');
  try {
    const server = await startEmbeddedServer(cli, [
      ...[model, '--omni', '--stage-overrides', steady, '--truth-log', truth],
    ]);
    const plan = {
      url: server.url,
      requests: streams,
      flags: [
        ...['--model', model, '--custom-output-len', String(tokens), '--max-concurrency', String(streams)],
        ...['--extra-body', '{"modalities": ["text"], "ignore_eos": true}', '--transport', transport],
        ...startFlags[starts],
      ],
    };
    return await benchServe(plan, async (run) => {
      await server.stop();
      return await compare(run, writtenEvents(truth));
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Times and counts of the client against what the embedded server really wrote. */
export const groundTruthCase = {
  name: 'ground-truth',
  title: `${streams} streams × 50 events/s of the embedded server, against its truth log`,
  async run({ quick, note }) {
    const rounds = [];
    const clients = [
      ['socket', 'arriving'],
      ['node-http', 'arriving'],
      ['socket', 'at once'],
    ];
    for (let number = 0; number < (quick ? 1 : 3); number += 1) {
      for (const [transport, starts] of clients) {
        note(`ground truth, round ${number + 1}: ${transport}, streams ${starts}`);
        rounds.push({
          transport,
          starts,
          ...(await round({ tokens: quick ? 100 : 250, transport, starts })),
        });
      }
    }
    const of = (transport, starts) =>
      rounds.filter((seen) => seen.transport === transport && seen.starts === starts);
    const figure = (seen, field) => median(seen.map((one) => one[field]));
    const row = ([transport, starts]) => {
      const seen = of(transport, starts);
      const times = ['eventP50Ms', 'eventP99Ms', 'firstP50Ms', 'firstP99Ms'];
      return [
        `omnimeter, ${transport}`,
        starts,
        ...times.map((field) => shown(figure(seen, field), 3)),
        String(seen.reduce((sum, one) => sum + one.wrong, 0)),
      ];
    };
    const arriving = of('socket', 'arriving');
    const wrong = rounds.reduce((sum, seen) => sum + seen.wrong, 0);
    return {
      rows: [
        [
          'client',
          'streams start',
          'event p50 ms',
          'event p99 ms',
          'first token p50 ms',
          'p99 ms',
          'wrong counts',
        ],
        ...clients.map(row),
      ],
      checks: [
        atMost('truth log: wrong counts', wrong, 0),
        atMost('truth log: event times off, p50', figure(arriving, 'eventP50Ms'), 0.3, 'ms'),
        atMost('truth log: event times off, p99', figure(arriving, 'eventP99Ms'), 3, 'ms'),
        atMost('truth log: first token off, p50', figure(arriving, 'firstP50Ms'), 0.3, 'ms'),
        atMost('truth log: first token off, p99', figure(arriving, 'firstP99Ms'), 3, 'ms'),
      ],
      rounds,
    };
  },
};
