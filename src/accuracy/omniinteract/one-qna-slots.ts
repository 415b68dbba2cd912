import { InputFileError } from '../../foundation/errors.ts';
import { isMarked, isRow, type Row, rowsOf, secondsOf, textOf } from './annotation-values.ts';
import type { Slot } from './slot.ts';

type Step = {
  readonly answerS: number;
  readonly answer: string;
  readonly label: string;
  readonly isInterrupted: boolean;
};

/**
 * The slots of a question that is answered in steps: each step is due at its time and ends where the next is due.
 * @param tailS how long the last step may last, s
 * @throws InputFileError for an annotation with neither conversations nor answers
 */
export function oneQnaSlots(annotation: unknown, tailS: number): Slot[] {
  if (!isRow(annotation) || (rowsOf(annotation.conversations).length === 0 && !('answers' in annotation)))
    throw new InputFileError('1QnA annotation must contain conversations[] or answers[].');
  const spoken = rowsOf(annotation.conversations);
  const steps = stepRows(annotation)
    .flatMap(spoken.length > 0 ? spokenStep : listedStep)
    .sort((a, b) => a.answerS - b.answerS);
  const { askedS, text } = questionOf(annotation, spoken);
  return steps.map(({ answerS, answer, label, isInterrupted }, i) => ({
    slotId: i + 1,
    startS: i === 0 ? askedS : answerS,
    answerS,
    endS: Math.max(answerS, steps[i + 1]?.answerS ?? answerS + tailS),
    boundaryType: 'Soft',
    questionText: text,
    referenceAnswer: answer,
    sceneType: '1QnA',
    stepIndex: i + 1,
    turnIndex: 1,
    questionType: label.toLowerCase() || 'step',
    isInterrupted,
    label,
    nestedGroupId: null,
    nestedRole: null,
  }));
}

/** The last thing the user said; without a time the question counts as asked at the start, as officially. */
function questionOf(annotation: Row, spoken: readonly Row[]): { askedS: number; text: string } {
  let askedS = secondsOf(annotation.question_time) ?? 0;
  let text = textOf(annotation.question_text);
  for (const row of spoken) {
    if (textOf(row.from) !== 'user') continue;
    askedS = secondsOf(row.timestamp) ?? askedS;
    text = textOf(row.value) || text;
  }
  const inferred = spoken.length > 0 ? textOf(annotation.inferred_knowledge) : '';
  return { askedS, text: inferred === '' ? text : `${inferred}\n\n${text}`.trim() };
}

/** The rows that are to be steps: what the assistant says in a conversation, or else the answers. */
export function stepRows(annotation: Row): unknown[] {
  const spoken = rowsOf(annotation.conversations);
  if (spoken.length > 0) return spoken.filter((row) => textOf(row.from) === 'assistant');
  return Array.isArray(annotation.answers) ? annotation.answers : [];
}

function spokenStep(row: unknown): Step[] {
  return isRow(row) ? stepOf(row, secondsOf(row.timestamp), textOf(row.value)) : [];
}

function listedStep(row: unknown): Step[] {
  return isRow(row) ? stepOf(row, secondsOf(row.answer_time), textOf(row.answer_text)) : [];
}

function stepOf(row: Row, answerS: number | null, answer: string): Step[] {
  if (answerS === null) return [];
  const isInterrupted = isMarked(row.interrupted ?? row.is_interrupted);
  return [{ answerS, answer, label: textOf(row.label), isInterrupted }];
}
