import { median, medianRatio, shown } from '../figures.mjs';
import { cli } from '../omnimeter.mjs';
import { runClient } from '../processes.mjs';

const commands = {
  'node -e 0': ['-e', '0'],
  'omnimeter --help': [cli, '--help'],
  'omnimeter bench serve --help': [cli, 'bench', 'serve', '--help'],
};

/** How long a user waits for help. */
export const startTimeCase = {
  name: 'start-time',
  title: 'Start time',
  async run({ quick, note }) {
    note('start time');
    const rounds = [];
    for (let number = 0; number < (quick ? 3 : 9); number += 1) {
      const seen = {};
      for (const [name, args] of Object.entries(commands)) {
        const { wallS, cpuS } = await runClient(process.execPath, args);
        seen[name] = { wallMs: wallS * 1000, cpuMs: cpuS === null ? null : cpuS * 1000 };
      }
      rounds.push(seen);
    }
    const column = (name, field) => rounds.map((seen) => seen[name][field]);
    return {
      rows: [
        ['command', 'wall ms', 'CPU ms', '× node -e 0 (wall)'],
        ...Object.keys(commands).map((name) => [
          name,
          shown(median(column(name, 'wallMs')), 0),
          shown(median(column(name, 'cpuMs')), 0),
          shown(medianRatio(column(name, 'wallMs'), column('node -e 0', 'wallMs'))),
        ]),
      ],
      checks: [],
      rounds,
    };
  },
};
