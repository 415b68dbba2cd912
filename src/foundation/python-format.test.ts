import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { formatFixed, formatFloat, formatGeneral, formatPercent } from './python-format.ts';

// Printed by CPython itself; python-format.py beside it says how.
const table = z
  .object({
    rows: z.array(z.tuple([z.number(), z.string(), z.string(), z.string(), z.string(), z.string()])),
  })
  .parse(JSON.parse(readFileSync(new URL('./__fixtures__/python-format.json', import.meta.url), 'utf8')));

describe('python format', () => {
  it('prints what CPython prints', () => {
    expect(table.rows.length).toBeGreaterThan(900);
    for (const [value, fixed2, fixed0, percent, general, shortest] of table.rows) {
      expect([
        value,
        formatFixed(value, 2),
        formatFixed(value, 0),
        formatPercent(value, 2),
        formatGeneral(value),
        formatFloat(value),
      ]).toEqual([value, fixed2, fixed0, percent, general, shortest]);
    }
  });

  it('prints what is not finite by name', () => {
    for (const format of [(x: number) => formatFixed(x, 2), formatGeneral, formatFloat]) {
      expect([NaN, Infinity, -Infinity].map((x) => format(x))).toEqual(['nan', 'inf', '-inf']);
    }
  });
});
