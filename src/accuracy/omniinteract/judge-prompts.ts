import { createHash } from 'node:crypto';
import { InputFileError } from '../../foundation/errors.ts';
import type { JudgeQuestion } from '../judge/judge-client.ts';
import { isRow, textOf } from './annotation-values.ts';

/** What a prompt may name in braces. */
export const promptFields = [
  'scene_type',
  'slot_id',
  'turn_index',
  'step_index',
  'boundary_type',
  'is_interrupted',
  'question',
  'reference_answer',
  'full_context',
  'future_answers',
  'early_text',
  'core_text',
  'partial_text',
] as const;
type PromptField = (typeof promptFields)[number];

/** The values of a prompt's fields. */
export type PromptValues = Readonly<Partial<Record<PromptField, string>>>;

/** What a judge is told, and asked. Braces in `user` name fields, as in Python's `str.format`. */
type PromptTemplate = { readonly system: string; readonly user: string };

/** The prompts of the three judges, and whose they are. */
export type JudgePrompts = {
  readonly protocolSource: string;
  /** SHA-256 of their texts, by which a changed prompt is told from the one that a stored verdict answers. */
  readonly sha256: string;
  readonly early: PromptTemplate;
  readonly core: PromptTemplate;
  readonly interrupted: PromptTemplate;
};

const field = /\{\{|\}\}|\{([A-Za-z_]\w*)\}/g;

/** A template with the values of a slot in their places. */
export function fillPrompt(template: PromptTemplate, values: PromptValues): JudgeQuestion {
  const user = template.user.replace(field, (token: string, name: string | undefined) => {
    if (name === undefined) return token[0] ?? '';
    const known = promptFields.find((each) => each === name);
    return (known === undefined ? undefined : values[known]) ?? '';
  });
  return { system: template.system, user };
}

/**
 * Prompts from a file's value: `protocol_source`, and `early`, `core` and `interrupted` with `system` and `user` each.
 * @throws InputFileError for what is missing, and for a field that no slot has
 */
export function promptsOf(value: unknown, where: string): JudgePrompts {
  if (!isRow(value))
    throw new InputFileError(`${where}: expected an object with protocol_source, early, core, interrupted.`);
  const protocolSource = textOf(value.protocol_source);
  if (protocolSource === '')
    throw new InputFileError(
      `${where}: protocol_source is missing: whose prompts these are, as results name them.`,
    );
  return withHash(protocolSource, {
    early: templateOf(value.early, `${where}: early`),
    core: templateOf(value.core, `${where}: core`),
    interrupted: templateOf(value.interrupted, `${where}: interrupted`),
  });
}

function templateOf(value: unknown, where: string): PromptTemplate {
  const { system, user } = isRow(value) ? value : {};
  if (typeof system !== 'string' || typeof user !== 'string' || user.trim() === '')
    throw new InputFileError(`${where}: expected system and user, two texts.`);
  for (const [, name] of user.matchAll(field)) {
    if (name === undefined || promptFields.some((each) => each === name)) continue;
    throw new InputFileError(
      `${where}: {${name}} is no field of a slot. Fields: ${promptFields.join(', ')}. A brace of the text itself is doubled.`,
    );
  }
  return { system, user };
}

type Templates = Pick<JudgePrompts, 'early' | 'core' | 'interrupted'>;

/** Prompts under the name of their source. */
export function withHash(protocolSource: string, templates: Templates): JudgePrompts {
  const { early, core, interrupted } = templates;
  const texts = [early, core, interrupted].flatMap(({ system, user }) => [system, user]);
  const sha256 = createHash('sha256').update(JSON.stringify(texts)).digest('hex');
  return { protocolSource, sha256, early, core, interrupted };
}
