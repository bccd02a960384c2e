import { defineConfig } from 'vitest/config';

// `unit` needs no server and no second package; `e2e` starts real programs, one file after another.
// Packages find each other through their dist folders, so build before running either.
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['apps/**/*.test.ts', 'libs/**/*.test.ts', 'tools/**/*.test.ts'],
          exclude: ['**/node_modules/**', '**/dist/**'],
          // Ends what hangs. A busy machine is slow at what only computes, and that is no failure.
          testTimeout: 120_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/**/*.test.ts'],
          exclude: ['**/node_modules/**', '**/dist/**'],
          fileParallelism: false,
          // After the unit tests, so that nothing else of ours disturbs times and ports.
          sequence: { groupOrder: 1 },
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
