import fc from 'fast-check';
import { expect } from 'vitest';
import { property } from '../../foundation/property.suite.ts';
import { wrapText } from './wrap-text.ts';

const words = fc.array(fc.stringMatching(/^[a-z]{1,20}$/), { maxLength: 40 });

property([words, fc.integer({ min: 10, max: 60 }), fc.nat({ max: 8 })])(
  'keeps every word in order, and lines within the width unless one word is longer',
  (list, width, indent) => {
    const lines = wrapText(list.join(' '), width, '', ' '.repeat(indent));
    expect(lines.join(' ').split(/\s+/).filter(Boolean)).toEqual(list);
    for (const line of lines) if (line.trim().includes(' ')) expect(line.length).toBeLessThanOrEqual(width);
  },
);
