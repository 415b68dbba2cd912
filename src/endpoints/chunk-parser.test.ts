import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { ChunkParser } from './chunk-parser.ts';

/** What `JSON.parse` makes of it; a thrown error as its class. */
function outcome(parse: (data: string) => unknown, data: string): unknown {
  try {
    return structuredClone(parse(data));
  } catch (error) {
    return error instanceof SyntaxError ? SyntaxError : error;
  }
}

/** As Python writes JSON: blanks after separators, and nothing but ASCII. */
function pythonJson(value: unknown): string {
  const spaced = JSON.stringify(value, null, 1).replaceAll(/\n */g, ' ');
  return spaced.replaceAll(/[^\0-~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', ' the', '"', '\\', '\n', 'a","b":"c', 'content', 'x'.repeat(300), '\u2028', '\ud83d'),
);
/** Everything of a chunk but its text. */
const frame = fc.record(
  {
    id: fc.constantFrom('chatcmpl-1', ' the'),
    text: fc.constantFrom(' the', ''),
    usage: fc.oneof(fc.constant(null), fc.record({ completion_tokens: fc.integer({ min: 1, max: 3 }) })),
    finish: fc.constantFrom(null, 'stop'),
  },
  { requiredKeys: [] },
);
const kinds = {
  chat: (content: string, rest: object) => ({ ...rest, choices: [{ index: 0, delta: { content } }] }),
  completion: (content: string, rest: object) => ({ choices: [{ text: content, index: 0 }], ...rest }),
  two: (content: string, rest: object) => ({
    choices: [{ delta: { content } }, { delta: { content: ' the' } }],
    ...rest,
  }),
  parts: (content: string, rest: object) => ({
    choices: [{ delta: { content: [{ text: content }] } }],
    ...rest,
  }),
  foreign: (content: string, rest: object) => ({ delta: content, ...rest }),
} as const;
const stream = fc.record({
  kind: fc.constantFrom(...Object.values(kinds)),
  frames: fc.array(frame, { minLength: 1, maxLength: 2 }),
  texts: fc.array(text, { minLength: 1, maxLength: 30 }),
  write: fc.constantFrom(JSON.stringify, pythonJson),
});

describe('ChunkParser', () => {
  property([stream])('gives what JSON.parse gives, chunk by chunk', ({ kind, frames, texts, write }) => {
    const parser = new ChunkParser();
    for (const [i, content] of texts.entries()) {
      const data = write(kind(content, frames[i % frames.length] ?? {}));
      expect(outcome((each) => parser.parse(each), data)).toEqual(outcome(JSON.parse, data));
    }
  });

  property([stream, fc.array(fc.tuple(fc.nat(), fc.nat(), fc.constantFrom('', '"', '\\', '\n', '}', 'a')))])(
    'also for chunks that are broken',
    ({ kind, frames, texts, write }, breaks) => {
      const parser = new ChunkParser();
      const chunks = texts.map((content, i) => write(kind(content, frames[i % frames.length] ?? {})));
      for (const [which, where, what] of breaks) {
        const at = which % chunks.length;
        const chunk = chunks[at] ?? '';
        const cut = where % (chunk.length + 1);
        chunks[at] = chunk.slice(0, cut) + what + chunk.slice(cut + 1);
      }
      for (const data of chunks) {
        expect(outcome((each) => parser.parse(each), data)).toEqual(outcome(JSON.parse, data));
      }
    },
  );

  test('the last of two equal keys counts, as in JSON.parse', () => {
    const parser = new ChunkParser();
    for (const word of [' a', ' b', ' c']) {
      const data = `{"choices":[{"delta":{"content":"${word}","content":" a"}}]}`;
      expect(parser.parse(data)).toEqual({ choices: [{ delta: { content: ' a' } }] });
    }
  });

  test('returns the same object again where only the text is new, and another where more is', () => {
    const parser = new ChunkParser();
    const chunk = (content: string, rest: object = {}): string => JSON.stringify(kinds.chat(content, rest));
    parser.parse(chunk(' a'));
    const second = parser.parse(chunk(' b'));
    expect(second).toEqual(kinds.chat(' b', {}));
    expect(parser.parse(chunk(' "c"\n'))).toBe(second);
    expect(second).toEqual(kinds.chat(' "c"\n', {}));
    expect(parser.parse(chunk(' d', { usage: null }))).not.toBe(second);
    expect(parser.parse(chunk(' e'))).toEqual(kinds.chat(' e', {}));
  });
});
