import { describe, expect, it } from 'vitest';
import { FUZZ_SEED, Random } from '../testing/random.js';
import type { Schedule } from './schedule.js';
import { scheduleOf } from './schedule-of.js';

type Pacing = Parameters<typeof scheduleOf>[0];

const constant = { arrivals: 'constant', seed: 1 } as const;
const poisson = { arrivals: 'poisson', seed: 42 } as const;
const stages = [
  { durationMs: 10_000, rate: 500 },
  { durationMs: 1, rate: 20 },
  { durationMs: 20_000, rate: 20 },
  { durationMs: 5_000, rate: 0 },
  { durationMs: 7_000, rate: 90.5 },
];

const KINDS: readonly (readonly [string, Pacing, number])[] = [
  ['one in three seconds', { ...constant, rate: 1 / 3 }, 200],
  ['20000 a second', { ...constant, rate: 20_000 }, 50_000],
  ['a rate that no double holds', { ...constant, rate: 0.1 + 0.2 }, 500],
  ['random arrivals', { ...poisson, rate: 300 }, 20_000],
  ['stages from 0', { ...constant, rate: 0, stages }, 3_500],
  ['stages from a rate', { ...constant, rate: 33.3, stages }, 3_500],
  ['random arrivals through stages', { ...poisson, rate: 10, stages }, 3_000],
];

function timesOf(schedule: Schedule, first: number, stride: number, below: number): number[] {
  const times: number[] = [];
  for (let index = first; index < below; index += stride) times.push(schedule.plannedUs(index));
  return times.filter((timeUs) => timeUs < Number.POSITIVE_INFINITY);
}

describe.each(KINDS)(`a schedule of %s (FUZZ_SEED=${FUZZ_SEED})`, (_, pacing, count) => {
  const random = new Random(FUZZ_SEED);
  const whole = timesOf(scheduleOf(pacing), 0, 1, count);

  it('begins at 0 or later and rises strictly', () => {
    expect(whole[0]).toBeGreaterThanOrEqual(0);
    expect(whole.findIndex((timeUs, i) => i > 0 && !(timeUs > (whole[i - 1] ?? 0)))).toBe(-1);
  });

  it('is what the shards send together, for any number of them', () => {
    for (const shards of [1, 2, 8, 3 + random.int(0, 499)]) {
      const parts = Array.from({ length: shards }, (__, k) => timesOf(scheduleOf(pacing), k, shards, count));
      const union = parts.flat().sort((a, b) => a - b);
      expect(union).toEqual(whole);
    }
  });

  it('is a function of the number, in whatever order it is asked', () => {
    const schedule = scheduleOf(pacing);
    for (let i = 0; i < 200; i++) {
      const index = random.int(0, whole.length - 1);
      expect(schedule.plannedUs(index)).toBe(whole[index]);
    }
  });
});

describe('a constant rate', () => {
  it('does not add up errors: after a week the time is exact to a thousandth of a µs', () => {
    const schedule = scheduleOf({ ...constant, rate: 3 });
    const index = 3 * 7 * 24 * 3_600;
    expect(schedule.plannedUs(index)).toBe(7 * 24 * 3_600 * 1e6);
    expect(schedule.plannedUs(index + 1) - schedule.plannedUs(index)).toBeCloseTo(1e6 / 3, 3);
  });

  it('has 30 requests in the first 30 s at 1 per second', () => {
    const times = timesOf(scheduleOf({ ...constant, rate: 1 }), 0, 1, 100).filter((timeUs) => timeUs < 30e6);
    expect(times).toEqual(Array.from({ length: 30 }, (_, i) => i * 1e6));
  });
});

describe('stages', () => {
  it('send the integral of the rate, in total and up to any time', () => {
    const ramp = [
      { durationMs: 30_000, rate: 1_000 },
      { durationMs: 10_000, rate: 1_000 },
      { durationMs: 10_000, rate: 0 },
    ];
    const times = timesOf(scheduleOf({ ...constant, rate: 0, stages: ramp }), 0, 1, 100_000);
    expect(times.length).toBe(15_000 + 10_000 + 5_000);
    const upTo = (seconds: number): number => times.filter((timeUs) => timeUs < seconds * 1e6).length;
    for (const [seconds, expected] of [
      [3, 150],
      [15, 3_750],
      [30, 15_000],
      [35, 20_000],
      [45, 25_000 + 3_750],
    ] as const) {
      expect(Math.abs(upTo(seconds) - expected)).toBeLessThanOrEqual(1);
    }
    expect(times.at(-1)).toBeLessThan(50e6);
  });

  it('turn the integral around exactly: half a stage of a rising rate holds a quarter of its requests', () => {
    const schedule = scheduleOf({ ...constant, rate: 0, stages: [{ durationMs: 100_000, rate: 80 }] });
    expect(schedule.plannedUs(1_000)).toBeCloseTo(50e6, 3);
    expect(schedule.plannedUs(4_000)).toBe(Number.POSITIVE_INFINITY);
  });

  it('survive a pause: nothing is due while the rate is 0', () => {
    const pause = [
      { durationMs: 1_000, rate: 10 },
      { durationMs: 1, rate: 0 },
      { durationMs: 60_000, rate: 0 },
      { durationMs: 1, rate: 10 },
      { durationMs: 1_000, rate: 10 },
    ];
    const times = timesOf(scheduleOf({ ...constant, rate: 10, stages: pause }), 0, 1, 100);
    expect(times.length).toBe(21);
    expect(times.filter((timeUs) => timeUs > 1.01e6 && timeUs < 61e6)).toEqual([]);
  });
});

describe('random arrivals', () => {
  const times = timesOf(scheduleOf({ ...poisson, rate: 1_000 }), 0, 1, 100_000);
  const gaps = times.map((timeUs, i) => timeUs - (times[i - 1] ?? 0));

  it('come at the rate on average, with gaps as long as their mean and as varied', () => {
    const mean = gaps.reduce((a, b) => a + b, 0) / gaps.length;
    const deviation = Math.sqrt(gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length);
    // Four standard errors of 100 000 exponential gaps.
    expect(Math.abs(mean / 1_000 - 1)).toBeLessThan(0.013);
    expect(Math.abs(deviation / mean - 1)).toBeLessThan(0.02);
  });

  it('have the exponential distribution in every decile', () => {
    const counts = Array.from({ length: 10 }, () => 0);
    for (const gap of gaps) {
      const decile = Math.min(Math.floor((1 - Math.exp(-gap / 1_000)) * 10), 9);
      counts[decile] = (counts[decile] ?? 0) + 1;
    }
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(450);
  });

  it('differ with the seed and repeat with it', () => {
    const other = timesOf(scheduleOf({ ...poisson, seed: 43, rate: 1_000 }), 0, 1, 100);
    const again = timesOf(scheduleOf({ ...poisson, rate: 1_000 }), 0, 1, 100);
    expect(again).toEqual(times.slice(0, 100));
    expect(other.filter((timeUs, i) => timeUs === times[i])).toEqual([]);
  });
});
