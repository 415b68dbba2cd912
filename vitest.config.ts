import { defineConfig } from 'vitest/config';

/**
 * Two groups, one after the other: what only computes shares the cores, and what measures time through the real
 * command line has them to itself.
 */
export default defineConfig({
  test: {
    testTimeout: 90_000,
    hookTimeout: 60_000,
    pool: 'forks',
    projects: [
      {
        extends: true,
        test: { name: 'rooms', include: ['src/**/*.test.ts'], maxWorkers: 2, sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        test: {
          name: 'e2e',
          include: ['test/**/*.test.ts'],
          maxWorkers: 1,
          fileParallelism: false,
          // These watch a clock on a shared machine: a fault shows every time, a neighbour's burst does not.
          retry: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
