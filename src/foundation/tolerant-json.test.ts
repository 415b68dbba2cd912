import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { property } from './property.suite.ts';
import { parseJsonValues, parseTolerantJson } from './tolerant-json.ts';

describe('parseTolerantJson', () => {
  it("reads what Python's json.dumps writes of floats", () => {
    const text = '{"a": Infinity, "b": [-Infinity, NaN, 1.5], "c": "NaN, \\" Infinity", "Infinity": 1}';
    expect(parseTolerantJson(text)).toEqual({
      a: Number.POSITIVE_INFINITY,
      b: [Number.NEGATIVE_INFINITY, null, 1.5],
      c: 'NaN, " Infinity',
      Infinity: 1,
    });
  });

  property([fc.jsonValue()])('is JSON.parse for JSON, with a bare word beside it too', (value) => {
    const text = JSON.stringify(value);
    expect(parseTolerantJson(text)).toEqual(JSON.parse(text));
    expect(parseTolerantJson(`[NaN,${text}]`)).toEqual([null, JSON.parse(text)]);
  });

  it.each(['{', '{"a": Nan}', '{"a": undefined}', ''])('refuses %j', (text) => {
    expect(() => parseTolerantJson(text)).toThrow(SyntaxError);
  });

  it.each(['"'.repeat(300_001), `NaN"${'\\"'.repeat(300_000)}`, `NaN"${'\\"'.repeat(300_000)}\\`])(
    'reads hostile text once: %.12s',
    (text) => {
      // From each of its quotes anew, this would take hours.
      expect(() => parseTolerantJson(text)).toThrow(SyntaxError);
    },
  );
});

describe('parseJsonValues', () => {
  it('takes one value, also over several lines', () => {
    expect(parseJsonValues('{\n "a": 1\n}\n')).toEqual([{ value: { a: 1 }, line: null }]);
  });

  it('takes one value per line', () => {
    expect(parseJsonValues('{"a": 1}\n\n{"a": Infinity}')).toEqual([
      { value: { a: 1 }, line: 1 },
      { value: { a: Number.POSITIVE_INFINITY }, line: 3 },
    ]);
  });

  it('names the line that is wrong', () => {
    expect(() => parseJsonValues('{"a": 1}\n{"a": }')).toThrow(/line 2/);
  });
});
