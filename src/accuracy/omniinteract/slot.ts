/** Scenes of the dataset: one question after the other, one inside another, or one question answered in steps. */
export const sceneTypes = ['multi_turn', 'nested', '1QnA'] as const;
export type SceneType = (typeof sceneTypes)[number];

/** What an answer was to be given to, and when: the window [startS, endS) with the answer due at `answerS`. Seconds. */
export type Slot = {
  /** From 1, in the order of the annotation. */
  readonly slotId: number;
  readonly startS: number;
  /** From when on the answer can be known (`t_a`). */
  readonly answerS: number;
  readonly endS: number;
  /** Hard: speech beyond the end is a fault. */
  readonly boundaryType: 'Hard' | 'Soft';
  readonly questionText: string;
  readonly referenceAnswer: string;
  readonly sceneType: SceneType;
  /** Step of a procedure, from 1; `null` in scenes without steps. */
  readonly stepIndex: number | null;
  readonly turnIndex: number;
  /** Lower case: `realtime`, `proactive`, `unknown`, or the label of a step. */
  readonly questionType: string;
  /** The user breaks in: no whole answer is expected. */
  readonly isInterrupted: boolean;
  readonly label: string;
  readonly nestedGroupId: number | null;
  readonly nestedRole: 'outer' | 'inner' | null;
};
