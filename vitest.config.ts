import { defineConfig } from 'vitest/config';

const NO_SOURCES = ['**/node_modules/**', '**/dist/**'];
/** Folders of test/ whose findings are times, rates or shares of the machine, or that need all of it. */
const NEED_THE_MACHINE = ['calibration', 'cluster', 'conformance', 'faults', 'scale', 'verdict'].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);
/** Ends what hangs. A busy machine is slow at what only computes, and that is no failure. */
const LIMITS = { testTimeout: 120_000, hookTimeout: 120_000 };

// `unit` needs no server and no second package. `e2e` starts real programs, a few files at a time, because most of
// them wait for something; `alone` has the machine to itself, one file after another. A group after the other, so that
// nothing of ours disturbs its times and ports.
// Packages find each other through their dist folders, so build before running any.
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['apps/**/*.test.ts', 'libs/**/*.test.ts', 'tools/**/*.test.ts'],
          exclude: NO_SOURCES,
          ...LIMITS,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/**/*.test.ts'],
          exclude: [...NO_SOURCES, ...NEED_THE_MACHINE],
          ...LIMITS,
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          name: 'alone',
          include: NEED_THE_MACHINE,
          exclude: NO_SOURCES,
          ...LIMITS,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
