import { UsageError } from '../../foundation/errors.ts';
import type { LoadContext } from '../dataset.ts';
import { isRow, type Row, wrongField } from '../row-value.ts';
import type { ChatMessage } from '../sample.ts';
import type { HfOutcome, HfSet, HfTools } from './hf-set.ts';
import { plainSample } from './text-sample.ts';

/** Python's names of types, which the rows use, as JSON Schema has them. */
const schemaTypes: Readonly<Record<string, string>> = {
  dict: 'object',
  float: 'number',
  tuple: 'array',
  any: 'string',
};

/** A schema with JSON Schema's names of types throughout. */
export function jsonSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(jsonSchema);
  if (!isRow(schema)) return schema;
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      key === 'type' && typeof value === 'string' ? (schemaTypes[value] ?? value) : jsonSchema(value),
    ]),
  );
}

/** Names of functions may have dots in the rows, which OpenAI's API does not take. */
function toolOf(description: unknown): Readonly<Record<string, unknown>> | null {
  if (!isRow(description) || typeof description.name !== 'string') return null;
  const { name, parameters, ...rest } = description;
  return {
    type: 'function',
    function: {
      ...(typeof rest.description === 'string' ? { description: rest.description } : {}),
      name: description.name.replace(/[^\w-]/g, '_'),
      parameters: jsonSchema(parameters),
    },
  };
}

function isMessage(value: unknown): value is ChatMessage {
  return isRow(value) && typeof value.role === 'string' && typeof value.content === 'string';
}

function sampleOf(row: Row, tools: HfTools): HfOutcome {
  if (!tools.context.chatEndpoint)
    throw new UsageError(
      'The Berkeley Function-Calling Leaderboard sends messages and tools. Use a chat backend, e.g. --backend openai-chat.',
    );
  const turns = row.question;
  const messages: unknown = Array.isArray(turns) && Array.isArray(turns[0]) ? turns[0] : turns;
  if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isMessage))
    return wrongField('question', turns, 'a list of turns, each a list of messages');
  const described = Array.isArray(row.function) ? row.function : [row.function];
  const functions = described.map(toolOf);
  if (functions.some((tool) => tool === null) || functions.length === 0)
    return wrongField('function', row.function, 'a list of functions with "name" and "parameters"');
  const prompt = messages.map(({ content }) => content).join('\n');
  return {
    ...plainSample(prompt, tools.outputTokens ?? 256, tools),
    chatMessages: messages,
    bodyOverrides: { tools: functions, tool_choice: 'auto' },
  };
}

/** `BFCL_v3_<category>.json` for each category asked for. */
function pick(files: readonly string[], { options }: LoadContext): string[] {
  const named = new Map<string, string>();
  for (const file of files) {
    const category = /(?:^|\/)BFCL_v\d+_(\w+)\.json$/.exec(file)?.[1];
    if (category !== undefined && !file.includes('possible_answer')) named.set(category, file);
  }
  return options.hf.bfclCategories.map((category) => {
    const file = named.get(category);
    if (file !== undefined) return file;
    throw new UsageError(
      `--bfcl-categories ${category}: no such category. There are: ${[...named.keys()].sort().join(', ') || 'none'}.`,
    );
  });
}

/** Functions to be called as a user asks. */
export const functionCalls: HfSet = {
  name: 'BFCL',
  ids: ['gorilla-llm/Berkeley-Function-Calling-Leaderboard'],
  doc: 'A user’s messages with the functions that may be called (`tools`); the categories of `--bfcl-categories` in turn.',
  subset: null,
  split: 'train',
  outputDoc: '256',
  pick,
  interleave: true,
  sampleOf,
};
