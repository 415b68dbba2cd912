import { InputFileError, UsageError } from '../foundation/errors.ts';
import { randomStream, shuffled } from '../foundation/random.ts';
import { countOf, readCsv } from './csv-file.ts';
import type { Dataset, LoadContext } from './dataset.ts';
import { DatasetRowError } from './entry-file.ts';
import { withRequestIds } from './oversample.ts';
import { randomTexts } from './random-texts.ts';
import { shown } from './row-value.ts';
import type { Sample } from './sample.ts';

const form = 'BurstGPT’s CSV, with the columns "Model", "Request tokens" and "Response tokens"';
const model = 'GPT-4';

type Lengths = { readonly input: number; readonly output: number };

/** Lengths of the model's requests that were answered; what is left out is counted. */
async function recordedLengths(path: string, { options, note }: LoadContext): Promise<Lengths[]> {
  const lengths: Lengths[] = [];
  let empty = 0;
  let invalid = 0;
  await readCsv(path, {
    header: (columns) => {
      const missing = ['Model', 'Request tokens', 'Response tokens'].find((name) => !columns.includes(name));
      if (missing !== undefined)
        throw new DatasetRowError(
          `${path}:1: no column "${missing}" among ${columns.join(', ')}. Expected ${form}.`,
        );
    },
    row: ({ line, get }) => {
      if (get('Model') !== model) return;
      const input = countOf(get('Request tokens'));
      const output = countOf(get('Response tokens'));
      if (input !== null && output !== null) {
        if (input > 0 && output > 0) lengths.push({ input, output });
        else empty += 1;
        return;
      }
      invalid += 1;
      if (options.skipInvalid) return;
      const [name, value] =
        input === null
          ? ['Request tokens', get('Request tokens')]
          : ['Response tokens', get('Response tokens')];
      throw new DatasetRowError(
        `${path}:${line}: "${name}" is ${shown(value)}, expected a whole number of tokens. Fix the row or pass ` +
          '--skip-invalid.',
      );
    },
  });
  if (empty > 0) note(`burstgpt: ${empty} ${model} requests without prompt or answer were left out.`);
  if (invalid > 0) note(`burstgpt: ${invalid} rows were left out, because they do not parse.`);
  return lengths;
}

/** Without replacement where there are enough, else with. */
function drawn(lengths: readonly Lengths[], { numPrompts, seed, note }: LoadContext): Lengths[] {
  const random = randomStream(seed, 'burstgpt-order');
  if (numPrompts <= lengths.length) return shuffled(random, lengths).slice(0, numPrompts);
  note(`burstgpt: requests repeat the lengths of others, for there are only ${lengths.length}.`);
  return Array.from({ length: numPrompts }, () => lengths[random.integer(0, lengths.length - 1)]).flatMap(
    (each) => (each === undefined ? [] : [each]),
  );
}

async function load(context: LoadContext): Promise<readonly Sample[]> {
  const { path } = context.options;
  if (path === null) throw new UsageError(`--dataset-name burstgpt needs --dataset-path: ${form}.`);
  const all = await recordedLengths(path, context);
  if (all.length === 0)
    throw new InputFileError(`${path}: no request of ${model} with an answer. Expected ${form}.`);
  const lengths = drawn(all, context);
  const texts = await randomTexts(context, {
    prefixTokens: 0,
    bodyTokens: lengths.map(({ input }) => input),
    starts: lengths.map(() => 0),
  });
  const samples = texts.map(({ text, tokens }, index) => ({
    prompt: text,
    promptTokens: tokens,
    expectedOutputTokens: lengths[index]?.output ?? null,
    media: [],
    requestId: null,
  }));
  return withRequestIds(samples, context.requestIdPrefix);
}

/** Lengths as people had them, with prompts that mean nothing. */
export const burstgpt: Dataset = {
  name: 'burstgpt',
  doc: 'Lengths of recorded GPT-4 requests (BurstGPT’s CSV) with prompts of random tokens; its times are ignored.',
  flags: ['dataset-path', 'skip-invalid'],
  load,
};
