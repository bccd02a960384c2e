import { describe, expect, it } from 'vitest';
import { exactly, type Finding, timed } from '../self-test/finding.js';
import type { SelfTestResult } from '../self-test/run-self-test.js';
import { selfTestText } from './self-test-text.js';

const LATE = timed({
  scenario: 'delays',
  what: 'latency p50',
  unit: 'µs',
  claimed: 10_000,
  measured: 10_400,
  allowed: 300,
  allowedBelow: 150,
  percentile: 50,
  stalls: undefined,
});

function resultOf(findings: readonly Finding[], isPartial = false): SelfTestResult {
  const conditions = [{ scenario: 'delays', stalls: { perRequestUs: 312, share: 0.123 } }];
  return { findings, conditions, transports: ['epoll'], isPartial };
}

describe('text of the self-test', () => {
  it('has a line for each claim, and names a scenario once', () => {
    const lines = selfTestText(resultOf([LATE, exactly('delays', 'requests sent', 800, 800)])).split('\n');
    expect(lines.slice(0, 3)).toEqual([
      '        what           claimed  measured   error        allowed',
      'delays  latency p50     10.0ms    10.4ms  +400µs  −150µs +300µs  too busy to tell',
      '        requests sent      800       800       0           none  ok',
    ]);
    expect(lines.at(-3)).toBe('delays: threads waited 312µs per request for a CPU, 12.30 % of the time');
    expect(lines.at(-2)).toContain('too busy with other things to tell');
  });

  it('says so when something is not as claimed', () => {
    const text = selfTestText(resultOf([LATE, exactly('rate', 'requests sent', 800, 799)]));
    expect(text).toMatch(/^rate +requests sent +800 +799 +−1 +none {2}NOT OK$/m);
    expect(text).toContain('\n\nSomething is not as claimed: see NOT OK above.\n');
  });

  it('claims nothing about the whole when it was stopped', () => {
    const text = selfTestText(resultOf([exactly('delays', 'requests sent', 800, 800)], true));
    expect(text).toMatch(/ ok\n\nStopped before the end: not everything was tested\.\n$/);
  });
});
