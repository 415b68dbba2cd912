import { describe, expect, test } from 'vitest';
import { datasets } from '../../workloads/datasets.ts';
import { allBenchServeFlags } from './bench-serve/bench-serve-flags.ts';
import { type FlagTable, knownSpellings } from './flag.ts';
import { allServeFlags } from './serve/serve-flags.ts';

describe.each([
  ['bench serve', allBenchServeFlags],
  ['serve', allServeFlags],
])('the table of %s', (_, table: FlagTable) => {
  test('spells no two flags alike', () => {
    const spellings = knownSpellings(table);
    expect(spellings.filter((one, i) => spellings.indexOf(one) !== i)).toEqual([]);
  });

  test('has names as they are written, and a sentence for each', () => {
    for (const [name, flag] of Object.entries(table)) {
      expect(name).toMatch(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/);
      expect(flag.doc, name).toMatch(/^[A-Z‘`a-z].*[.)]$/s);
    }
  });
});

test('every flag that a dataset calls its own is known', () => {
  for (const { name, flags } of Object.values(datasets)) {
    for (const flag of flags) expect(allBenchServeFlags[flag], `${name}: ${flag}`).toBeDefined();
  }
});
