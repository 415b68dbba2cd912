import type { HfSet } from './hf-set.ts';
import { hfSets } from './hf-sets.ts';

const head = `<!-- Made by scripts/generate-docs.ts from src/workloads/hf/. Do not edit. -->

# Data sets that \`--dataset-name hf\` knows

\`--dataset-path ORG/NAME\` picks one by its id on the hub; how its rows are fetched and chosen: see
[datasets.md](datasets.md#hf). Subset and split are what \`--hf-subset\` and \`--hf-split\` are without the flags. The
output length is \`--output-len\`, \`--hf-output-len\` or, without both, the data set's own.
`;

function section(set: HfSet): string {
  const subset = set.subset === null ? '`default`, or the first' : `\`${set.subset}\``;
  return [
    `## ${set.name}`,
    '',
    ...set.ids.map((id) => `- \`${id}\``),
    '',
    set.doc,
    '',
    `Subset: ${subset}. Split: \`${set.split}\`. Output length: ${set.outputDoc}.`,
  ].join('\n');
}

/** The page of the data sets, as Markdown. */
export function renderHfSetsDoc(): string {
  return `${[head.trimEnd(), ...hfSets.map(section)].join('\n\n')}\n`;
}
