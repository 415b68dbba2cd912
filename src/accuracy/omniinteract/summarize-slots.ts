import { type Counts, countsOf, type F1Metric, f1Metric, sumCounts } from './f1-metric.ts';
import type { SlotOutcome } from './slot-row.ts';

/** Tags of scenarios, in the order in which they are told. */
export const scenarioTags = ['realtime', 'proactive', 'nested', 'interrupted', '1qna'] as const;

/** Slots in which the user breaks in; shares and means are null where there is nothing to share out. */
export type InterruptionSummary = {
  readonly interrupted_slot_count: number;
  readonly interrupted_no_output_count: number;
  /** No-output rate. */
  readonly NOR: number | null;
  /** Partial-answer quality: mean score of what was said. */
  readonly PAQ: number | null;
  /** Share of slots with output in which the assistant talked on. */
  readonly CSM_SR: number | null;
  /** Mean time it talked on, over slots with output, s. */
  readonly CSM_AS: number | null;
};

/** Pairs of a question within a question. */
export type NestedSummary = {
  readonly num_pairs: number;
  readonly success_pairs: number;
  readonly missing_q1_count: number;
  /** Nested conversation consistency score: geometric mean of both answers over pairs answered in order, over all pairs. */
  readonly NCCS: number | null;
};

/** The slices of the paper's table; `definition` says how they are cut. */
export type PaperF1 = {
  readonly realtime: F1Metric;
  readonly proactive: F1Metric;
  readonly nested: F1Metric;
  readonly one_q1a_global: F1Metric;
  readonly one_qna: F1Metric;
  readonly all_global: F1Metric;
  readonly definition: string;
};

/** The result of a number of slots. */
export type AccuracySummary = F1Metric & {
  readonly num_unmatched_chunks: number;
  readonly by_scene_type: Readonly<Record<string, F1Metric>>;
  readonly by_question_type: Readonly<Record<string, F1Metric>>;
  readonly nested_by_role: Readonly<Record<string, F1Metric>>;
  readonly interruption: InterruptionSummary;
  readonly nested: NestedSummary;
  readonly scenario_case_counts: Readonly<Record<string, number>>;
  readonly paper_metrics: {
    readonly exp_f1: PaperF1;
    readonly exp_interruption: {
      readonly NOR: number | null;
      readonly PAQ: number | null;
      readonly CSM_SR: number | null;
      readonly CSM_AS_seconds: number | null;
      readonly interrupted_slot_count: number;
    };
    readonly exp_nested: {
      readonly NCCS: number | null;
      readonly inner_IA_QTF1: number | null;
      readonly outer_IA_QTF1: number | null;
      readonly missed_outer: number;
      readonly num_pairs: number;
      readonly success_pairs: number;
    };
  };
};

/**
 * @param unmatchedChunks chunks that belong to no slot: each is a false positive of the whole, and of no slice
 */
export function summarizeSlots(slots: readonly SlotOutcome[], unmatchedChunks: number): AccuracySummary {
  const counted = counts(slots);
  const whole = f1Metric({ ...counted, fp: counted.fp + unmatchedChunks });
  const byRole = grouped(
    slots.filter(({ nestedRole }) => nestedRole !== null),
    (slot) => slot.nestedRole ?? '',
  );
  const interruption = interruptionSummary(slots.filter(({ isInterrupted }) => isInterrupted));
  const nested = nestedSummary(slots);
  return {
    ...whole,
    num_unmatched_chunks: unmatchedChunks,
    by_scene_type: grouped(slots, ({ sceneType }) => sceneType),
    by_question_type: grouped(slots, ({ questionType }) => questionType),
    nested_by_role: byRole,
    interruption,
    nested,
    scenario_case_counts: scenarioCounts(slots),
    paper_metrics: {
      exp_f1: paperF1(slots, whole),
      exp_interruption: {
        NOR: interruption.NOR,
        PAQ: interruption.PAQ,
        CSM_SR: interruption.CSM_SR,
        CSM_AS_seconds: interruption.CSM_AS,
        interrupted_slot_count: interruption.interrupted_slot_count,
      },
      exp_nested: {
        NCCS: nested.NCCS,
        inner_IA_QTF1: byRole.inner?.IA_QTF1 ?? null,
        outer_IA_QTF1: byRole.outer?.IA_QTF1 ?? null,
        missed_outer: nested.missing_q1_count,
        num_pairs: nested.num_pairs,
        success_pairs: nested.success_pairs,
      },
    },
  };
}

function counts(slots: readonly SlotOutcome[]): Counts {
  return sumCounts(slots.map(({ tp, fp, fn }) => ({ tp, fp, fn, slots: 1 })));
}

function grouped(
  slots: readonly SlotOutcome[],
  keyOf: (slot: SlotOutcome) => string,
): Record<string, F1Metric> {
  const groups = groupsBy(slots, keyOf);
  const names = [...groups.keys()].sort();
  return Object.fromEntries(names.map((name) => [name, f1Metric(counts(groups.get(name) ?? []))]));
}

function groupsBy(
  slots: readonly SlotOutcome[],
  keyOf: (slot: SlotOutcome) => string,
): Map<string, SlotOutcome[]> {
  const groups = new Map<string, SlotOutcome[]>();
  for (const slot of slots) {
    const group = groups.get(keyOf(slot)) ?? [];
    groups.set(keyOf(slot), group);
    group.push(slot);
  }
  return groups;
}

/** Realtime and proactive questions without those of nested pairs, so that no slot is in two slices of the 1Q1A ones. */
function paperF1(slots: readonly SlotOutcome[], whole: F1Metric): PaperF1 {
  const slice = (wanted: (slot: SlotOutcome) => boolean): F1Metric => f1Metric(counts(slots.filter(wanted)));
  const ofType = (type: string): F1Metric =>
    slice((slot) => slot.nestedRole === null && slot.questionType === type);
  const realtime = ofType('realtime');
  const proactive = ofType('proactive');
  const nested = slice(({ sceneType }) => sceneType === 'nested');
  const { num_slots, Global_TP, Global_FP, Global_FN, Precision, Recall, IA_QTF1 } = whole;
  return {
    realtime,
    proactive,
    nested,
    one_q1a_global: f1Metric(sumCounts([realtime, proactive, nested].map(countsOf))),
    one_qna: slice(({ sceneType }) => sceneType === '1QnA'),
    all_global: { num_slots, Global_TP, Global_FP, Global_FN, Precision, Recall, IA_QTF1 },
    definition:
      'realtime and proactive leave out the slots of nested pairs; one_q1a_global is computed from the counts of realtime, proactive and nested; all_global counts every slot, and each unmatched chunk as a false positive.',
  };
}

function ratioOrNull(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

function interruptionSummary(slots: readonly SlotOutcome[]): InterruptionSummary {
  const spoken = slots.filter(({ partialQuality }) => partialQuality !== null);
  const silent = slots.length - spoken.length;
  const sum = (of: (slot: SlotOutcome) => number): number => spoken.reduce((all, slot) => all + of(slot), 0);
  return {
    interrupted_slot_count: slots.length,
    interrupted_no_output_count: silent,
    NOR: ratioOrNull(silent, slots.length),
    PAQ: ratioOrNull(
      sum(({ partialQuality }) => partialQuality ?? 0),
      spoken.length,
    ),
    CSM_SR: ratioOrNull(
      sum(({ spillS }) => Number(spillS > 0)),
      spoken.length,
    ),
    CSM_AS: ratioOrNull(
      sum(({ spillS }) => spillS),
      spoken.length,
    ),
  };
}

function nestedSummary(slots: readonly SlotOutcome[]): NestedSummary {
  const inGroups = slots.filter(
    ({ nestedGroupId, nestedRole }) => nestedGroupId !== null && nestedRole !== null,
  );
  const pairs = [
    ...groupsBy(inGroups, ({ sampleId, nestedGroupId }) =>
      JSON.stringify([sampleId, nestedGroupId]),
    ).values(),
  ];
  let success = 0;
  let missed = 0;
  let sum = 0;
  for (const pair of pairs) {
    const outer = pair.find(({ nestedRole }) => nestedRole === 'outer');
    const inner = pair.find(({ nestedRole }) => nestedRole === 'inner');
    if (outer === undefined || inner === undefined) continue;
    if (outer.coreTp <= 0) missed += 1;
    if (outer.coreTp <= 0 || inner.coreTp <= 0 || !isInOrder(inner, outer)) continue;
    success += 1;
    sum += Math.sqrt(inner.coreTp * outer.coreTp);
  }
  return {
    num_pairs: pairs.length,
    success_pairs: success,
    missing_q1_count: missed,
    NCCS: ratioOrNull(sum, pairs.length),
  };
}

/** The inner question is answered first; an unknown time fails nobody. */
function isInOrder(inner: SlotOutcome, outer: SlotOutcome): boolean {
  if (inner.answerStartS === null || outer.answerStartS === null) return true;
  return inner.answerStartS <= outer.answerStartS;
}

function scenarioCounts(slots: readonly SlotOutcome[]): Record<string, number> {
  const cases = Object.fromEntries(scenarioTags.map((tag) => [tag, new Set<string>()]));
  for (const slot of slots) {
    cases[tagOf(slot)]?.add(slot.sampleId);
    if (slot.isInterrupted) cases.interrupted?.add(slot.sampleId);
  }
  return Object.fromEntries(scenarioTags.map((tag) => [tag, cases[tag]?.size ?? 0]));
}

function tagOf({ sceneType, questionType }: SlotOutcome): string {
  if (sceneType === '1QnA') return '1qna';
  if (sceneType === 'nested') return 'nested';
  return questionType === 'interrupted' ? '' : questionType;
}
