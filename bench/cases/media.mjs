import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { atMost, median, medianRatio, shown } from '../figures.mjs';
import { cli } from '../omnimeter.mjs';
import { runClient, startSource } from '../processes.mjs';

const sharpAlone = fileURLToPath(new URL('../sharp-alone.mjs', import.meta.url));
const imagesPerRequest = 2;

async function sharpMs(images) {
  const { stdout } = await runClient(process.execPath, [sharpAlone, '--images', String(images)]);
  return JSON.parse(stdout).tookMs;
}

/** What `random-mm` says of its media: from the start of its thread to the last picture, the cache's file included. */
async function omnimeterMs(requests, { url, cache }) {
  const { stderr } = await runClient('env', [
    `XDG_CACHE_HOME=${cache}`,
    ...[
      process.execPath,
      cli,
      'bench',
      'serve',
      '--backend',
      'openai-chat',
      '--endpoint',
      '/v1/chat/completions',
    ],
    ...['--base-url', url, '--model', 'bench', '--skip-tokenizer-init', '--no-journal', '--disable-tqdm'],
    ...['--dataset-name', 'random-mm', '--num-prompts', String(requests), '--random-input-len', '10'],
    ...['--random-mm-base-items-per-request', String(imagesPerRequest), '--max-concurrency', '4'],
    ...['--random-mm-bucket-config', '{(720, 1280, 1): 1}'],
  ]);
  const line = /random-mm: (\d+) images, .* (made|taken from an earlier run) in ([\d.]+) s/.exec(stderr);
  if (line === null || Number(line[1]) !== requests * imagesPerRequest)
    throw new Error(`random-mm did not say what it made:\n${stderr}`);
  return { origin: line[2], tookMs: Number(line[3]) * 1000 };
}

/** How long random media keep a run waiting. */
export const mediaCase = {
  name: 'media',
  title: 'Making 720p JPEGs of noise, two a request',
  async run({ quick, note }) {
    const requests = quick ? 50 : 200;
    const source = await startSource({ events: 1, perSecond: 0 });
    const rounds = [];
    try {
      for (let number = 0; number < (quick ? 1 : 5); number += 1) {
        note(`media, round ${number + 1}`);
        const cache = mkdtempSync(join(tmpdir(), 'omnimeter-bench-cache-'));
        try {
          const alone = await sharpMs(requests * imagesPerRequest);
          const made = await omnimeterMs(requests, { url: source.url, cache });
          const again = await omnimeterMs(requests, { url: source.url, cache });
          if (made.origin !== 'made' || again.origin === 'made') throw new Error('the cache was not used');
          rounds.push({ aloneMs: alone, madeMs: made.tookMs, keptMs: again.tookMs });
        } finally {
          rmSync(cache, { recursive: true, force: true });
        }
      }
    } finally {
      await source.stop();
    }
    const column = (field) => rounds.map((seen) => seen[field]);
    const row = (name, field) => [
      name,
      shown(median(column(field)) / 1000),
      shown(median(column(field)) / (requests * imagesPerRequest)),
      shown(medianRatio(column(field), column('aloneMs'))),
    ];
    return {
      rows: [
        [`${requests} requests`, 's', 'ms/image', '× sharp alone'],
        row('sharp alone, pixels at hand', 'aloneMs'),
        row('random-mm: thread, noise, JPEG, cache', 'madeMs'),
        row('random-mm: from an earlier run', 'keptMs'),
      ],
      checks: [
        atMost(
          'time of random-mm over that of sharp alone',
          medianRatio(column('madeMs'), column('aloneMs')),
          1.3,
        ),
      ],
      rounds,
    };
  },
};
