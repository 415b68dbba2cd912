import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { csvOf } from './csv.ts';
import { exactQuantity, formatDuration, formatNumber, formatQuantity, formatTimestamp } from './format.ts';
import { linearScale, logScale, roundTicks, roundTop } from './scales.ts';
import { sortRows } from './sort-rows.ts';
import { visibleText } from './visible-text.ts';

describe('numbers', () => {
  it.each([
    [0.0000123, 'ms', '0.000012 ms'],
    [0.0425, 'ms', '0.043 ms'],
    [4.126, 'ms', '4.13 ms'],
    [42.56, 'ms', '42.6 ms'],
    [1234.5, 'ms', '1,235 ms'],
    [12, 'tokens', '12 tokens'],
    [3, 'count', '3'],
    [0.5, 'ratio', '0.500'],
    [null, 'ms', '–'],
    [Number.NaN, 'count', '–'],
  ])('%s %s reads %s', (value, unit, text) => {
    expect(formatQuantity(value, unit)).toBe(text);
  });

  it('can be had with every digit', () => {
    expect(exactQuantity(1234.56789, 'ms')).toBe('1,234.56789 ms');
    expect(exactQuantity(null, 'ms')).toBe('not observed');
  });

  property([fc.double()])('never show NaN or Infinity', (value) => {
    expect(formatNumber(value, 'ms') + exactQuantity(value, 's') + formatDuration(value)).not.toMatch(
      /NaN|∞|Infinity/,
    );
  });

  it('say lengths and moments', () => {
    expect(formatDuration(12.7)).toBe('12.7 s');
    expect(formatDuration(312)).toBe('5 min 12 s');
    expect(formatDuration(7500)).toBe('2 h 5 min');
    expect(formatTimestamp('2026-01-02T03:04:05.678+01:00')).toBe('2026-01-02 03:04:05 +01:00');
    expect(formatTimestamp('yesterday')).toBe('yesterday');
  });
});

describe('axes', () => {
  const range = fc
    .tuple(fc.double({ min: -1e9, max: 1e9, noNaN: true }), fc.double({ min: 1e-6, max: 1e9, noNaN: true }))
    .filter(([low, span]) => span > Math.abs(low) * 1e-9);
  property([range, fc.integer({ min: 2, max: 10 })])(
    'have few round ticks within them',
    ([low, span], count) => {
      const ticks = roundTicks(low, low + span, count);
      expect(ticks.length).toBeLessThanOrEqual(count * 2.5 + 2);
      for (const tick of ticks) {
        expect(tick).toBeGreaterThanOrEqual(low - span * 1e-6);
        expect(tick).toBeLessThanOrEqual(low + span * (1 + 1e-6));
      }
    },
  );

  property([fc.double({ min: 1e-6, max: 1e9, noNaN: true })])(
    'end at or above the highest value',
    (value) => {
      expect(roundTop(value)).toBeGreaterThanOrEqual(value * (1 - 1e-9));
      expect(roundTop(value)).toBeLessThanOrEqual(value * 2.01);
    },
  );

  property([fc.double({ min: 1e-3, max: 1e6, noNaN: true })])('map there and back', (value) => {
    for (const scale of [linearScale([0, 1e6], [10, 500]), logScale([1e-3, 1e6], [500, 10])])
      expect(scale.from(scale.at(value)) / value).toBeCloseTo(1, 6);
  });
});

describe('tables', () => {
  const rows: (number | null)[] = [3, null, 1, 2, null];
  it('sort both ways, what was not observed last', () => {
    const sorted = (descending: boolean): (number | null)[] =>
      sortRows(rows, { column: 0, descending }, (row) => row);
    expect(sorted(false)).toEqual([1, 2, 3, null, null]);
    expect(sorted(true)).toEqual([3, 2, 1, null, null]);
  });

  it('sort names as people count', () => {
    expect(sortRows(['s10', 's2', 's1'], { column: 0, descending: false }, (row) => row)).toEqual([
      's1',
      's2',
      's10',
    ]);
  });
});

describe('CSV', () => {
  it('quotes what needs it, and disarms formulas', () => {
    expect(
      csvOf(
        ['a', 'b'],
        [
          ['x,"y"\n', 1.5],
          ['=1+1', null],
        ],
      ),
    ).toBe('a,b\r\n"x,""y""\n",1.5\r\n\'=1+1,\r\n');
  });
});

describe('foreign text', () => {
  it('shows what would be hidden', () => {
    expect(visibleText('a\u001b[31m\u0000\u007f\u009b')).toBe('a␛[31m␀␡⟨U+009B⟩');
    expect(visibleText('abc\u202edef\u2066')).toBe('abc⟨U+202E⟩def⟨U+2066⟩');
    expect(visibleText('two\r\nlines\tand 👩‍👧 مرحبا')).toBe('two\nlines\tand 👩‍👧 مرحبا');
  });

  property([fc.string({ unit: 'binary' })])('holds no control character', (text) => {
    expect(visibleText(text)).not.toMatch(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/u);
  });
});
