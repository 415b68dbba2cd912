import { createParser } from 'eventsource-parser';
import fc from 'fast-check';
import { expect } from 'vitest';
import { property } from '../../foundation/property.suite.ts';
import { eventData } from './event-data.ts';

async function* cut(bytes: Buffer, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (const size of sizes) {
    yield bytes.subarray(at, at + size);
    at += size;
  }
  yield bytes.subarray(at);
}

const lines = fc.array(
  fc.constantFrom(
    'data: a',
    'data:b',
    'data:  é€😀',
    'data',
    '',
    '',
    ': note',
    'event: x',
    'id: 3',
    'data: [DONE]',
  ),
  { maxLength: 20 },
);

property([lines, fc.constantFrom('\n', '\r\n'), fc.array(fc.nat(7), { maxLength: 60 })])(
  'events are those of another parser, wherever the bytes are cut',
  async (given, end, sizes) => {
    const text = given.map((line) => `${line}${end}`).join('');
    const expected: string[] = [];
    createParser({ onEvent: ({ data }) => expected.push(data) }).feed(text);
    const seen: string[] = [];
    for await (const data of eventData(cut(Buffer.from(text), sizes))) seen.push(data);
    expect(seen).toEqual(expected);
  },
);
