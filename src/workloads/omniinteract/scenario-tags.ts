import { InputFileError, messageOf } from '../../foundation/errors.ts';
import { isRow, type Row } from '../row-value.ts';
import { textIn } from './dataset-files.ts';
import type { OmniInteractCase } from './omniinteract-case.ts';

/** What a case can be an example of, as the tables of the paper are divided. */
export const scenarioTags = ['realtime', 'proactive', 'nested', 'interrupted', '1qna'] as const;
export type ScenarioTag = (typeof scenarioTags)[number];

/**
 * What a case is an example of: its scene, the kinds of its questions, and whether an answer was cut short.
 * @throws InputFileError where the annotation can't be read
 */
export function tagsOf(one: Pick<OmniInteractCase, 'annotationPath' | 'sceneType'>): Set<ScenarioTag> {
  const tags = new Set<ScenarioTag>();
  const { sceneType } = one;
  if (sceneType === '1qna' || sceneType === 'nested') tags.add(sceneType);
  for (const row of annotationRows(one.annotationPath)) {
    const kind = sceneType === 'multi_turn' ? String(row.question_type ?? row.label ?? '').toLowerCase() : '';
    if (kind === 'realtime' || kind === 'proactive') tags.add(kind);
    if (isTruthy(row.is_interrupted) || isTruthy(row.interrupted)) tags.add('interrupted');
  }
  return tags;
}

function isTruthy(value: unknown): boolean {
  if (typeof value === 'string') return ['1', 'true', 'yes', 'y', 't'].includes(value.trim().toLowerCase());
  return value === true || (typeof value === 'number' && value !== 0);
}

function annotationRows(path: string): Row[] {
  let value: unknown;
  try {
    value = JSON.parse(textIn(path));
  } catch (cause) {
    throw invalid(path, messageOf(cause), cause);
  }
  if (Array.isArray(value)) return value.filter(isRow);
  if (!isRow(value)) throw invalid(path, 'it is neither a list nor an object');
  const { items, answers, conversations } = value;
  return [items, answers, conversations].flatMap((rows) => (Array.isArray(rows) ? rows.filter(isRow) : []));
}

function invalid(path: string, why: string, cause?: unknown): InputFileError {
  return new InputFileError(`Invalid OmniInteract annotation: ${path} (${why})`, { cause });
}
