import fc from 'fast-check';
import { expect } from 'vitest';
import { property } from '../../foundation/property.suite.ts';
import type { FlagTable } from './flag.ts';
import { parseFlags } from './parse-flags.ts';

const table = {
  'extra-body': { group: 'G', kind: 'json', default: null, doc: '' },
} as const satisfies FlagTable;

const key = fc.stringMatching(/^[a-z_-]{1,6}$/);
const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.array(fc.integer()));
const { object } = fc.letrec<{ object: Record<string, unknown> }>((tie) => ({
  object: fc.dictionary(key, fc.oneof({ maxDepth: 3 }, leaf, tie('object')), { minKeys: 1, maxKeys: 4 }),
}));

/** One `--extra-body.a.b=value` per leaf. */
function memberFlags(value: unknown, path: readonly string[]): string[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return [`--extra-body.${path.join('.')}=${JSON.stringify(value)}`];
  return Object.entries(value).flatMap(([name, member]) => memberFlags(member, [...path, name]));
}

async function extraBody(argv: readonly string[]): Promise<unknown> {
  const parsed = await parseFlags(argv, table, {});
  return parsed.kind === 'values' ? parsed.values['extra-body'] : parsed;
}

property([object])('an object and its members given one by one are the same', async (value) => {
  const whole = await extraBody([`--extra-body=${JSON.stringify(value)}`]);
  expect(await extraBody(memberFlags(value, []))).toEqual(whole);
});
