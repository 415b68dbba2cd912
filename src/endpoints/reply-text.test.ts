import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { ReplyText } from './reply-text.ts';

const piece = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', maxLength: 100 }),
  fc.string({ unit: 'binary', maxLength: 100 }),
);

function gathered(pieces: readonly string[]): { text: string; bytes: number } {
  const reply = new ReplyText();
  const bytes = pieces.reduce((sum, each) => sum + reply.append(each), 0);
  return { text: reply.toString(), bytes };
}

describe('ReplyText', () => {
  property([fc.array(piece)])('is its pieces in order, and counts their bytes', (pieces) => {
    const text = pieces.join('');
    expect(gathered(pieces)).toEqual({ text, bytes: Buffer.byteLength(text) });
  });

  property([fc.string({ unit: 'binary' }), fc.nat(), fc.nat()])(
    'is whole where it was cut inside a character',
    (text, a, b) => {
      const cut = a % (text.length + 1);
      const pieces = [text.slice(0, cut), text.slice(cut, cut + (b % 3)), text.slice(cut + (b % 3))];
      expect(gathered(pieces)).toEqual({ text, bytes: Buffer.byteLength(text) });
    },
  );

  test('grows over any size', () => {
    const pieces = Array.from({ length: 3000 }, (_, i) => `${i % 7 === 0 ? 'é' : ''} word${i}`);
    expect(gathered([...pieces, 'x'.repeat(100_000)]).text).toBe(`${pieces.join('')}${'x'.repeat(100_000)}`);
  });

  test('a half character at the end is kept as it came', () => {
    expect(gathered(['a', '\ud83d']).text).toBe('a\ud83d');
    expect(gathered(['a\ud83d', '', '\ude00!']).text).toBe('a😀!');
  });
});
