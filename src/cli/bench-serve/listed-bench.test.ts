import { describe, expect, it } from 'vitest';
import { UsageError } from '../../foundation/errors.ts';
import { allBenchServeFlags } from '../flags/bench-serve/bench-serve-flags.ts';
import { parseFlags } from '../flags/parse-flags.ts';
import { asksForRuns, listedBench, listNotes } from './listed-bench.ts';

async function listed(argv: readonly string[], env = {}) {
  const parsed = await parseFlags(argv, allBenchServeFlags, env);
  if (parsed.kind === 'help') throw new Error('help');
  return {
    asks: asksForRuns(parsed.values),
    notes: listNotes(parsed.values),
    make: () => listedBench(argv, parsed.values, new Date(2026, 0, 2, 3, 4, 5)),
  };
}

describe('bench serve over lists', () => {
  it('is one run without them', async () => {
    expect((await listed(['--max-concurrency', '4', '--num-runs', '1'])).asks).toBe(false);
  });

  it('is a sweep of itself without the lists and without a place for results', async () => {
    const argv = [
      ...[
        '--model',
        'm',
        '--sweep-max-concurrency',
        '1,2',
        '--sweep-request-rate',
        '0.5,inf',
        '--num-runs',
        '2',
      ],
      ...[
        '--goodput',
        'ttft:5',
        'tpot:1',
        '--no-omni',
        '--extra-body.a=-1',
        '--result-dir',
        'out',
        '--save-result',
      ],
    ];
    const { asks, make } = await listed(argv);
    const options = make();
    expect(asks).toBe(true);
    expect(options.bench.words).toEqual([
      ...[
        'omnimeter',
        'bench',
        'serve',
        '--model',
        'm',
        '--goodput',
        'ttft:5',
        'tpot:1',
        '--no-omni',
        '--extra-body.a=-1',
      ],
    ]);
    expect(options).toMatchObject({ experimentDir: 'out/sweep-20260102-030405', numRuns: 2, serve: null });
    expect(options.benchItems).toEqual([
      { max_concurrency: 1, request_rate: 0.5 },
      { max_concurrency: 1, request_rate: Infinity },
      { max_concurrency: 2, request_rate: 0.5 },
      { max_concurrency: 2, request_rate: Infinity },
    ]);
  });

  it('says what becomes of flags that name one place for all runs', async () => {
    const argv = ['--append-result', '--result-filename', 'a.json', '--html', 'l.html', '--num-runs', '2'];
    expect((await listed(argv)).notes.map((note) => note.split(/[ :]/)[0])).toEqual([
      ...['--result-filename', '--append-result', '--html'],
    ]);
    expect((await listed(['--num-runs', '2', '--save-result'])).notes).toEqual([]);
  });

  it('sees a page that the environment asks for', async () => {
    const { make } = await listed(['--num-runs', '2'], { OMNIMETER_HTML: 'l.html' });
    expect(make().bench.words).toEqual(['omnimeter', 'bench', 'serve', '--html', 'l.html']);
  });

  it.each([
    ['--sweep-max-concurrency', '1,x'],
    ['--sweep-max-concurrency', '0'],
    ['--sweep-request-rate', '-1'],
    ['--sweep-num-prompts-factor', '2'],
  ])('refuses %s %s', async (...argv) => {
    expect((await listed(argv)).make).toThrow(UsageError);
  });
});
