import { describe, expect, it } from 'vitest';
import { collapsedLines } from './collapsed-lines.js';

describe('lines about shards', () => {
  it('are one where they say the same', () => {
    const lines = [
      'shard 0 (attempt 1, agent one): intervals 3 to 7 missing',
      'sent is 5 as merged and 6 in the store',
      'shard 1 (attempt 1, agent a (2)): intervals 4 to 9 missing',
      'shard 2 (attempt 2, agent one): intervals 3 to 7 missing',
      'shard 2 (attempt 2, agent one): its own totals never came',
    ];
    expect(collapsedLines(lines)).toEqual([
      'shard 0 (attempt 1, agent one): intervals 3 to 7 missing; and so for 2 more lines like it',
      'sent is 5 as merged and 6 in the store',
      'shard 2 (attempt 2, agent one): its own totals never came',
    ]);
  });

  it('are left alone where they are no shard’s', () => {
    expect(collapsedLines(['a 1', 'a 2'])).toEqual(['a 1', 'a 2']);
    expect(collapsedLines([])).toEqual([]);
  });
});
