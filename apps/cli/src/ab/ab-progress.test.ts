import { describe, expect, it } from 'vitest';
import { AbProgress } from './ab-progress.js';

describe('progress lines of ab', () => {
  it('prints each step once, also those that one second has passed over', () => {
    const progress = new AbProgress(1_000);
    expect(progress.linesUpTo(99)).toEqual([]);
    expect(progress.linesUpTo(350)).toEqual([100, 200, 300].map((n) => `Completed ${n} requests\n`));
    expect(progress.linesUpTo(350)).toEqual([]);
    expect(progress.linesUpTo(200)).toEqual([]);
    expect(progress.linesUpTo(1_000).at(-1)).toBe('Completed 1000 requests\n');
    expect(progress.linesUpTo(1_000)).toEqual([]);
  });

  it('has a step of a tenth, rounded down, and at least 100', () => {
    expect(new AbProgress(151).linesUpTo(151)).toEqual(['Completed 100 requests\n']);
    expect(new AbProgress(1_055).linesUpTo(210)).toEqual([
      'Completed 105 requests\n',
      'Completed 210 requests\n',
    ]);
    expect(new AbProgress(undefined).linesUpTo(5_000)).toEqual(['Completed 5000 requests\n']);
  });

  it('stays bounded when a run by time has passed very many steps at once', () => {
    const lines = new AbProgress(undefined).linesUpTo(1_000_000_000);
    expect(lines).toHaveLength(1_000);
    expect(lines.at(-1)).toBe('Completed 1000000000 requests\n');
  });
});
