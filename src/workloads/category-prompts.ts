import { UsageError } from '../foundation/errors.ts';
import { nearestName } from '../foundation/nearest-name.ts';
import { type ClientTemplate, clientTemplate } from './client-template.ts';
import type { LoadContext } from './dataset.ts';
import { isRow, type Row, wrongField } from './row-value.ts';
import type { Sample } from './sample.ts';

/** A row of Spec-Bench or SPEED-Bench: the first turn of a conversation, and what it is about. */
export type CategoryPrompt = { readonly prompt: string; readonly category: string | null };

function turnText(turn: unknown): string | null {
  if (typeof turn === 'string') return turn;
  if (!isRow(turn)) return null;
  const { content } = turn;
  return typeof content === 'string' ? content : null;
}

/** The row, or what is wrong with it. */
export function parseCategoryPrompt(row: unknown): CategoryPrompt | string {
  if (!isRow(row)) return wrongField('row', row, 'an object');
  const { turns, category }: Row = row;
  if (!Array.isArray(turns) || turns.length === 0) return wrongField('turns', turns, 'a list of texts');
  const prompt = turnText(turns[0]);
  if (prompt === null || prompt === '') return wrongField('turns[0]', turns[0], 'text that is not empty');
  if (category !== undefined && category !== null && typeof category !== 'string')
    return wrongField('category', category, 'text');
  return { prompt, category: category ?? null };
}

/** A prompt as it is sent to this endpoint. */
export function promptSample(
  prompt: string,
  outputTokens: number | null,
  { context, template }: { readonly context: LoadContext; readonly template: ClientTemplate },
): Sample {
  const sent = template.apply?.([{ role: 'user', content: prompt }]) ?? prompt;
  return {
    prompt: sent,
    promptTokens: context.tokenizer?.count(sent, { addSpecialTokens: true }) ?? null,
    expectedOutputTokens: outputTokens,
    media: [],
    requestId: null,
  };
}

/** Says once whether prompts get the model's chat template here. */
export function templateFor(context: LoadContext): ClientTemplate {
  const template = clientTemplate(context);
  const { name } = context.options;
  if (template.apply !== null)
    context.note(
      `${name}: prompts are put into the chat template of ${context.tokenizer?.id ?? 'the model'} here, because the ` +
        'endpoint takes plain text; --skip-chat-template sends them as they stand.',
    );
  else if (template.reason !== null)
    context.note(`${name}: prompts are sent without a chat template, because ${template.reason}.`);
  return template;
}

/** @throws UsageError for a category that no row has */
export function checkCategory(flag: string, category: string, known: ReadonlySet<string>): void {
  if (known.has(category)) return;
  const names = [...known].sort();
  const nearest = nearestName(category, names);
  throw new UsageError(
    `--${flag} ${category}: no row has this category.${nearest === null ? '' : ` Did you mean ${nearest}?`} ` +
      `There are: ${names.join(', ') || 'none'}.`,
  );
}
