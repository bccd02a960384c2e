import { describe, expect, it } from 'vitest';
import { exactly, timed } from '../self-test/finding.js';
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

describe('text of the self-test', () => {
  it('has a line for each claim, and names a scenario once', () => {
    const lines = selfTestText([LATE, exactly('delays', 'requests sent', 800, 800)]).split('\n');
    expect(lines.slice(0, 3)).toEqual([
      '        what           claimed  measured   error        allowed',
      'delays  latency p50     10.0ms    10.4ms  +400µs  −150µs +300µs  too busy to tell',
      '        requests sent      800       800       0           none  ok',
    ]);
    expect(lines.at(-2)).toContain('too busy with other things to tell');
  });

  it('says so when something is not as claimed', () => {
    const text = selfTestText([LATE, exactly('rate', 'requests sent', 800, 799)]);
    expect(text).toMatch(/^rate +requests sent +800 +799 +−1 +none {2}NOT OK$/m);
    expect(text).toContain('\n\nSomething is not as claimed: see NOT OK above.\n');
  });
});
