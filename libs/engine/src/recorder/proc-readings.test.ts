import { UNKNOWN } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { parseMachineTicks, parseSchedstat, parseSwitches, stealShareOf } from './proc-readings.js';

describe('parseSchedstat', () => {
  it('reads time on a CPU and time waiting for one', () => {
    expect(parseSchedstat('518028000 912681 2\n')).toEqual({ cpuUs: 518_028, runDelayUs: 912.681 });
  });

  it.each(['', '0 0 0\n', '1 2', 'a b c', '1 2 3 4'])('knows nothing of %j', (text) => {
    expect(parseSchedstat(text)).toBeUndefined();
  });
});

describe('parseSwitches', () => {
  it('reads the involuntary ones', () => {
    const text = 'Name:\tnode\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t42\n';
    expect(parseSwitches(text)).toBe(42);
    expect(parseSwitches('voluntary_ctxt_switches:\t7\n')).toBeUndefined();
  });
});

describe('parseMachineTicks', () => {
  it('adds up a machine and counts guests once', () => {
    const text = 'cpu  100 1 20 300 4 5 6 64 50 1\ncpu0 9 9 9 9 9 9 9 9 9 9\nintr 1 2 3\n';
    expect(parseMachineTicks(text)).toEqual({ all: 500, steal: 64 });
  });

  it.each(['', 'cpu  1 2 3 4\n', 'cpu0 1 2 3 4 5 6 7 8\n'])('knows nothing of %j', (text) => {
    expect(parseMachineTicks(text)).toBeUndefined();
  });
});

describe('stealShareOf', () => {
  it('is the part of the time in between', () => {
    expect(stealShareOf({ all: 1_000, steal: 10 }, { all: 1_200, steal: 60 })).toBe(0.25);
    expect(stealShareOf({ all: 1_000, steal: 10 }, { all: 1_000, steal: 10 })).toBe(0);
  });

  it('is unknown when one of the two is', () => {
    expect(stealShareOf(undefined, { all: 1, steal: 0 })).toBe(UNKNOWN);
    expect(stealShareOf({ all: 1, steal: 0 }, undefined)).toBe(UNKNOWN);
  });
});
