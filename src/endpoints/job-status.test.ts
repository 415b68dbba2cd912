import { expect, it } from 'vitest';
import { jobState } from './job-status.ts';

it.each([
  ['queued', 'running'],
  [' In Progress ', 'running'],
  ['in-progress', 'running'],
  ['COMPLETED', 'done'],
  ['Succeeded', 'done'],
  ['Failed', 'failed'],
  ['cancelled', 'unknown'],
  ['completed_with_errors', 'unknown'],
  [3, 'unknown'],
  [false, 'unknown'],
  ['', 'missing'],
  ['  ', 'missing'],
  [null, 'missing'],
  [undefined, 'missing'],
])('a job whose status is %j is %s', (status, state) => {
  expect(jobState({ status })).toBe(state);
});
