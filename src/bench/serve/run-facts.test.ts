import { expect, test } from 'vitest';
import { exampleRecord } from '../../records/examples.suite.ts';
import type { RequestRecord } from '../../records/request-record.ts';
import { sendLagsMs } from './run-facts.ts';

const request = (dueMs: number, sendMs: number, endMs: number): RequestRecord =>
  exampleRecord({
    intendedMs: dueMs,
    admittedMs: sendMs,
    attempts: [{ sendMs, endMs, error: null, exchanges: [] }],
  });

/** Two slots, everything due at once: the third gets its slot at 130, the fourth at 150, the fifth at 160. */
const capped = [
  request(100, 101, 150),
  request(100, 102, 130),
  request(100, 133, 160),
  request(100, 154, 200),
  request(100, 160, 210),
];

test('a request that waits for a slot is late from the moment at which it has one', () => {
  expect(sendLagsMs(capped, 2)).toEqual([1, 2, 3, 4, 0]);
});

test('the order of the records does not matter', () => {
  expect(sendLagsMs(capped.toReversed(), 2)).toEqual([1, 2, 3, 4, 0]);
});

test('without a cap, or with a free slot, the schedule alone counts', () => {
  expect(sendLagsMs(capped, null)).toEqual([1, 2, 33, 54, 60]);
  expect(sendLagsMs([request(0, 1, 5), request(10, 12, 20), request(30, 33, 40)], 1)).toEqual([1, 2, 3]);
});

test('a request that was never sent has no lag', () => {
  expect(sendLagsMs([exampleRecord({ attempts: [] })], null)).toEqual([]);
});
