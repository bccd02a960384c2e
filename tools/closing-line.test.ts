import { describe, expect, it } from 'vitest';
import { closingLine, tallyReport } from './closing-line.mjs';

const file = (status: string, ...cases: string[]) => ({
  status,
  assertionResults: cases.map((name) => ({ status: name })),
});

describe('tallyReport', () => {
  it('counts passed, failed and every kind of left-out case', () => {
    const report = {
      testResults: [file('passed', 'passed', 'skipped', 'todo'), file('failed', 'failed', 'passed')],
    };
    expect(tallyReport(report)).toEqual({ passed: 2, failed: 1, skipped: 2 });
  });

  it('counts a file that did not load, or whose hook threw, as one failure', () => {
    const report = { testResults: [file('failed'), file('failed', 'skipped', 'passed')] };
    expect(tallyReport(report)).toEqual({ passed: 1, failed: 2, skipped: 1 });
  });
});

describe('closingLine', () => {
  it('names skipped cases only when there are any', () => {
    expect(closingLine({ passed: 12, failed: 0, skipped: 0 })).toBe('12 passed, 0 failed');
    expect(closingLine({ passed: 12, failed: 1, skipped: 3 })).toBe('12 passed, 1 failed, 3 skipped');
  });
});
