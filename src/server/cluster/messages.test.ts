import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { property } from '../../foundation/property.suite.ts';
import { ClockOffset } from './clock-offset.ts';
import { decodeMessage, encodeMessage } from './message-codec.ts';
import { messageParts, PartAssembler } from './message-parts.ts';

describe('messages', () => {
  property([fc.jsonValue(), fc.uint8Array({ maxLength: 300 })])(
    'come back with their bytes',
    (value, bytes) => {
      const message = { value, deep: [{ bytes: Buffer.from(bytes) }], none: Buffer.alloc(0) };
      expect(decodeMessage(encodeMessage(message))).toEqual({
        ...message,
        // JSON has no negative zero.
        value: JSON.parse(JSON.stringify(value)),
      });
    },
  );

  test('carry vectors as floats', () => {
    const values = Float32Array.from([0.25, -1.5, 3e-9]);
    expect(decodeMessage(encodeMessage({ pad: Buffer.from('abc'), values }))).toEqual({
      pad: Buffer.from('abc'),
      values,
    });
  });

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['a length alone', Buffer.from([9, 0, 0, 0])],
    ['a place outside', Buffer.from(encodeMessage({ a: Buffer.from('abc') })).subarray(0, -1)],
    ['no JSON', Buffer.from('\u0002\0\0\0{]', 'latin1')],
  ])('%s are refused', (_what, bytes) => {
    expect(() => decodeMessage(bytes)).toThrow();
  });
});

describe('parts', () => {
  property([
    fc.array(fc.uint8Array({ maxLength: 200 }), { minLength: 1, maxLength: 5 }),
    fc.integer({ min: 17, max: 60 }),
  ])('of several messages, mixed and out of order, make those messages', (messages, mostBytes) => {
    const parts = messages.map((message) => messageParts(message, mostBytes));
    expect(parts.flat().every((part) => part.length <= mostBytes)).toBe(true);
    // The last parts first, one message's between another's.
    const mixed = Array.from({ length: Math.max(...parts.map(({ length }) => length)) }, (_, index) =>
      parts.flatMap((each) => each.at(-1 - index) ?? []),
    ).flat();
    const assembler = new PartAssembler();
    const whole = mixed.flatMap((part) => {
      const message = assembler.push(part);
      return message === null ? [] : [Buffer.from(message).toString('hex')];
    });
    expect(whole.sort()).toEqual(messages.map((message) => Buffer.from(message).toString('hex')).sort());
  });

  test('a part twice does no harm, and bytes that are no part are refused', () => {
    const [first, second] = messageParts(Buffer.alloc(40), 40);
    const assembler = new PartAssembler();
    if (first === undefined || second === undefined) throw new Error('two parts were expected');
    expect([assembler.push(first), assembler.push(first)]).toEqual([null, null]);
    expect(assembler.push(second)).toEqual(Buffer.alloc(40));
    expect(() => assembler.push(Buffer.alloc(3))).toThrow(/too short/);
    const outside = Buffer.from(first);
    outside.writeUInt32LE(7, 8);
    expect(() => assembler.push(outside)).toThrow(/no place/);
  });
});

describe('the offset of another clock', () => {
  test('is that of the shortest of the last exchanges', () => {
    const offset = new ClockOffset();
    expect(offset.ms).toBe(0);
    // 10 ms there and back, in truth 1000 ahead, answered late in it.
    offset.exchanged(0, 1008, 10);
    expect(offset.ms).toBe(1003);
    offset.exchanged(20, 1021, 22);
    expect(offset.ms).toBe(1000);
    offset.exchanged(40, 1060, 80);
    expect(offset.ms).toBe(1000);
    // It drifts; the good old exchange is forgotten in time.
    for (let at = 100; at < 112; at += 1) offset.exchanged(at, at + 2001.5, at + 3);
    expect(offset.ms).toBe(2000);
    offset.reset();
    expect(offset.ms).toBe(0);
  });
});
