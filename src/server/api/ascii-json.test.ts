import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { property } from '../../foundation/property.suite.ts';
import { asciiJson, asciiJsonText } from './ascii-json.ts';

describe('JSON in ASCII', () => {
  property([fc.jsonValue()])('says what JSON says, in as many bytes as characters', (value) => {
    const text = asciiJson(value);
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
    expect(Buffer.byteLength(text, 'utf8')).toBe(text.length);
  });

  property([fc.string({ unit: 'binary' })])('fits a text between quotes', (text) => {
    expect(JSON.parse(`"${asciiJsonText(text)}"`)).toBe(text);
    expect(asciiJsonText(text)).toMatch(/^[ -~]*$/);
  });
});
