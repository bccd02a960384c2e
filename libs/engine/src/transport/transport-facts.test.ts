import { LIMITS } from '@broadside/shared';
import { expect, it } from 'vitest';
import { TransportFacts } from './transport-facts.js';

it('counts equal reasons together, most frequent first', () => {
  const facts = new TransportFacts();
  for (const reason of ['a', 'b', 'b', '']) facts.noteReason(reason);
  expect(facts.reasons).toEqual([
    { reason: 'b', count: 2 },
    { reason: 'a', count: 1 },
  ]);
  expect(facts.lastReason).toBe('');
});

it('keeps reasons to one line of bounded length, and to a bounded number', () => {
  const facts = new TransportFacts();
  facts.noteReason(` two\n lines ${'x'.repeat(1_000)}`);
  expect(facts.lastReason).toMatch(/^two lines x+$/);
  expect(facts.lastReason).toHaveLength(300);
  for (let i = 0; i < 100; i++) facts.noteReason(`reason ${i}`);
  expect(facts.reasons).toHaveLength(LIMITS.maxFailureReasons);
  expect(facts.reasons[0]).toEqual({ reason: 'other reasons', count: 94 });
});
