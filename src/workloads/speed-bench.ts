import { checkCategory, parseCategoryPrompt, promptSample, templateFor } from './category-prompts.ts';
import type { Dataset, LoadContext } from './dataset.ts';
import { openRowSource } from './hub/row-source.ts';
import type { Sample } from './sample.ts';
import { sourceSamples } from './source-samples.ts';

const id = 'nvidia/SPEED-Bench';

async function load(context: LoadContext): Promise<readonly Sample[]> {
  const { options } = context;
  const { subset, outputLen, category } = options.speedBench;
  const making = { context, template: templateFor(context) };
  const source = await openRowSource({ from: options.path ?? id, part: { subset, split: 'test' } }, context);
  const known = new Set<string>();
  const reading = {
    columns: ['turns', 'category'],
    sampleOf: (value: unknown) => {
      const row = parseCategoryPrompt(value);
      if (typeof row === 'string') return row;
      if (row.category !== null) known.add(row.category);
      if (category !== null && row.category !== category) return { leftOut: 'of other categories' };
      return promptSample(row.prompt, outputLen, making);
    },
  };
  try {
    return await sourceSamples(source, reading, context);
  } catch (error) {
    if (category !== null && known.size > 0) checkCategory('speed-bench-category', category, known);
    throw error;
  } finally {
    await source.close();
  }
}

/** Prompts of SPEED-Bench, for speculative decoding. */
export const speedBench: Dataset = {
  name: 'speed_bench',
  doc: 'First turns of NVIDIA’s SPEED-Bench, from the hub or from files of yours.',
  flags: [
    'dataset-path',
    'disable-shuffle',
    'no-oversample',
    'skip-invalid',
    'speed-bench-dataset-subset',
    'speed-bench-output-len',
    'speed-bench-category',
    'skip-chat-template',
    'chat-template-kwargs',
  ],
  hasRows: true,
  load,
};
