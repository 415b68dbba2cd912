import { defineConfig } from 'vitest/config';

/**
 * Tests through the real command line whose figures a neighbour on the same cores would be in: they have the machine
 * to themselves. What only must happen at all, in order or within many seconds, needs no such rest.
 */
const clockWatchers = [
  'test/e2e/ground-truth.test.ts',
  'test/e2e/guide-commands.test.ts',
  'test/e2e/media-datasets.test.ts',
  'test/e2e/scale.test.ts',
  'test/e2e/schedule.test.ts',
];

/** These wait for processes on a shared machine: a fault shows every time, a neighbour's burst does not. */
const retry = 2;

/** Three groups, one after the other: what only computes, what mostly waits, and what measures time. */
export default defineConfig({
  test: {
    testTimeout: 90_000,
    hookTimeout: 60_000,
    pool: 'forks',
    projects: [
      {
        extends: true,
        test: {
          name: 'rooms',
          include: ['src/**/*.test.ts'],
          maxWorkers: 2,
          // Files share a process and what it has loaded: half of the work. None may leave anything behind, in any
          // order (`--sequence.shuffle.files` shows it).
          isolate: false,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/**/*.test.ts'],
          exclude: clockWatchers,
          maxWorkers: 3,
          retry,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'clock',
          include: clockWatchers,
          maxWorkers: 1,
          fileParallelism: false,
          retry,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
