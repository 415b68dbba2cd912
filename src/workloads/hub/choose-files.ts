import { UsageError } from '../../foundation/errors.ts';
import { rowFile } from './row-shard.ts';

/** What `--hf-subset` and `--hf-split` ask for, or the data set's own. */
export type Part = { readonly subset: string | null; readonly split: string };

const alike: Readonly<Record<string, readonly string[]>> = {
  train: ['train', 'training'],
  validation: ['validation', 'valid', 'val', 'dev'],
  test: ['test', 'testing', 'eval', 'evaluation'],
};

/** Files that tell of a data set and hold none of its rows. */
const aside = /(^|\/)(dataset_infos?|config|package|tokenizer(_config)?|state|metadata)\.json$/i;

function splitNames(split: string): readonly string[] {
  return Object.values(alike).find((names) => names.includes(split)) ?? [split];
}

/** Whether one of the names stands in the path as a word of its own. */
function names(path: string, words: readonly string[]): boolean {
  const stem = path.replace(rowFile, '').toLowerCase();
  return words.some((word) => {
    const escaped = word.toLowerCase().replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    return new RegExp(`(^|[/_.-])${escaped}([/_.-]|$)`).test(stem);
  });
}

/**
 * The files of a repository that hold a split's rows, as far as their names say: `data/train-00000-of-00001.parquet`,
 * `validation.jsonl`, `<subset>/test.parquet`. Where no name holds any split's, all rows are `train`.
 * @param source how messages call the place
 * @throws UsageError where no file is of this subset and split
 */
export function chooseFiles(files: readonly string[], part: Part, source: string): string[] {
  const rows = files.filter((name) => rowFile.test(name) && !aside.test(name));
  const { subset, split } = part;
  const ofSubset = subset === null ? rows : rows.filter((name) => names(name, [subset]));
  if (ofSubset.length === 0)
    throw new UsageError(
      subset === null || rows.length === 0
        ? `${source} has no .parquet, .jsonl or .json file.`
        : `${source} has no file of the subset "${subset}". It has: ${listed(rows)}`,
    );
  const ofSplit = ofSubset.filter((name) => names(name, splitNames(split)));
  if (ofSplit.length > 0) return preferred(ofSplit);
  const known = [...Object.values(alike).flat()];
  const anyNamed = ofSubset.some((name) => names(name, known));
  // What is in one file, or in files that name no split, is all there is.
  if (!anyNamed && (split === 'train' || ofSubset.length === 1)) return preferred(ofSubset);
  throw new UsageError(`${source} has no file of the split "${split}". It has: ${listed(ofSubset)}`);
}

/** The same rows in two formats are read once. */
function preferred(files: readonly string[]): string[] {
  const parquet = files.filter((name) => /\.parquet$/i.test(name));
  return [...(parquet.length > 0 ? parquet : files)].sort();
}

/** Whether a path is one of the hub's own Parquet branch. */
export function isConverted(name: string): boolean {
  return /^[^/]+\/[^/]+\/[^/]+\.parquet$/.test(name);
}

/**
 * The files of the hub's own Parquet branch, `<config>/<split>/0000.parquet`, or `<config>/partial-<split>/…` of large
 * data sets.
 * @throws UsageError where there is no such subset or split
 */
export function chooseConverted(
  files: readonly string[],
  part: Part,
  source: string,
): { readonly names: string[]; readonly partial: boolean } {
  const entries = files.flatMap((name) => {
    const [config, split, file] = name.split('/');
    if (config === undefined || split === undefined || file === undefined || !isConverted(name)) return [];
    return [{ name, config, split: split.replace(/^partial-/, ''), partial: split.startsWith('partial-') }];
  });
  const configs = [...new Set(entries.map(({ config }) => config))];
  const config = part.subset ?? (configs.includes('default') ? 'default' : configs[0]);
  const ofConfig = entries.filter((entry) => entry.config === config);
  if (ofConfig.length === 0)
    throw new UsageError(`${source} has no subset "${config ?? ''}". It has: ${listed(configs)}`);
  const ofSplit = ofConfig.filter(({ split }) => split === part.split);
  const splits = [...new Set(ofConfig.map(({ split }) => split))];
  if (ofSplit.length === 0)
    throw new UsageError(
      `${source} has no split "${part.split}" in its subset "${config ?? ''}". It has: ${listed(splits)}`,
    );
  return { names: ofSplit.map(({ name }) => name).sort(), partial: ofSplit.some(({ partial }) => partial) };
}

function listed(items: readonly string[]): string {
  const shown = items.slice(0, 20).join(', ');
  return items.length > 20 ? `${shown}, and ${items.length - 20} more.` : `${shown || 'none'}.`;
}
