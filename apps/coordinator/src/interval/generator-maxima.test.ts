import { GAUGE, GAUGE_NAMES, type GaugeName, type Interval, newCounters, UNKNOWN } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { maximaOf, worseOf } from './generator-maxima.js';

function intervalWith(readings: Partial<Record<GaugeName, number>>): Interval {
  const gauges = new Float64Array(GAUGE_NAMES.length);
  for (const name of GAUGE_NAMES) gauges[GAUGE[name]] = readings[name] ?? 0;
  return {
    runId: 'r1',
    shardIndex: 0,
    attempt: 1,
    number: 0,
    span: 1,
    isLast: false,
    counters: newCounters(),
    statusCounts: new Map(),
    histograms: [],
    gauges,
  };
}

const busy = {
  elapsedUs: 1_000_000,
  busyShare: 0.3,
  cpuUs: 200_000,
  runDelayUs: 500_000,
  stealShare: 0.1,
  gcPauseUs: 4_000,
  sendLagMaxUs: 12,
};

describe('maximaOf', () => {
  it('counts time without a CPU as demand', () => {
    expect(maximaOf(intervalWith(busy))).toEqual({
      demandShareMax: 0.7,
      runDelayShareMax: 0.5,
      stealShareMax: 0.1,
      gcPauseMaxUs: 4_000,
      sendLagMaxUs: 12,
    });
  });

  it('leaves out what the platform does not tell', () => {
    const silent = { ...busy, runDelayUs: UNKNOWN, stealShare: UNKNOWN, gcPauseUs: UNKNOWN };
    expect(maximaOf(intervalWith(silent))).toEqual({ demandShareMax: 0.3, sendLagMaxUs: 12 });
  });

  it('takes no shares of the rest of a second at the end', () => {
    const rest = { ...busy, elapsedUs: 199_999 };
    expect(maximaOf(intervalWith(rest))).toEqual({ gcPauseMaxUs: 4_000, sendLagMaxUs: 12 });
  });

  it('never says more than all of the time', () => {
    const late = { ...busy, runDelayUs: 3_000_000 };
    expect(maximaOf(intervalWith(late)).demandShareMax).toBe(1);
  });
});

describe('worseOf', () => {
  it('takes the worse reading of each kind, and the known one', () => {
    const one = { demandShareMax: 0.7, runDelayShareMax: 0.1, gcPauseMaxUs: 5 };
    const other = { demandShareMax: 0.2, runDelayShareMax: 0.4, stealShareMax: 0.3 };
    const worse = { demandShareMax: 0.7, runDelayShareMax: 0.4, stealShareMax: 0.3, gcPauseMaxUs: 5 };
    expect(worseOf(one, other)).toEqual(worse);
    expect(worseOf(other, one)).toEqual(worse);
    expect(worseOf({}, {})).toEqual({});
  });
});
