import { readFile } from 'node:fs/promises';
import { InputFileError, messageOf, UsageError } from '../foundation/errors.ts';
import { type Random, randomStream } from '../foundation/random.ts';
import type { Tokenizer } from '../tokens/tokenizer.ts';
import { clientTemplate } from './client-template.ts';
import type { Dataset, LoadContext } from './dataset.ts';
import { withRequestIds } from './oversample.ts';
import type { Sample } from './sample.ts';

/** The reference's words. */
const base = 'Pick as many lines as you can from these poem lines:\n';
/** Prompts in a row that may come out too long before the lengths asked for are given up. */
const maxRejected = 1_000;

async function poemLines(path: string | null): Promise<string[]> {
  if (path === null)
    throw new UsageError(
      '--dataset-name sonnet needs --dataset-path: a text file with a line of a poem per line.',
    );
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    throw new InputFileError(`--dataset-path ${path}: ${messageOf(cause)}.`, { cause });
  }
  const lines = text.split(/\r?\n/).map((line) => `${line}\n`);
  const last = lines.at(-1) === '\n' ? lines.slice(0, -1) : lines;
  if (last.length > 0) return last;
  throw new InputFileError(`${path}: the file is empty. Expected a line of a poem per line.`);
}

/** How many lines a prompt has, and how many of them all prompts begin with. */
type LineCounts = { readonly lines: number; readonly prefix: number };

function lineCounts(poem: readonly string[], tools: Tools, { options }: LoadContext): LineCounts {
  const { inputLen, prefixLen } = options.sonnet;
  const offset = tools.count(tools.formatted(base));
  if (inputLen <= offset)
    throw new UsageError(
      `--sonnet-input-len is ${inputLen}, and the words before the poem alone take ${offset} tokens. Give more.`,
    );
  const average = poem.reduce((sum, line) => sum + tools.count(line), 0) / poem.length;
  const prefix = Math.max(0, Math.round((prefixLen - offset) / average));
  const lines = Math.round((inputLen - offset) / average);
  if (prefixLen > inputLen)
    throw new UsageError(
      `--sonnet-prefix-len ${prefixLen} is above --sonnet-input-len ${inputLen}, of which it is a part.`,
    );
  return { lines, prefix: Math.min(prefix, lines) };
}

type Tools = {
  /** The prompt as the model will see it, as far as it is known here. */
  formatted(prompt: string): string;
  count(text: string): number;
};

function toolsFor(tokenizer: Tokenizer, context: LoadContext): Tools {
  const { apply } = clientTemplate(context);
  const asChat = (prompt: string): string | null =>
    context.plainPrompts
      ? null
      : tokenizer.renderChat([{ role: 'user', content: prompt }], {
          addGenerationPrompt: true,
          extra: context.options.chatTemplateKwargs,
        });
  return {
    formatted: (prompt) =>
      apply?.([{ role: 'user', content: prompt }]) ??
      (context.chatEndpoint ? asChat(prompt) : null) ??
      prompt,
    count: (text) => tokenizer.count(text),
  };
}

/** One prompt that is not too long. */
function pick(
  poem: readonly string[],
  counts: LineCounts,
  { tools, random, maxTokens }: { tools: Tools; random: Random; maxTokens: number },
): { prompt: string; formatted: string; tokens: number } {
  const head = poem.slice(0, counts.prefix);
  for (let rejected = 0; rejected < maxRejected; rejected += 1) {
    const drawn = Array.from(
      { length: counts.lines - counts.prefix },
      () => poem[random.integer(0, poem.length - 1)] ?? '',
    );
    const prompt = base + [...head, ...drawn].join('');
    const formatted = tools.formatted(prompt);
    const tokens = tools.count(formatted);
    if (tokens <= maxTokens) return { prompt, formatted, tokens };
  }
  throw new UsageError(
    `sonnet: ${maxRejected} prompts in a row were longer than --sonnet-input-len ${maxTokens}. The first lines of ` +
      'the poem are longer than the others; give more tokens, or a smaller --sonnet-prefix-len.',
  );
}

async function load(context: LoadContext): Promise<readonly Sample[]> {
  const { options, numPrompts, seed, tokenizer, chatEndpoint, note, progress } = context;
  if (tokenizer === null)
    throw new UsageError('--dataset-name sonnet makes prompts by tokens, so it needs a tokenizer.');
  const poem = await poemLines(options.path);
  const tools = toolsFor(tokenizer, context);
  const template = clientTemplate(context);
  if (template.apply === null && template.reason !== null)
    note(`sonnet: prompts are sent without a chat template, because ${template.reason}.`);
  const counts = lineCounts(poem, tools, context);
  const random = randomStream(seed, 'sonnet-lines');
  const samples: Sample[] = [];
  for (let index = 0; index < numPrompts; index += 1) {
    const { prompt, formatted, tokens } = pick(poem, counts, {
      tools,
      random,
      maxTokens: options.sonnet.inputLen,
    });
    samples.push({
      prompt: chatEndpoint ? prompt : formatted,
      promptTokens: tokens,
      expectedOutputTokens: options.sonnet.outputLen,
      media: [],
      requestId: null,
    });
    if (index % 100 === 99) progress(index + 1, numPrompts);
  }
  return withRequestIds(samples, context.requestIdPrefix);
}

/** Lines of a poem, some of which all prompts begin with. */
export const sonnet: Dataset = {
  name: 'sonnet',
  doc: 'Lines of a poem of your own up to a length, some of which all prompts begin with.',
  flags: [
    'dataset-path',
    'sonnet-input-len',
    'sonnet-output-len',
    'sonnet-prefix-len',
    'skip-chat-template',
    'chat-template-kwargs',
  ],
  load,
};
