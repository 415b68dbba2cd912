import { escapeMarkup } from '../escape-markup.ts';
import type { JudgedComparison } from './comparison-report.ts';

/**
 * The conditions as JUnit test cases, one suite per candidate, for CI systems that show test results. A comparison
 * without conditions has one case that passes.
 */
export function renderComparisonJunit(judged: readonly JudgedComparison[]): string {
  const suites = judged.map(({ comparison, gates }) => {
    const cases =
      gates.length > 0
        ? gates.map(({ gate, passed, detail }) => {
            const name = escapeMarkup(`--${gate.kind} ${gate.text}`);
            const failure = `<failure message="${escapeMarkup(detail)}" type="${gate.kind}"/>`;
            return `    <testcase classname="omnimeter.compare" name="${name}">${passed ? '' : failure}</testcase>`;
          })
        : ['    <testcase classname="omnimeter.compare" name="no conditions given"/>'];
    const failures = gates.filter(({ passed }) => !passed).length;
    const name = escapeMarkup(`${comparison.candidate.label} against ${comparison.baseline.label}`);
    return [
      `  <testsuite name="${name}" tests="${cases.length}" failures="${failures}" errors="0" skipped="0">`,
      ...cases,
      '  </testsuite>',
    ].join('\n');
  });
  const all = judged.flatMap(({ gates }) => gates);
  const failures = all.filter(({ passed }) => !passed).length;
  const tests = judged.reduce((sum, { gates }) => sum + Math.max(1, gates.length), 0);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="omnimeter compare" tests="${tests}" failures="${failures}">`,
    ...suites,
    '</testsuites>',
    '',
  ].join('\n');
}
