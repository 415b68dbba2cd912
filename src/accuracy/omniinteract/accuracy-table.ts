import { formatFixed } from '../../foundation/python-format.ts';
import type { OmniInteractAccuracy } from './evaluate-omniinteract.ts';
import { type AccuracySummary, scenarioTags } from './summarize-slots.ts';

const width = 55;
const labelWidth = 26;

function rule(fill: string, title = ''): string {
  const shown = title === '' ? '' : ` ${title} `;
  const left = Math.floor((width - shown.length) / 2);
  return shown === '' ? fill.repeat(width) : `${fill.repeat(left)}${shown}`.padEnd(width, fill);
}

function line(label: string, value: string | number): string {
  return `${`${label}:`.padEnd(labelWidth)}${value}`;
}

/** What was not observed is no 0. */
function six(value: number | null): string {
  return value === null ? 'n/a' : formatFixed(value, 6);
}

/** The report of an evaluation as it is printed, line for line as the reference prints it where everything was observed. */
export function accuracyTable(accuracy: OmniInteractAccuracy): string[] {
  const { summary } = accuracy;
  const scenarios = scenarioTags
    .map((tag) => ({ tag, cases: summary.scenario_case_counts[tag] ?? 0 }))
    .filter(({ cases }) => cases > 0)
    .map(({ tag, cases }) => `${tag} ${cases}`);
  return [
    '',
    rule('=', 'OmniInteract Accuracy'),
    line('Judge model', accuracy.judge_model),
    line('Cases', `${accuracy.evaluated} evaluated, ${accuracy.failed} failed, ${accuracy.skipped} skipped`),
    ...(scenarios.length > 0 ? [line('Scenario cases', scenarios.join(', '))] : []),
    ...leftOutLines(accuracy),
    line('Timing precision', accuracy.timing_precision),
    ...(accuracy.off_scale_scores > 0
      ? [line('Scores off the scale', `${accuracy.off_scale_scores}, taken as 0 or 1`)]
      : []),
    line('Global TP / FP / FN', `${six(summary.Global_TP)} / ${summary.Global_FP} / ${summary.Global_FN}`),
    line('Precision / Recall', `${six(summary.Precision)} / ${six(summary.Recall)}`),
    ...f1Lines(summary),
    ...interruptionLines(summary),
    ...nestedLines(summary),
    rule('='),
    '',
  ];
}

/** What cannot be placed in time is judged by nobody, and is no silence either. */
function leftOutLines({ left_out }: OmniInteractAccuracy): string[] {
  const { annotation_rows, transcript_chunks, transcript_words } = left_out;
  const parts = [
    numbered(annotation_rows, 'annotation row'),
    numbered(transcript_chunks, 'chunk'),
    numbered(transcript_words, 'word'),
  ].filter((text) => text !== '');
  return parts.length === 0 ? [] : [line('Left out', `${parts.join(', ')}, with no place in time`)];
}

function numbered(count: number, what: string): string {
  return count === 0 ? '' : `${count} ${what}${count === 1 ? '' : 's'}`;
}

function f1Lines({ paper_metrics: { exp_f1 }, num_slots }: AccuracySummary): string[] {
  const slices = [
    ['1Q1A realtime', exp_f1.realtime],
    ['1Q1A proactive', exp_f1.proactive],
    ['1Q1A nested', exp_f1.nested],
    ['1Q1A Global', exp_f1.one_q1a_global],
    ['1QnA', exp_f1.one_qna],
  ] as const;
  if (num_slots === 0) return [];
  return [
    rule('-', 'IA-QTF1'),
    ...slices
      .filter(([, metric]) => metric.num_slots > 0)
      .map(([label, metric]) => line(label, six(metric.IA_QTF1))),
    line('All Global', six(exp_f1.all_global.IA_QTF1)),
  ];
}

function interruptionLines({ interruption }: AccuracySummary): string[] {
  if (interruption.interrupted_slot_count === 0) return [];
  return [
    rule('-', 'Interruption'),
    line('Interrupted slots', interruption.interrupted_slot_count),
    line('NOR', six(interruption.NOR)),
    line('PAQ', six(interruption.PAQ)),
    line('CSM-SR', six(interruption.CSM_SR)),
    line('CSM-AS', `${six(interruption.CSM_AS)}s`),
  ];
}

function nestedLines({ paper_metrics: { exp_nested } }: AccuracySummary): string[] {
  if (exp_nested.num_pairs === 0) return [];
  return [
    rule('-', 'Nested'),
    line('Nested pairs', exp_nested.num_pairs),
    line('NCCS', six(exp_nested.NCCS)),
    line('Inner IA-QTF1', six(exp_nested.inner_IA_QTF1)),
    line('Outer IA-QTF1', six(exp_nested.outer_IA_QTF1)),
    line('Missed outer', `${exp_nested.missed_outer} / ${exp_nested.num_pairs}`),
  ];
}
