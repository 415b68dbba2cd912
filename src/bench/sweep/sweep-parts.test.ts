import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { UsageError } from '../../foundation/errors.ts';
import { benchWords } from './bench-words.ts';
import {
  areLinked,
  checkLinks,
  combinationFolder,
  parseLinkVariables,
  withLoadLists,
} from './combinations.ts';
import { csvOf, readFinishedRun, writeJsonFile } from './run-files.ts';
import { valuesBetween } from './run-workload-sweep.ts';
import { serverUrl } from './server-under-test.ts';
import { SweepLock } from './sweep-lock.ts';

const folder = mkdtempSync(join(tmpdir(), 'omnimeter-sweep-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('combinations', () => {
  it('are filtered by linked parameters, under any spelling', () => {
    const links = parseLinkVariables('max_num_seqs=max_concurrency, a.b=c');
    expect(links).toEqual([
      { serve: 'max_num_seqs', bench: 'max_concurrency' },
      { serve: 'a.b', bench: 'c' },
    ]);
    const one = parseLinkVariables('max_num_seqs=max_concurrency');
    expect(areLinked({ 'max-num-seqs': 4 }, { max_concurrency: 4 }, one)).toBe(true);
    expect(areLinked({ max_num_seqs: 4 }, { max_concurrency: 8 }, one)).toBe(false);
    expect(areLinked({ max_num_seqs: 4 }, {}, one)).toBe(false);
    expect(areLinked({}, {}, [])).toBe(true);
    expect(() => parseLinkVariables('a')).toThrow(UsageError);
    expect(() => parseLinkVariables('a=b=c')).toThrow(UsageError);
  });

  it('must link parameters that are there, and leave something to measure', () => {
    const serveItems = [{ 'max-num-seqs': 4 }, { 'max-num-seqs': 8 }];
    const check = (text: string, concurrency: number) => () =>
      checkLinks({
        serveItems,
        benchItems: [{ max_concurrency: concurrency }],
        links: parseLinkVariables(text),
      });
    expect(check('max_num_seqs=max_concurrency', 8)).not.toThrow();
    expect(check('max_num_sqs=max_concurrency', 8)).toThrow(/of the server .*mean max-num-seqs\?/);
    expect(check('max_num_seqs=concurency', 8)).toThrow(/of the benchmark has 'concurency'/);
    expect(check('max_num_seqs=max_concurrency', 5)).toThrow(/nothing is left to measure/);
    expect(() => checkLinks({ serveItems: [{}], benchItems: [{}], links: [] })).not.toThrow();
  });

  it('have folders as vllm bench sweep names them', () => {
    expect(combinationFolder('x', {}, {})).toBe('x');
    expect(combinationFolder('x', { a: 1 }, {})).toBe('x/SERVE--a=1');
    expect(combinationFolder('x', { a: 1 }, { b: 2, c: true })).toBe('x/SERVE--a=1-BENCH--b=2-c=true');
    expect(combinationFolder('x', {}, { p: '../../y' })).toBe('x/BENCH--p=______y');
    expect(combinationFolder('x', {}, { b: 2 }, 'request_rate=3')).toBe('x/BENCH--b=2-WL--request_rate=3');
  });

  it('are multiplied by simple lists', () => {
    const lists = { maxConcurrency: [1, 2], requestRate: [Infinity], promptsFactor: 10 };
    expect(withLoadLists([{ a: 1 }], lists)).toEqual([
      { a: 1, max_concurrency: 1, request_rate: Infinity, num_prompts: 10 },
      { a: 1, max_concurrency: 2, request_rate: Infinity, num_prompts: 20 },
    ]);
    const named = withLoadLists([{ _benchmark_name: 'x' }], { ...lists, promptsFactor: null });
    expect(named.map((item) => item._benchmark_name)).toEqual([
      'x-max_concurrency=1-request_rate=inf',
      'x-max_concurrency=2-request_rate=inf',
    ]);
  });
});

describe('benchWords', () => {
  const place = { folder: 'r/e/B', fileName: 'run=0.json', experimentDir: 'r/e' };
  it('save to the file of the run, keep metrics that were asked for, and give each run its own run folder', () => {
    const words = benchWords(
      ['omnimeter', 'bench', 'serve', '--percentile-metrics', 'audio_rtf,ttft', '--run-dir=runs'],
      { max_concurrency: 2 },
      place,
    );
    expect(words.slice(3)).toEqual([
      ...['--percentile-metrics', 'audio_rtf,ttft', '--run-dir=runs', '--max-concurrency', '2'],
      ...[
        '--run-dir',
        'runs/B/run=0',
        '--percentile-metrics',
        'ttft,tpot,itl,e2el,audio_rtf',
        '--save-result',
      ],
      ...['--result-dir', 'r/e/B', '--result-filename', 'run=0.json'],
    ]);
  });
});

describe('benchWords with a page', () => {
  it.each([
    ['--html=l.html', 'l-B-run=0.html'],
    ['--html=d/l.html', 'd/l-B-run=0.html'],
    ['--html=d.e/l', 'd.e/l-B-run=0'],
  ])('%s is one for each run', (flag, page) => {
    const words = benchWords(
      ['c', flag],
      {},
      { folder: 'r/e/B', fileName: 'run=0.json', experimentDir: 'r/e' },
    );
    expect(words[words.lastIndexOf('--html') + 1]).toBe(page);
    expect(benchWords(['c'], {}, { folder: 'r', fileName: 'run=0.json', experimentDir: 'r' })).not.toContain(
      '--html',
    );
  });
});

describe('serverUrl', () => {
  it.each([
    ['vllm serve m', 'http://127.0.0.1:8000'],
    ['vllm serve m --port 9 --host 0.0.0.0', 'http://127.0.0.1:9'],
    ['vllm serve m --port=9 --host=gpu1', 'http://gpu1:9'],
    ['vllm serve m -p 7 --host ::', 'http://[::1]:7'],
  ])('%s', (command, url) => {
    expect(serverUrl(command.split(' '))).toBe(url);
  });
});

describe('files', () => {
  it('tell a finished run from one that was cut off', () => {
    const path = join(folder, 'run=0.json');
    expect(readFinishedRun(path)).toBeNull();
    for (const text of ['{"completed": 1}', '{"run_number": 0', '[]']) {
      writeFileSync(path, text);
      expect(readFinishedRun(path)).toBeNull();
    }
    writeJsonFile(path, { run_number: 0, request_rate: Infinity }, 4);
    expect(readFinishedRun(path)).toEqual({ run_number: 0, request_rate: 'inf' });
    expect(readFileSync(path, 'utf8')).toMatch(/^\{\n {4}"run_number"/);
  });

  it('write CSV with a numbered first column and every key', () => {
    const runs = [
      { a: 1, b: 'x,"y"' },
      { a: null, c: [1] },
    ];
    expect(csvOf(runs)).toBe(',a,b,c\n0,1,"x,""y""",\n1,,,[1]\n');
  });
});

describe('valuesBetween', () => {
  const rate = { variable: 'request_rate', iterations: 5 } as const;
  const runs = (...throughputs: readonly number[]) =>
    throughputs.map((request_throughput) => ({ request_throughput, mean_e2el_ms: 2000 }));

  // numpy.linspace(2, 10, 5)[1:-1] = 4, 6, 8; of (2, 4, 5): 2.5, 3, 3.5 round to 2, 3, 4.
  it.each([
    [runs(1.5, 1.7), runs(10.9), [4, 6, 8]],
    [runs(2), runs(4.5), [2, 3, 4]],
    [runs(3), runs(3.2), [3]],
    [[{}], runs(3), []],
  ])('levels %#', (serial, batch, values) => {
    expect(valuesBetween(serial, batch, rate)).toEqual(values);
  });

  it('turns throughput into concurrency by Little’s law', () => {
    expect(valuesBetween(runs(1), runs(5), { variable: 'max_concurrency', iterations: 3 })).toEqual([6]);
  });
});

describe.skipIf(!existsSync('/proc/self/stat'))('SweepLock', () => {
  it('keeps a second sweep out while the first lives, and not longer', () => {
    const dir = join(folder, 'locked');
    const lock = SweepLock.take(dir, () => {});
    const file = join(dir, '.sweep.json');
    // Another living process: the parent of this one.
    const stat = readFileSync(`/proc/${process.ppid}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[19];
    writeFileSync(file, JSON.stringify([{ pid: process.ppid, ticks: stat }]));
    expect(() => SweepLock.take(dir, () => {})).toThrow(/being worked on by process/);
    writeFileSync(file, JSON.stringify([{ pid: process.ppid, ticks: '1' }]));
    const said: string[] = [];
    SweepLock.take(dir, (line) => said.push(line)).release();
    expect(said).toEqual([]);
    lock.release();
  });
});
