import { atMost, shown } from '../figures.mjs';
import { benchServe, cli } from '../omnimeter.mjs';
import { startEmbeddedServer, startSource } from '../processes.mjs';

const model = 'Qwen/Qwen3-Omni-30B-A3B-Instruct';
/** A thinker that is done at once and takes any number of requests. */
const fast = JSON.stringify({
  0: {
    ttft: { baseMs: 5, perInputTokenMs: 0, sd: 0 },
    step: { nativeMs: 20, sd: 0, outlierP: 0 },
    batchSlope: 0,
    maxNumSeqs: 4096,
  },
});

async function look({ facts, cost, records }) {
  const indexes = new Set();
  for await (const { index, outcome } of records) if (outcome.ok) indexes.add(index);
  return {
    good: indexes.size,
    maxInFlight: facts.self.maxInFlight,
    peakRssMb: cost.peakRssBytes === null ? null : cost.peakRssBytes / 1e6,
    wallS: cost.wallS,
  };
}

async function manyRequests(requests) {
  const source = await startSource({ events: 16, perSecond: 0 });
  try {
    const flags = ['--model', 'bench', '--max-concurrency', '256'];
    return await benchServe({ url: source.url, requests, flags }, look);
  } finally {
    await source.stop();
  }
}

async function manyAtOnce(requests, cap) {
  const server = await startEmbeddedServer(cli, [model, '--omni', '--stage-overrides', fast]);
  try {
    const flags = [
      ...['--model', model, '--custom-output-len', '32', '--max-concurrency', String(cap)],
      ...['--extra-body', '{"modalities": ["text"], "ignore_eos": true}'],
    ];
    return await benchServe({ url: server.url, requests, flags }, look);
  } finally {
    await server.stop();
  }
}

/** The client's memory in long runs and wide ones. */
export const memoryCase = {
  name: 'memory',
  title: "The client's memory",
  async run({ quick, note }) {
    const [long, wide] = quick ? [20_000, 4000] : [100_000, 20_000];
    const cap = 1000;
    note(`memory: ${wide} requests, ${cap} at once`);
    const atOnce = await manyAtOnce(wide, cap);
    note(`memory: ${long} requests`);
    const many = await manyRequests(long);
    const row = (what, { good, peakRssMb, maxInFlight, wallS }) => [
      what,
      String(good),
      String(maxInFlight),
      shown(peakRssMb, 0),
      shown(wallS, 1),
    ];
    return {
      rows: [
        ['run', 'good records', 'most in flight', 'peak RSS MB', 'wall s'],
        row(`${wide} × 32 tokens, ${cap} at once`, atOnce),
        row(`${long} × 16 events, 256 at once`, many),
      ],
      checks: [
        atMost(`${wide} requests at ${cap}: records lost`, wide - atOnce.good, 0),
        atMost(`${wide} requests at ${cap}: most in flight`, atOnce.maxInFlight, cap),
        atMost(`${wide} requests at ${cap}: peak RSS`, atOnce.peakRssMb, 700, 'MB'),
      ],
      rounds: [{ atOnce, many }],
    };
  },
};
