import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { decodeBase64 } from './decode-base64.ts';

const bytes = fc.uint8Array({ minLength: 1, maxLength: 200 });

describe('base64 as servers write it', () => {
  property([bytes])('is read back, however it is dressed', (value) => {
    const plain = Buffer.from(value).toString('base64');
    const lines = plain.replace(/(.{8})/g, '$1\r\n');
    for (const text of [
      plain,
      lines,
      `data:image/png;base64,${plain}`,
      plain.replaceAll('+', '-').replaceAll('/', '_'),
    ])
      expect(decodeBase64(text)).toEqual(Buffer.from(value));
  });

  property([bytes, fc.integer({ min: 1, max: 3 })])('is refused when its end is missing', (value, lost) => {
    const plain = Buffer.from([...value, 0, 0, 0].slice(0, Math.ceil(value.length / 3) * 3)).toString(
      'base64',
    );
    expect(decodeBase64(plain.slice(0, -lost))).toBeNull();
  });

  it('may leave out the padding in the URL-safe alphabet only', () => {
    expect(decodeBase64('-_8')).toEqual(Buffer.from([0xfb, 0xff]));
    expect(decodeBase64('+/8')).toBeNull();
    expect(decodeBase64('-_8-_')).toBeNull();
    expect(decodeBase64('AAA')).toBeNull();
    expect(decodeBase64('AAA', { mayLackPadding: true })).toEqual(Buffer.alloc(2));
    expect(decodeBase64('+/8', { mayLackPadding: true })).toBeNull();
    expect(decodeBase64('AAAAA', { mayLackPadding: true })).toBeNull();
  });

  it.each(['!!!not base64!!!', 'AA=A', 'data:image/png,AAAA', '<html>==='])('%s is none', (text) => {
    expect(decodeBase64(text)).toBeNull();
  });

  it('of nothing is nothing', () => {
    expect(decodeBase64('')).toEqual(Buffer.alloc(0));
  });
});
