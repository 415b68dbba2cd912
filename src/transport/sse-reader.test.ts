import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { property } from '../foundation/property.suite.ts';
import { SseReader } from './sse-reader.ts';

type Message = { data: string; timeMs: number; event: string | null };

/** Reads pieces, the nth at time n, out of one reused buffer, as the transport does. */
function readAll(pieces: readonly Uint8Array[], maxLineBytes = 1 << 20) {
  const messages: Message[] = [];
  const comments: [string, number][] = [];
  const limits: string[] = [];
  const reader = new SseReader({
    onMessage: (data, timeMs, event) => messages.push({ data, timeMs, event }),
    onComment: (text, timeMs) => comments.push([text, timeMs]),
    maxLineBytes,
    onLimit: (message) => limits.push(message),
  });
  const shared = Buffer.alloc(Math.max(1, ...pieces.map((piece) => piece.length)));
  for (const [timeMs, piece] of pieces.entries()) {
    shared.set(piece);
    reader.push(shared.subarray(0, piece.length), timeMs);
    shared.fill(0x21);
  }
  reader.end();
  return { messages, comments, limits };
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'utf8');
const dataOf = (...texts: string[]): string[] => readAll(texts.map(bytesOf)).messages.map(({ data }) => data);

/** What an independent parser makes of the bytes; it leaves the byte order mark to the decoder. */
function oracle(bytes: Buffer): { data: string; event: string | null }[] {
  const messages: { data: string; event: string | null }[] = [];
  const parser = createParser({
    onEvent: ({ data, event }) =>
      messages.push({ data, event: event === undefined || event === '' ? null : event }),
  });
  parser.feed(new TextDecoder().decode(bytes));
  return messages;
}

function cut(bytes: Buffer, points: readonly number[]): Buffer[] {
  const at = [...new Set(points.map((point) => point % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((from, i) => bytes.subarray(from, at[i] ?? bytes.length));
}

const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
const text = fc
  .oneof(fc.string({ maxLength: 20 }), fc.string({ unit: 'grapheme', maxLength: 12 }))
  .map((s) => s.replace(/[\r\n\0]/g, '·'));
const line = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.tuple(fc.constantFrom('data: ', 'data:', 'data:  '), text).map((parts) => parts.join('')),
  },
  fc
    .tuple(
      fc.constantFrom(
        ':',
        ': ping ',
        'event: ',
        'event:',
        'id: ',
        'retry: ',
        'datax: ',
        'dat: ',
        'other',
        ' data: ',
      ),
      text,
    )
    .map((parts) => parts.join('')),
  fc.constantFrom('data', 'event', 'data: [DONE]', 'x', ':'),
  { weight: 4, arbitrary: fc.constant('') },
);
const stream = fc
  .tuple(fc.boolean(), fc.array(fc.tuple(line, lineEnd), { maxLength: 30 }))
  .map(([mark, lines]) => (mark ? '\uFEFF' : '') + lines.map((parts) => parts.join('')).join(''));
const points = fc.array(fc.nat(), { maxLength: 20 });

describe('SseReader', () => {
  property([stream, points], { numRuns: 2000 })(
    'agrees with eventsource-parser for any borders of reads',
    (written, at) => {
      // Both take a terminated stream; what an unterminated rest means is tested below.
      const whole = `${written}\n\n`;
      const seen = readAll(cut(bytesOf(whole), at)).messages.map(({ data, event }) => ({ data, event }));
      expect(seen).toEqual(oracle(bytesOf(whole)));
    },
  );

  property([
    fc.uint8Array({ maxLength: 200 }),
    fc.array(fc.constantFrom(10, 13, 58, 100, 97, 116, 32, 0xef, 0xbb, 0xbf)),
    points,
  ])('what is read of any bytes does not depend on their borders', (noise, marks, at) => {
    const bytes = Buffer.concat([Buffer.from(marks), Buffer.from('data:', 'latin1'), Buffer.from(noise)]);
    const strip = ({ messages, comments }: ReturnType<typeof readAll>) => [
      messages.map(({ data, event }) => [data, event]),
      comments.map(([comment]) => comment),
    ];
    expect(strip(readAll(cut(bytes, at)))).toEqual(strip(readAll([bytes])));
  });

  property([
    fc.array(
      text.filter((part) => part !== ''),
      { minLength: 1, maxLength: 6 },
    ),
    points,
  ])('a message has the time of the read with the last byte of its data', (payloads, at) => {
    let written = 0;
    const lastBytes: number[] = [];
    const parts = payloads.map((payload) => {
      const part = bytesOf(`event: e\ndata: ${payload}\nid: 1\n\n`);
      lastBytes.push(written + bytesOf(`event: e\ndata: ${payload}`).length - 1);
      written += part.length;
      return part;
    });
    const pieces = cut(Buffer.concat(parts), at);
    const timeOfByte = pieces.flatMap((piece, timeMs) => Array<number>(piece.length).fill(timeMs));
    expect(readAll(pieces).messages.map(({ timeMs }) => timeMs)).toEqual(
      lastBytes.map((byte) => timeOfByte[byte]),
    );
  });

  test('the time is that of the payload, not of its line end or blank line', () => {
    const { messages } = readAll(
      ['data: a', '\n', '\n', 'data: b\r', '\n\r', '\ndata: c\n', '\n'].map(bytesOf),
    );
    expect(messages).toEqual([
      { data: 'a', timeMs: 0, event: null },
      { data: 'b', timeMs: 3, event: null },
      { data: 'c', timeMs: 5, event: null },
    ]);
  });

  test('of several data lines, the last one gives the time', () => {
    const { messages } = readAll(['data: a\n', 'data: b', '\nevent: x\n', '\n'].map(bytesOf));
    expect(messages).toEqual([{ data: 'a\nb', timeMs: 1, event: 'x' }]);
  });

  test('[DONE] is data like any other, and a message may come without a blank line at the end', () => {
    expect(dataOf('data: {"a":1}\n\ndata: [DONE]')).toEqual(['{"a":1}', '[DONE]']);
    expect(dataOf('data: 1\n\ndata: [DONE]\n')).toEqual(['1', '[DONE]']);
    expect(dataOf('data:x\r')).toEqual(['x']);
  });

  test('an empty data field is a message, an event without data is none', () => {
    expect(dataOf('data:\n\nevent: a\n\ndata\n\n')).toEqual(['', '']);
    expect(readAll([bytesOf('event: a\n\ndata: x\n\n')]).messages).toEqual([
      { data: 'x', timeMs: 0, event: null },
    ]);
  });

  test('a byte order mark is skipped at the start only, also when split', () => {
    const mark = Buffer.from([0xef, 0xbb, 0xbf]);
    const rest = bytesOf('data: a\n\ndata: \uFEFFb\n\n');
    for (const pieces of [
      [mark, rest],
      [...[...mark].map((byte) => Buffer.from([byte])), rest],
      [Buffer.concat([mark, rest])],
    ]) {
      expect(readAll(pieces).messages.map(({ data }) => data)).toEqual(['a', '\uFEFFb']);
    }
    expect(readAll([mark.subarray(0, 2)]).messages).toEqual([]);
    expect(
      readAll([mark.subarray(0, 2), bytesOf('data: a\n\ndata: b\n\n')]).messages.map(({ data }) => data),
    ).toEqual(['b']);
  });

  test('characters split across reads are whole; broken ones become U+FFFD', () => {
    const bytes = bytesOf('data: é日🙂\n\n');
    expect(readAll([...bytes].map((byte) => Buffer.from([byte]))).messages[0]?.data).toBe('é日🙂');
    expect(readAll([bytesOf('data: '), Buffer.from([0xe6, 0x97]), bytesOf('\n\n')]).messages[0]?.data).toBe(
      '\uFFFD',
    );
  });

  test('long lines are decoded alike, with and without other characters than ASCII', () => {
    const ascii = 'a'.repeat(30_000);
    expect(dataOf(`data: ${ascii}\n\n`, `data: ${ascii}`, `é${ascii}\n\n`)).toEqual([
      ascii,
      `${ascii}é${ascii}`,
    ]);
  });

  test('comments are told apart', () => {
    expect(readAll([bytesOf(': ping\n\n:'), bytesOf('\n')]).comments).toEqual([
      [' ping', 0],
      ['', 0],
    ]);
  });

  test.each([
    ['in one read', [`data: ${'x'.repeat(95)}\n\ndata: y\n\n`]],
    ['over many reads', ['data: ', ...Array<string>(20).fill('xxxxx'), '\n\n', 'data: y\n\n']],
    ['without an end', Array<string>(40).fill('xxxxx')],
    ['as a comment', [`:${'x'.repeat(100)}\n`, 'data: y\n\n']],
    ['as many data lines', [`${`data: ${'x'.repeat(50)}\n`.repeat(3)}\n`, 'data: y\n\n']],
    ['as many empty data lines', ['data\n'.repeat(200), '\ndata: y\n\n']],
  ])('a line or message above the limit stops the reader (%s)', (_name, texts) => {
    const { messages, limits } = readAll(['data: before\n\n', ...texts].map(bytesOf), 100);
    expect(messages.map(({ data }) => data)).toEqual(['before']);
    expect(limits).toHaveLength(1);
    expect(limits[0]).toMatch('more than 100 bytes');
  });

  property([fc.integer({ min: 90, max: 110 }), points])(
    'the limit does not depend on borders',
    (length, at) => {
      const { messages, limits } = readAll(cut(bytesOf(`${'data: '.padEnd(length, 'x')}\n\n`), at), 100);
      expect([messages.length, limits.length]).toEqual(length > 100 ? [0, 1] : [1, 0]);
    },
  );

  test('a line of 100 MB in reads of 64 KiB is copied a few times, not thousands of times', () => {
    const piece = Buffer.alloc(65_536, 'A');
    const count = 1600;
    let length = 0;
    const reader = new SseReader({
      onMessage: (data) => {
        length = data.length;
      },
      maxLineBytes: 1 << 28,
      onLimit: () => {},
    });
    const started = performance.now();
    reader.push(bytesOf('data: '), 0);
    for (let i = 0; i < count; i += 1) reader.push(piece, i);
    reader.push(bytesOf('\n\n'), count);
    expect(length).toBe(count * piece.length);
    // Copying all that was kept for every read would move 84 GB, which takes more than ten seconds anywhere.
    expect(performance.now() - started).toBeLessThan(5000);
  });
});
