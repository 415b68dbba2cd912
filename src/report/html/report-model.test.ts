import { describe, expect, it } from 'vitest';
import { summarize } from '../../metrics/summarize.ts';
import { allFailedRun, baseRun, everySection, speechRun } from '../own-runs.suite.ts';
import { buildReportModel } from './build-report-model.ts';
import {
  type ExampleRun,
  failedRun,
  hostileRun,
  hostileText,
  hugeRun,
  imageRun,
  spokenRun,
  textRun,
  videoRun,
} from './html-runs.suite.ts';
import { embeddedJson, renderHtmlReport } from './render-html-report.ts';
import type { ReportModel } from './report-model.ts';

const modelOf = ({ records, facts }: ExampleRun): ReportModel =>
  buildReportModel(records, summarize(records, facts));

/** Every number within, however deep. */
function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(numbersIn);
}

describe('the data of the page', () => {
  const runs: readonly [string, () => ExampleRun][] = [
    ['text', textRun],
    ['speech with stages', spokenRun],
    ['images', imageRun],
    ['videos', videoRun],
    ['failures alone', failedRun],
    ['hostile strings', hostileRun],
    ['every section', everySection],
    ['the base report', baseRun],
    ['speech alone', speechRun],
    ['all failed', allFailedRun],
    ['nothing at all', () => ({ records: [], facts: textRun(1).facts })],
  ];
  it.each(runs)('of %s holds finite numbers and survives JSON', (_, run) => {
    const model = modelOf(run());
    expect(numbersIn(model).every(Number.isFinite)).toBe(true);
    expect(JSON.parse(JSON.stringify(model))).toEqual(model);
  });

  it('says what the summary says', () => {
    const model = modelOf(textRun());
    const ttft = model.distributions.find(({ key }) => key === 'ttft');
    // First tokens after 20…49 ms.
    expect(ttft).toMatchObject({ count: 30, mean: 34.5 });
    expect(ttft?.quantiles[0]).toEqual([0, 20]);
    expect(ttft?.quantiles.at(-1)).toEqual([100, 49]);
    expect(ttft?.counts.reduce((sum, count) => sum + count, 0)).toBe(30);
    expect(model.run).toMatchObject({ completed: 30, failed: 0, state: 'complete' });
    expect(model.requests.rows).toHaveLength(30);
    expect(Object.keys(model.details)).toHaveLength(30);
  });

  it('shows where speech waited and where playback ran dry', () => {
    const model = modelOf(spokenRun());
    const [path] = model.paths;
    expect(path?.goal).toBe('audio');
    expect(path?.steps.map(({ name }) => name)).toEqual([
      'thinker',
      'talker',
      'code2wav',
      'delivery',
      'rest of the reply',
    ]);
    // 160 ms to the first audio: 28, 32 and 90 in the stages, 10 on the way; the index cancels out but in the first.
    expect(path?.steps.map(({ medianMs }) => medianMs).slice(1, 4)).toEqual([32, 90, 10]);
    expect(model.details['0']?.playback?.underruns).toHaveLength(1);
    expect(model.details['1']?.playback).toMatchObject({ underrunCount: 0, waitedMs: 0 });
  });

  it('holds the slowest, the failed and a sample of a large run, in two megabytes', () => {
    const run = hugeRun();
    const model = modelOf(run);
    const { rows, total, failedTotal } = model.requests;
    expect({ total, failedTotal }).toEqual({ total: 100_000, failedTotal: 400 });
    expect(JSON.stringify(model).length).toBeLessThan(1.9e6);
    const latency = model.requests.columns.findIndex(({ key }) => key === 'e2el');
    const slowest = rows.filter(({ reason }) => reason === 'slow').map(({ values }) => values[latency] ?? 0);
    const others = rows.filter(({ reason }) => reason === 'sample').map(({ values }) => values[latency] ?? 0);
    expect(slowest.length).toBeGreaterThanOrEqual(300);
    expect(others).toHaveLength(800);
    expect(Math.min(...slowest)).toBeGreaterThanOrEqual(Math.max(...others));
    expect(rows.filter(({ reason }) => reason === 'failed')).toHaveLength(300);
    // The sample is of all parts of the run.
    const indices = rows.filter(({ reason }) => reason === 'sample').map(({ index }) => index);
    expect(indices.filter((index) => index < 50_000).length).toBeGreaterThan(300);
    expect(modelOf(run)).toEqual(model);
  });

  it('keeps secrets of the command line to itself', () => {
    const { command } = modelOf(hostileRun());
    expect(command).toContain('Authorization=***');
    expect(command).toContain('http://u:***@h/');
    expect(command).not.toMatch(/secret|pw@/);
  });
});

describe('the page', () => {
  const template = '<title>{{title}}</title><script type="application/json">{{data}}</script>';

  it('holds data that no parser of HTML can mistake for markup', () => {
    const json = embeddedJson({ text: hostileText });
    expect(json).not.toMatch(/[<>&\u2028\u2029]/);
    expect(JSON.parse(json)).toEqual({ text: hostileText });
  });

  it('is filled once, however much its data looks like a place to fill', () => {
    const page = renderHtmlReport(modelOf(hostileRun()), template);
    const data = /<script type="application\/json">(.*)<\/script>$/s.exec(page)?.[1] ?? '';
    expect(JSON.parse(data)).toEqual(modelOf(hostileRun()));
    expect(page.match(/<script/g)).toHaveLength(1);
    expect(/<title>(.*)<\/title>/s.exec(page)?.[1]).not.toMatch(/[<>\p{Cc}\u202e]/u);
  });
});
