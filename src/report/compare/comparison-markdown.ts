import {
  comparisonRows,
  gateLine,
  type JudgedComparison,
  methodLine,
  rowTitles,
  sideLine,
  tallyLine,
} from './comparison-report.ts';

/** Text that stays text in Markdown and in a table's cell. */
function escapeMarkdown(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]+/gu, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replace(/[\\`*_{}[\]()#+!|~@]/g, '\\$&');
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

/** The comparison as Markdown: for a file, a pull request, or the summary of a CI job. */
export function renderComparisonMarkdown(
  { comparison, gates }: JudgedComparison,
  familyError: number,
): string {
  const broken = gates.filter(({ passed }) => !passed).length;
  const verdict = broken > 0 ? `${broken} of ${gates.length} conditions broken` : tallyLine(comparison);
  const lines = [
    `## Comparison: ${escapeMarkdown(comparison.candidate.label)}`,
    '',
    `**${escapeMarkdown(verdict)}**`,
    '',
    `- baseline ${escapeMarkdown(sideLine(comparison.baseline))}`,
    `- candidate ${escapeMarkdown(sideLine(comparison.candidate))}`,
    '',
    ...(gates.length > 0
      ? [...gates.map((gate) => `- ${gate.passed ? '✅' : '❌'} ${escapeMarkdown(gateLine(gate))}`), '']
      : []),
    row(Object.values(rowTitles)),
    '|---|---:|---:|---:|---:|---|',
    ...comparisonRows(comparison).map((each) =>
      row([
        `\`${each.key}\``,
        ...[each.baseline, each.candidate, each.change, each.interval].map(escapeMarkdown),
        each.verdict === 'worse' || each.verdict === 'better' ? `**${each.verdict}**` : each.verdict,
      ]),
    ),
    '',
    methodLine(familyError),
    '',
    ...comparison.notes.map((note) => `- ${escapeMarkdown(note)}`),
  ];
  return `${lines.join('\n').trimEnd()}\n`;
}
