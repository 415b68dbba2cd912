import { atMost, median, medianRatio, shown } from '../figures.mjs';
import { cli } from '../omnimeter.mjs';
import { runClient, startBase64Source, startEmbeddedServer, startSource } from '../processes.mjs';

const floorScript = new URL('../socket-floor.mjs', import.meta.url).pathname;

/** 256 tokens a reply, at 50 a second; a reply that names no limit ends there. */
const text = {
  streams: 500,
  warmUps: 1,
  passes: 3,
  events: 256,
  model: 'Qwen/Qwen2.5-7B-Instruct',
  overrides: {
    0: {
      ttft: { baseMs: 100, perInputTokenMs: 0, sd: 0 },
      step: { nativeMs: 20, sd: 0, outlierP: 0 },
      batchSlope: 0,
      maxNumSeqs: 1024,
    },
  },
};

/** Forty chunks of two seconds of sound a reply, eight a second, behind a text of a few tokens. */
const audio = {
  streams: 64,
  warmUps: 2,
  passes: 3,
  events: 40,
  bytes: 96_000,
  everyMs: 125,
  model: 'Qwen/Qwen3-Omni-30B-A3B-Instruct',
  overrides: {
    0: { ttft: { baseMs: 10, perInputTokenMs: 0, sd: 0 }, step: { nativeMs: 5 }, batchSlope: 0, length: 4 },
    1: {
      ttft: { baseMs: 10, sd: 0 },
      step: { nativeMs: 5, lockToUpstream: 0, sd: 0, outlierP: 0 },
      batchSlope: 0,
      length: 1000,
    },
    2: { chunk: { initial: 25, frames: 25 }, decode: { firstMs: 1, baseMs: 1 }, batchSlope: 0 },
  },
};

async function read(url, streams) {
  await runClient(process.execPath, [floorScript, '--port', new URL(url).port, '--streams', String(streams)]);
}

/** CPU seconds that a server spends on so many passes of its streams, once it is warm. */
async function costOf(start, { streams, passes, warmUps }) {
  const server = await start();
  try {
    for (let pass = 0; pass < warmUps; pass += 1) await read(server.url, Math.min(streams, 128));
    const beforeS = server.cpuS();
    for (let pass = 0; pass < passes; pass += 1) await read(server.url, streams);
    const afterS = server.cpuS();
    return beforeS === null || afterS === null ? null : afterS - beforeS;
  } finally {
    await server.stop();
  }
}

function embedded({ model, overrides }) {
  const flags = ['--omni', '--served-model-name', 'bench', '--stage-overrides', JSON.stringify(overrides)];
  return () => startEmbeddedServer(cli, [model, ...flags]);
}

/** The embedded server's own CPU, pipeline and writes included. */
export const serverCase = {
  name: 'server',
  title: "The embedded server's CPU",
  async run({ quick, note }) {
    const rounds = [];
    for (let number = 0; number < (quick ? 1 : 3); number += 1) {
      note(`server, round ${number + 1}: ${text.streams} streams of text`);
      const textS = await costOf(embedded(text), text);
      note(`server, round ${number + 1}: ${audio.streams} streams of speech`);
      const audioS = await costOf(embedded(audio), audio);
      const encodeS = await costOf(() => startBase64Source(audio), audio);
      const bareS = await costOf(() => startSource({ events: text.events, perSecond: 50 }), text);
      const perToken = (seconds) =>
        seconds === null ? null : (seconds / (text.passes * text.streams * text.events)) * 1e6;
      rounds.push({ textUs: perToken(textS), bareUs: perToken(bareS), audioS, encodeS });
    }
    const column = (field) => rounds.map((round) => round[field]);
    const textUs = median(column('textUs'));
    const ratio = medianRatio(column('audioS'), column('encodeS'));
    return {
      rows: [
        ['load', 'CPU'],
        [`${text.streams} streams × 50 tokens/s, µs a token`, shown(textUs)],
        ['the same from a server that only writes, µs a token', shown(median(column('bareUs')))],
        [`${audio.passes} × ${audio.streams} streams of speech, s`, shown(median(column('audioS')))],
        ['the same bytes, only encoded and written, s', shown(median(column('encodeS')))],
      ],
      checks: [
        atMost('server: CPU per text event', textUs, 15, 'µs'),
        atMost('server: CPU of speech over encoding and writing it', ratio, 1.5),
      ],
      rounds,
    };
  },
};
