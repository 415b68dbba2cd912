/** Counts of slots and what follows from them; names as in the official evaluation. `null` = there was no slot. */
export type F1Metric = {
  readonly num_slots: number;
  readonly Global_TP: number;
  readonly Global_FP: number;
  readonly Global_FN: number;
  readonly Precision: number | null;
  readonly Recall: number | null;
  /** Harmonic mean of both; equal to 2 TP / (2 TP + FP + FN). */
  readonly IA_QTF1: number | null;
};

/** What is counted. */
export type Counts = {
  readonly tp: number;
  readonly fp: number;
  readonly fn: number;
  readonly slots: number;
};

function ratio(part: number, whole: number): number {
  return whole > 0 ? part / whole : 0;
}

/** Precision, recall and F1 of counts; a ratio over nothing is 0, as officially, and null where nothing was counted. */
export function f1Metric({ tp, fp, fn, slots }: Counts): F1Metric {
  const isEmpty = slots === 0 && tp === 0 && fp === 0 && fn === 0;
  const precision = ratio(tp, tp + fp);
  const recall = ratio(tp, tp + fn);
  return {
    num_slots: slots,
    Global_TP: tp,
    Global_FP: fp,
    Global_FN: fn,
    Precision: isEmpty ? null : precision,
    Recall: isEmpty ? null : recall,
    IA_QTF1: isEmpty ? null : ratio(2 * precision * recall, precision + recall),
  };
}

/** The counts of several. */
export function sumCounts(list: readonly Counts[]): Counts {
  const sum = { tp: 0, fp: 0, fn: 0, slots: 0 };
  for (const { tp, fp, fn, slots } of list) {
    sum.tp += tp;
    sum.fp += fp;
    sum.fn += fn;
    sum.slots += slots;
  }
  return sum;
}

/** The counts behind a metric. */
export function countsOf({ Global_TP, Global_FP, Global_FN, num_slots }: F1Metric): Counts {
  return { tp: Global_TP, fp: Global_FP, fn: Global_FN, slots: num_slots };
}
