import { atMost, median, medianRatio, shown } from '../figures.mjs';
import { benchServe, terminalAvailable } from '../omnimeter.mjs';
import { startSource } from '../processes.mjs';

const streams = 256;
const perSecond = 50;
/** Replies of a second and a half, one after the other: records come all the time, as in a real run. */
const eventsPerReply = 75;

/** The live view draws four times a second on the thread that gathers records: what it costs the client. */
export const liveViewCase = {
  name: 'live-view',
  title: 'What the live view costs',
  async run({ quick, note }) {
    const title = ['progress', 'µs CPU/event', '× none'];
    if (!terminalAvailable)
      return { rows: [title, ['no script(1): no terminal', 'n/a', 'n/a']], checks: [], rounds: [] };
    const requests = streams * (quick ? 3 : 8);
    const source = await startSource({ events: eventsPerReply, perSecond });
    const rounds = [];
    try {
      for (let number = 0; number < (quick ? 3 : 7); number += 1) {
        const looks = number % 2 === 0 ? ['none', 'live'] : ['live', 'none'];
        const seen = {};
        for (const look of looks) {
          note(`live view, round ${number + 1}: ${look}`);
          const flags = ['--model', 'bench', '--max-concurrency', String(streams)];
          const cpuS = await benchServe(
            { url: source.url, requests, flags, terminal: look === 'live' },
            async ({ facts }) => facts.self.cpuS,
          );
          seen[look] = (cpuS / (requests * eventsPerReply)) * 1e6;
        }
        rounds.push(seen);
      }
    } finally {
      await source.stop();
    }
    const column = (look) => rounds.map((seen) => seen[look]);
    const ratio = medianRatio(column('live'), column('none'));
    return {
      rows: [
        title,
        ['none (--disable-tqdm)', shown(median(column('none'))), '1.00'],
        ['live view on a terminal', shown(median(column('live'))), shown(ratio)],
      ],
      checks: [atMost('live view: CPU per event, over none', ratio, 1.03)],
      rounds,
    };
  },
};
