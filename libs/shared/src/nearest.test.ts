import { describe, expect, it } from 'vitest';
import { nearestOf } from './nearest.js';

describe('nearest word', () => {
  it.each([
    ['srve', 'serve'],
    ['demmo', 'demo'],
    ['agnet', 'agent'],
    ['targ', 'target'],
    ['xyzzy', undefined],
    ['', undefined],
    ['a'.repeat(1_000), undefined],
  ])('for %j is %j', (word, nearest) => {
    expect(nearestOf(word, ['demo', 'ab', 'run', 'serve', 'agent', 'target'])).toBe(nearest);
  });
});
