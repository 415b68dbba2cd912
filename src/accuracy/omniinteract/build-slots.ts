import { InputFileError } from '../../foundation/errors.ts';
import { isMarked, isRow, type Row, rowsOf, secondsOf, textOf } from './annotation-values.ts';
import { oneQnaSlots, stepRows } from './one-qna-slots.ts';
import { type SceneType, type Slot, sceneTypes } from './slot.ts';

/** How long an answer may last after which no question follows, s. */
export const tailS = 60;

type Question = {
  readonly askedS: number;
  readonly answerS: number;
  readonly text: string;
  readonly answer: string;
  readonly type: string;
  readonly isInterrupted: boolean;
};

/**
 * The scene that a manifest or marker names, whatever the case of its letters.
 * @throws InputFileError for a scene that the protocol does not know
 */
export function sceneTypeOf(name: string): SceneType {
  const found = sceneTypes.find((scene) => scene.toLowerCase() === name.trim().toLowerCase());
  if (found === undefined)
    throw new InputFileError(
      `unsupported OmniInteract scene type: '${name}'. Expected one of ${sceneTypes.join(', ')}.`,
    );
  return found;
}

/**
 * The slots of an annotation, in order. Rows without two readable times are no slots, as in the official evaluation.
 * @throws InputFileError where the annotation is none of this scene
 */
export function buildSlots(annotation: unknown, scene: SceneType): Slot[] {
  if (scene === '1QnA') return oneQnaSlots(annotation, tailS);
  const questions = questionsOf(annotation);
  return scene === 'nested' ? nestedSlots(questions) : turnSlots(questions);
}

/** How many rows of an annotation are to be slots, whether they can be or not. */
export function slotRowCount(annotation: unknown, scene: SceneType): number {
  if (scene === '1QnA') return isRow(annotation) ? stepRows(annotation).length : 0;
  const list = isRow(annotation) ? annotation.items : annotation;
  return Array.isArray(list) ? list.length : 0;
}

function questionsOf(annotation: unknown): Question[] {
  if (!Array.isArray(annotation) && !isRow(annotation))
    throw new InputFileError('an OmniInteract annotation must be a list, or an object with items[].');
  const rows = rowsOf(isRow(annotation) ? annotation.items : annotation);
  return rows
    .map(questionOf)
    .filter((question) => question !== null)
    .sort((a, b) => a.askedS - b.askedS || a.answerS - b.answerS);
}

function questionOf(row: Row): Question | null {
  const askedS = secondsOf(row.question_time);
  const answerS = secondsOf(row.answer_time);
  if (askedS === null || answerS === null) return null;
  return {
    askedS,
    answerS,
    text: textOf(row.question_text),
    answer: textOf(row.answer_text),
    type: textOf(row.question_type).toLowerCase() || 'unknown',
    isInterrupted: isMarked(row.is_interrupted),
  };
}

type Place = Pick<Slot, 'slotId' | 'endS' | 'sceneType' | 'turnIndex' | 'nestedGroupId' | 'nestedRole'>;

function hardSlot(question: Question, place: Place): Slot {
  return {
    ...place,
    startS: question.askedS,
    answerS: question.answerS,
    boundaryType: 'Hard',
    questionText: question.text,
    referenceAnswer: question.answer,
    stepIndex: null,
    questionType: question.type,
    isInterrupted: question.isInterrupted,
    label: '',
  };
}

function turnSlots(questions: readonly Question[]): Slot[] {
  return questions.map((question, i) =>
    hardSlot(question, {
      slotId: i + 1,
      endS: Math.max(question.askedS, questions[i + 1]?.askedS ?? question.answerS + tailS),
      sceneType: 'multi_turn',
      turnIndex: i + 1,
      nestedGroupId: null,
      nestedRole: null,
    }),
  );
}

type Pair = { readonly outer: Question; readonly inner: Question };

/** Each question with the first later one that is asked and answered before its own answer is due. */
function nestedPairs(questions: readonly Question[]): Pair[] {
  const pairs: Pair[] = [];
  for (let i = 0; i < questions.length; ) {
    const outer = questions[i] as Question;
    const at = questions.findIndex(
      ({ askedS, answerS }, k) =>
        k > i && outer.askedS < askedS && askedS < outer.answerS && answerS <= outer.answerS,
    );
    const inner = questions[at];
    if (inner === undefined)
      throw new InputFileError(
        `failed to infer nested question pair: nothing is asked and answered between ${outer.askedS} s and ${outer.answerS} s.`,
      );
    pairs.push({ outer, inner });
    i = at + 1;
  }
  return pairs;
}

function nestedSlots(questions: readonly Question[]): Slot[] {
  const pairs = nestedPairs(questions);
  return pairs.flatMap(({ outer, inner }, g) => {
    const shared = { sceneType: 'nested', turnIndex: g + 1, nestedGroupId: g + 1 } as const;
    const nextS = pairs[g + 1]?.outer.askedS ?? outer.answerS + tailS;
    return [
      hardSlot(outer, {
        ...shared,
        slotId: 2 * g + 1,
        endS: Math.max(nextS, outer.answerS),
        nestedRole: 'outer',
      }),
      hardSlot(inner, { ...shared, slotId: 2 * g + 2, endS: outer.answerS, nestedRole: 'inner' }),
    ];
  });
}
