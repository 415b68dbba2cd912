import { UsageError } from '../../foundation/errors.ts';
import { MersenneTwister } from '../../foundation/mersenne-twister.ts';
import type { OmniInteractCase } from './omniinteract-case.ts';
import { type ScenarioTag, tagsOf } from './scenario-tags.ts';

export type CaseSelection = {
  /** 0 = all. */
  readonly count: number;
  readonly seed: number;
  readonly disableShuffle: boolean;
  /** Kinds of cases to have among them; none = any. */
  readonly tags: readonly ScenarioTag[];
  /** Only such cases. */
  readonly focus: boolean;
  /** Takes what the user should know: fewer cases than asked for, kinds of which there is none. */
  readonly note: (line: string) => void;
};

/**
 * The cases to run, drawn as the original draws them, so that the same seed gives the same ones.
 * @throws UsageError where a selection can't be made
 */
export function sampleCases(
  cases: readonly OmniInteractCase[],
  selection: CaseSelection,
): OmniInteractCase[] {
  if (selection.count < 0) throw new UsageError('num_prompts must be non-negative');
  if (selection.tags.length === 0) return anyCases(cases, selection);
  return selection.focus ? focusedCases(cases, selection) : coveringCases(cases, selection);
}

function anyCases(cases: readonly OmniInteractCase[], selection: CaseSelection): OmniInteractCase[] {
  const { count, seed, disableShuffle, note } = selection;
  if (count > cases.length)
    note(`omniinteract: ${cases.length} cases instead of ${count}, for that is all there are.`);
  const ordered = disableShuffle ? [...cases] : new MersenneTwister(seed).shuffled(cases);
  return count === 0 ? ordered : ordered.slice(0, count);
}

function focusedCases(cases: readonly OmniInteractCase[], selection: CaseSelection): OmniInteractCase[] {
  const tagged = cases.map((one) => ({ one, tags: tagsOf(one) }));
  const missing = selection.tags.filter((tag) => !tagged.some(({ tags }) => tags.has(tag)));
  if (missing.length > 0)
    throw new UsageError(
      `No OmniInteract cases match scenario tags [${missing.map((tag) => `'${tag}'`).join(', ')}] under the selected subsets (focus mode)`,
    );
  const pool = tagged.filter(({ tags }) => selection.tags.some((tag) => tags.has(tag)));
  return anyCases(
    pool.map(({ one }) => one),
    selection,
  );
}

/** At least one case of each kind, as far as there are any, and others up to the count. */
function coveringCases(cases: readonly OmniInteractCase[], selection: CaseSelection): OmniInteractCase[] {
  const { count, seed, disableShuffle, tags, note } = selection;
  const twister = new MersenneTwister(seed);
  const order = (list: readonly OmniInteractCase[]) => (disableShuffle ? [...list] : twister.shuffled(list));
  const tagsByCase = new Map(cases.map((one) => [one, tagsOf(one)]));
  const bucketOf = new Map<ScenarioTag, OmniInteractCase[]>();
  for (const tag of tags) {
    const bucket = cases.filter((one) => tagsByCase.get(one)?.has(tag));
    if (bucket.length === 0) note(`omniinteract: no case is tagged '${tag}' in the selected subsets.`);
    bucketOf.set(tag, order(bucket));
  }
  const selected = new Set<OmniInteractCase>();
  const covered = new Set<ScenarioTag>();
  for (const tag of tags) {
    if (covered.has(tag)) continue;
    const next = bucketOf.get(tag)?.find((one) => !selected.has(one));
    if (next === undefined) continue;
    selected.add(next);
    for (const held of tagsByCase.get(next) ?? []) if (tags.includes(held)) covered.add(held);
  }
  const all = [...selected, ...order(cases.filter((one) => !selected.has(one)))];
  if (count > 0 && selected.size > count)
    note(
      `omniinteract: ${count} cases don't cover the scenario tags, which takes ${selected.size}; raise --num-prompts.`,
    );
  if (count > all.length)
    note(`omniinteract: ${all.length} cases instead of ${count}, for that is all there are.`);
  return count === 0 ? all : all.slice(0, count);
}
