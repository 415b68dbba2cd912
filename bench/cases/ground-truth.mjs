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

async function round({ tokens, transport }) {
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
    for (let number = 0; number < (quick ? 1 : 3); number += 1) {
      for (const transport of ['socket', 'node-http']) {
        note(`ground truth, round ${number + 1}: ${transport}`);
        rounds.push({ transport, ...(await round({ tokens: quick ? 100 : 200, transport })) });
      }
    }
    const of = (transport, field) =>
      median(rounds.filter((seen) => seen.transport === transport).map((seen) => seen[field]));
    const row = (transport) => [
      `omnimeter, ${transport}`,
      shown(of(transport, 'eventP50Ms'), 3),
      shown(of(transport, 'eventP99Ms'), 3),
      shown(of(transport, 'firstP50Ms'), 3),
      shown(of(transport, 'firstP99Ms'), 3),
      String(rounds.reduce((sum, seen) => sum + (seen.transport === transport ? seen.wrong : 0), 0)),
    ];
    const wrong = rounds.reduce((sum, seen) => sum + seen.wrong, 0);
    return {
      rows: [
        ['client', 'event p50 ms', 'event p99 ms', 'first token p50 ms', 'p99 ms', 'wrong counts'],
        row('socket'),
        row('node-http'),
      ],
      checks: [
        atMost('truth log: wrong counts', wrong, 0),
        atMost('truth log: event times off, p50', of('socket', 'eventP50Ms'), 0.3, 'ms'),
        atMost('truth log: event times off, p99', of('socket', 'eventP99Ms'), 3, 'ms'),
        atMost('truth log: first token off, p50', of('socket', 'firstP50Ms'), 0.3, 'ms'),
        atMost('truth log: first token off, p99', of('socket', 'firstP99Ms'), 3, 'ms'),
      ],
      rounds,
    };
  },
};
