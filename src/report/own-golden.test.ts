import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { summarize } from '../metrics/summarize.ts';
import { renderFailureGroups } from './failure-groups.ts';
import {
  allFailedRun,
  baseRun,
  everySection,
  failedPicturesRun,
  poolingRun,
  speechRun,
} from './own-runs.suite.ts';
import { renderResultJson } from './result-json.ts';
import { renderTerminalReport } from './terminal-report.ts';

// `UPDATE_GOLDENS=1 npx vitest run src/report` rewrites the files; read the difference before committing it.
const rewrite = process.env.UPDATE_GOLDENS === '1';

function expectGolden(name: string, found: string): void {
  const url = new URL(`./__fixtures__/own/${name}`, import.meta.url);
  if (rewrite) writeFileSync(url, found);
  expect(found).toBe(readFileSync(url, 'utf8'));
}

const runs = [
  { name: 'every-section', run: everySection },
  { name: 'base', run: baseRun },
  { name: 'speech', run: speechRun },
  { name: 'all-failed', run: allFailedRun },
  { name: 'pooling', run: poolingRun },
  { name: 'pooling-omni', run: () => poolingRun({ omni: true }) },
  { name: 'failed-pictures', run: failedPicturesRun },
];

describe.each(runs)('our own golden $name', ({ name, run }) => {
  const { records, facts } = run();
  const summary = summarize(records, facts);

  it('prints', () => {
    const lines = [...renderTerminalReport(summary), ...renderFailureGroups(summary)];
    expectGolden(`${name}.txt`, `${lines.join('\n')}\n`);
  });

  it.each([false, true])('is saved, in detail: %s', (detailed) => {
    const result = renderResultJson(summary, { detailed, dateLabel: '20260102-030405' });
    expectGolden(`${name}${detailed ? '-detailed' : ''}.json`, `${JSON.stringify(result, null, 1)}\n`);
  });
});
