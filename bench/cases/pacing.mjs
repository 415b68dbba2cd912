import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atMost, median, shown } from '../figures.mjs';
import { cli } from '../omnimeter.mjs';
import { runClient, startEmbeddedServer } from '../processes.mjs';

const model = 'openbmb/MiniCPM-o-4_5';
const concurrency = 2;
const conversations = 4;
const clipS = 6;

function ffmpeg(...args) {
  execFileSync('ffmpeg', ['-y', '-v', 'error', ...args]);
}

function hasFfmpeg() {
  try {
    ffmpeg('-version');
    return true;
  } catch {
    return false;
  }
}

/** A dataset of short clips with a tone and a test picture, in the layout of OmniInteract, and a voice. */
function makeConversations(folder) {
  const subset = join(folder, 'OmniInteract', '1q1a');
  for (const name of ['videos', 'annotations']) mkdirSync(join(subset, name), { recursive: true });
  const entries = Array.from({ length: conversations }, (_, number) => {
    const [video, annotation] = [`videos/${number}.mp4`, `annotations/${number}.json`];
    const picture = ['-f', 'lavfi', '-i', `testsrc=size=320x180:rate=10:duration=${clipS}`];
    const tone = ['-f', 'lavfi', '-i', `sine=frequency=440:sample_rate=16000:duration=${clipS}`];
    ffmpeg(...picture, ...tone, '-c:a', 'aac', '-c:v', 'mpeg4', '-q:v', '8', join(subset, video));
    writeFileSync(join(subset, annotation), '[]');
    return { video, annotation };
  });
  writeFileSync(join(subset, 'video_json_map.json'), JSON.stringify({ total: entries.length, entries }));
  const voice = join(folder, 'voice.wav');
  ffmpeg('-f', 'lavfi', '-i', 'sine=frequency=220:sample_rate=16000:duration=0.5', voice);
  return { dataset: join(folder, 'OmniInteract'), voice };
}

async function round({ dataset, voice }, folder, number) {
  const server = await startEmbeddedServer(cli, [model, '--omni']);
  const file = join(folder, `result-${number}.json`);
  try {
    await runClient(process.execPath, [
      ...[cli, 'bench', 'serve', '--omni', '--backend', 'openai-realtime-duplex', '--model', model],
      ...['--base-url', server.url, '--endpoint', '/v1/realtime', '--disable-tqdm'],
      ...['--dataset-name', 'omniinteract', '--dataset-path', dataset, '--omniinteract-subsets', '1q1a'],
      ...['--omniinteract-ref-audio', voice],
      ...['--omniinteract-output-dir', join(folder, `artifacts-${number}`), '--num-warmups', '0'],
      ...['--num-prompts', String(conversations), '--max-concurrency', String(concurrency)],
      ...['--save-result', '--result-filename', file],
    ]);
  } finally {
    await server.stop();
  }
  const result = JSON.parse(readFileSync(file, 'utf8'));
  return {
    completed: result.completed,
    meanMs: result.input_pacing_mean_lag_ms,
    maxMs: result.input_pacing_max_lag_ms,
  };
}

/** How late a live conversation's sound leaves the client, against the real time that it stands for. */
export const pacingCase = {
  name: 'pacing',
  title: `Live conversations, ${concurrency} at once: how late 200 ms of sound leave`,
  async run({ quick, note }) {
    const title = ['conversations', 'mean lag ms', 'max lag ms'];
    if (!hasFfmpeg()) return { rows: [title, ['no ffmpeg', 'n/a', 'n/a']], checks: [], rounds: [] };
    const folder = mkdtempSync(join(tmpdir(), 'omnimeter-bench-'));
    const rounds = [];
    try {
      const made = makeConversations(folder);
      for (let number = 0; number < (quick ? 1 : 3); number += 1) {
        note(`pacing, round ${number + 1}`);
        rounds.push(await round(made, folder, number));
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
    const column = (field) => median(rounds.map((seen) => seen[field]));
    return {
      rows: [title, [String(column('completed')), shown(column('meanMs'), 3), shown(column('maxMs'), 3)]],
      checks: [
        atMost('pacing: conversations missing', conversations - column('completed'), 0),
        atMost('pacing: mean lag', column('meanMs'), 2, 'ms'),
        atMost('pacing: max lag', column('maxMs'), 20, 'ms'),
      ],
      rounds,
    };
  },
};
