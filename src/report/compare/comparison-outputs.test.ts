import { describe, expect, it } from 'vitest';
import { compareSides } from './compare-sides.ts';
import type { ComparedRun, Side } from './compared-run.ts';
import { renderComparisonHtml } from './comparison-html.ts';
import { comparisonJson } from './comparison-json.ts';
import { renderComparisonJunit } from './comparison-junit.ts';
import { renderComparisonMarkdown } from './comparison-markdown.ts';
import type { JudgedComparison } from './comparison-report.ts';
import { renderComparison } from './comparison-terminal.ts';
import { judgeChange, parseGate } from './gate.ts';

const hostile = '<script>alert(1)</script>\u001b[2J\u0007\u202e"&\'|`*';

function side(label: string, value: number): Side {
  const run: ComparedRun = {
    source: hostile,
    values: new Map([
      ['mean_ttft_ms', value],
      ['failed', 0],
      [`x${hostile}`, 1],
    ]),
    records: null,
    notes: [`a note of ${hostile}`],
  };
  return { label, runs: [run] };
}

const comparison = compareSides(side(hostile, 100), side(`b ${hostile}`, 112.5), {
  familyError: 0.03,
  seed: 0,
  askedKeys: ['p99_ttft_ms'],
});
const gates = [
  judgeChange(parseGate('fail-on', 'mean_ttft_ms>+5%'), 100, 112.5),
  judgeChange(parseGate('fail-on', 'failed>0'), 0, 0),
];
const judged: JudgedComparison = { comparison, gates };

describe('outputs of a comparison with hostile texts', () => {
  it('the terminal gets no control character', () => {
    const lines = renderComparison(judged, 0.03).join('\n');
    expect(lines).not.toMatch(/(?!\n)[\p{Cc}\u202e]/u);
    expect(lines).toContain('mean_ttft_ms       100      112.5  +12.5 %');
    expect(lines).toContain("BROKEN  --fail-on 'mean_ttft_ms>+5%'");
  });

  it('HTML gets no markup', () => {
    const page = renderComparisonHtml([judged], 0.03);
    expect(page).not.toContain('<script');
    expect(page).not.toMatch(/(?!\n)[\p{Cc}\u202e]/u);
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page).not.toMatch(/NaN|undefined|null/);
    expect(page).toMatch(/<html lang="en">[\s\S]*<main>/);
  });

  it('Markdown stays text', () => {
    const text = renderComparisonMarkdown(judged, 0.03);
    expect(text).not.toContain('<script');
    expect(text).not.toMatch(/(?!\n)[\p{Cc}\u202e]/u);
    expect(text).toContain('1 of 2 conditions broken');
    const widths = text
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map((line) => line.split(/(?<!\\)\|/).length);
    expect(new Set(widths)).toEqual(new Set([8]));
  });

  it('JUnit counts cases and failures', () => {
    const xml = renderComparisonJunit([judged]);
    expect(xml).not.toContain('<script');
    expect(xml).not.toMatch(/(?!\n)[\p{Cc}\u202e]/u);
    expect(xml).toContain('<testsuites name="omnimeter compare" tests="2" failures="1">');
    expect(xml.match(/<failure /g)).toHaveLength(1);
  });

  it('JSON gives every metric a boolean, and null for what was not observed', () => {
    const json = JSON.parse(JSON.stringify(comparisonJson([judged], 0.03)));
    expect(json.metrics.mean_ttft_ms).toMatchObject({ flagged: false, baseline: 100, change_ratio: 0.125 });
    expect(json.metrics.p99_ttft_ms).toMatchObject({ flagged: false, baseline: null, candidate: null });
    expect(json).toMatchObject({ passed: false, comparisons: [{ passed: false }] });
    for (const metric of Object.values<{ flagged: unknown }>(json.metrics))
      expect(typeof metric.flagged).toBe('boolean');
  });
});
