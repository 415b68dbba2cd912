import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { property } from '../../foundation/property.suite.ts';
import { StopFilter } from './stop-filter.ts';

/** Pieces of a text, and what came out of the filter for them. */
function filtered(
  pieces: readonly string[],
  stops: readonly string[],
): { text: string; stop: string | null } {
  const filter = new StopFilter(stops);
  let text = '';
  for (const piece of pieces) {
    const out = filter.push(piece);
    text += out.text;
    if (out.stop !== null) return { text, stop: out.stop };
  }
  return { text: text + filter.flush(), stop: null };
}

const letters = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 30 });
const stopTexts = fc.array(fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 4 }), {
  minLength: 1,
  maxLength: 3,
});

describe('a stop filter', () => {
  property([letters, stopTexts])('ends a text where the first stop text is complete', (text, stops) => {
    const out = filtered([...text], stops);
    const ends = stops.flatMap((stop) => {
      const at = text.indexOf(stop);
      return at < 0 ? [] : [{ end: at + stop.length, at }];
    });
    const first = Math.min(...ends.map(({ end }) => end));
    if (ends.length === 0) {
      expect(out).toEqual({ text, stop: null });
      return;
    }
    // Of stops that are complete at the same letter, the one that began first counts.
    const at = Math.min(...ends.filter(({ end }) => end === first).map((found) => found.at));
    expect(out.text).toBe(text.slice(0, at));
    expect(out.stop).toBe(text.slice(at, first));
  });

  test('holds back no more than could be a stop text', () => {
    const filter = new StopFilter(['<end>']);
    expect(filter.push('one <en')).toEqual({ text: 'one', stop: null });
    expect(filter.push('ough')).toEqual({ text: ' <en', stop: null });
    expect(filter.flush()).toBe('ough');
  });
});
