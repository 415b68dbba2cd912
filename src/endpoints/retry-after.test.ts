import { expect, it } from 'vitest';
import { retryAfterMs } from './retry-after.ts';

// 2015-10-21T07:28:00Z, as `date -u -d @1445412480` says.
const wallMs = 1_445_412_480_000;

it.each([
  [undefined, null],
  ['0', 0],
  [' 120 ', 120_000],
  ['Wed, 21 Oct 2015 07:28:30 GMT', 30_000],
  ['Wed, 21 Oct 2015 07:27:00 GMT', 0],
  ['soon', null],
  ['1.5', 1500],
  ['-5', null],
  ['2015-10-21', null],
  ['', null],
])('Retry-After: %s is %s ms', (value, ms) => {
  expect(retryAfterMs(value, wallMs)).toBe(ms);
});
