import { fc, test } from '@fast-check/vitest';
import { describe, expect } from 'vitest';
import { asciiJson, asciiJsonText } from './ascii-json.ts';

describe('JSON in ASCII', () => {
  test.prop([fc.jsonValue()])('says what JSON says, in as many bytes as characters', (value) => {
    const text = asciiJson(value);
    expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
    expect(Buffer.byteLength(text, 'utf8')).toBe(text.length);
  });

  test.prop([fc.string({ unit: 'binary' })])('fits a text between quotes', (text) => {
    expect(JSON.parse(`"${asciiJsonText(text)}"`)).toBe(text);
    expect(asciiJsonText(text)).toMatch(/^[ -~]*$/);
  });
});
