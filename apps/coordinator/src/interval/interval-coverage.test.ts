import { describe, expect, it } from 'vitest';
import { IntervalCoverage } from './interval-coverage.js';

describe('the coverage of one shard attempt', () => {
  it('counts every interval once', () => {
    const coverage = new IntervalCoverage();
    expect(coverage.accept({ number: 0, span: 1 })).toBe('new');
    expect(coverage.accept({ number: 0, span: 1 })).toBe('duplicate');
    expect(coverage.next).toBe(1);
  });

  it('takes intervals in any order and knows the first gap', () => {
    const coverage = new IntervalCoverage();
    expect(coverage.accept({ number: 2, span: 1, isLast: true })).toBe('new');
    expect(coverage.accept({ number: 2, span: 1 })).toBe('duplicate');
    expect(coverage.isComplete).toBe(false);
    expect(coverage.accept({ number: 0, span: 2 })).toBe('new');
    expect(coverage.next).toBe(3);
    expect(coverage.isComplete).toBe(true);
  });

  it('refuses a merged interval that covers something already counted', () => {
    const coverage = new IntervalCoverage();
    coverage.accept({ number: 0, span: 1 });
    expect(coverage.accept({ number: 0, span: 2 })).toBe('overlap');
    coverage.accept({ number: 5, span: 2 });
    expect(coverage.accept({ number: 4, span: 2 })).toBe('overlap');
  });

  it('is not made to grow by numbers far ahead', () => {
    const coverage = new IntervalCoverage();
    expect(coverage.accept({ number: 1_000_000, span: 1 })).toBe('too-far');
    expect(coverage.accept({ number: 0, span: 1_000_000 })).toBe('too-far');
  });
});
