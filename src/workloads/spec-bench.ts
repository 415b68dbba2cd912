import {
  type CategoryPrompt,
  checkCategory,
  parseCategoryPrompt,
  promptSample,
  templateFor,
} from './category-prompts.ts';
import type { Dataset, LoadContext } from './dataset.ts';
import { jsonlPath, rowSamples } from './row-samples.ts';
import type { Sample } from './sample.ts';

const form = 'one JSON object per line with "turns", a list of texts, and "category"';

async function load(context: LoadContext): Promise<readonly Sample[]> {
  const path = jsonlPath(context, form, 'SpecBench');
  const { category, outputLen } = context.options.specBench;
  const making = { context, template: templateFor(context) };
  const known = new Set<string>();
  return await rowSamples<CategoryPrompt>(
    path,
    {
      form,
      parse: parseCategoryPrompt,
      sampleOf: ({ prompt }) => promptSample(prompt, outputLen, making),
      isWanted: (row) => {
        if (row.category !== null) known.add(row.category);
        return category === null || row.category === category;
      },
      checkWanted: () => {
        if (category !== null) checkCategory('spec-bench-category', category, known);
      },
    },
    context,
  );
}

/** Questions of Spec-Bench, for speculative decoding. */
export const specBench: Dataset = {
  name: 'spec_bench',
  doc: 'First turns of Spec-Bench’s questions, all or of one category.',
  flags: [
    'dataset-path',
    'disable-shuffle',
    'no-oversample',
    'skip-invalid',
    'spec-bench-output-len',
    'spec-bench-category',
    'skip-chat-template',
    'chat-template-kwargs',
  ],
  hasRows: true,
  load,
};
