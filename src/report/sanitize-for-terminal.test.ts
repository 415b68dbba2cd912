import { describe, expect, it } from 'vitest';
import { inertText } from './sanitize-for-terminal.ts';

describe('inertText', () => {
  it.each([
    ['plain  text, trailing blanks   ', 'plain  text, trailing blanks   '],
    ['two\nlines\tand a tab', 'two\nlines\tand a tab'],
    ['\u001b[31mred\u001b[0m', 'red'],
    ['\u001b]0;title\u0007rest', ']0;titlerest'],
    ['over\rwritten', 'overwritten'],
    ['c1 \u009b2Jclear', 'c1 clear'],
    ['a list:\n[a] first', 'a list:\n[a] first'],
    ['evil \u202egnp.exe', 'evil gnp.exe'],
    ['größe 你好 😀', 'größe 你好 😀'],
  ])('%j → %j', (text, expected) => {
    expect(inertText(text)).toBe(expected);
  });
});
