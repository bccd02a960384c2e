import { describe, expect, it } from 'vitest';
import { parsePlan } from '../plan/parse-plan.js';
import { restOfShard } from '../plan/rest-of-shard.js';
import type { Shard } from '../plan/shard.schema.js';
import { splitPlan } from '../plan/split-plan.js';
import { FUZZ_SEED, Random } from '../testing/random.js';
import { missedRequests } from './due-requests.js';
import { scheduleOf } from './schedule-of.js';

const STAGES = [
  { duration: '3s', rate: 70 },
  { duration: '1s', rate: 0 },
  { duration: '2s', rate: 0 },
  { duration: '4s', rate: 33.5 },
];
const DRAWS = 100_000;

/** Each with what its load is bound by. */
const LOADS: Readonly<Record<string, Record<string, unknown>>> = {
  'a constant rate': { rate: 61, duration: '10s' },
  'a fraction of a rate': { rate: 7.3, duration: '10s' },
  'a constant rate after a warm-up': { rate: 61, duration: '10s', warmup: '2s' },
  'a constant rate with a probe': { rate: 61, duration: '10s', probe: true },
  stages: { stages: STAGES },
  'stages from a rate, after a warm-up': { stages: STAGES, rate: 20, warmup: '1s' },
  'random arrivals': { rate: 61, duration: '10s', arrivals: 'poisson', seed: 9 },
  'random arrivals through stages': { stages: STAGES, arrivals: 'poisson' },
};

function shardsOf(given: Record<string, unknown>, weights?: readonly number[]): Shard[] {
  const parsed = parsePlan({ target: 'http://127.0.0.1:9/', connections: 8, ...given });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return splitPlan(parsed.plan, 'r', weights ?? 3);
}

/** What an engine plans of a shard without its warm-up until some ms of its time, counted one by one. */
function plannedBy(shard: Shard, untilMs: number, fromMs = 0): number {
  const { pacing, warmupMs = 0, durationMs = 0, requests = Number.POSITIVE_INFINITY } = shard;
  const endUs = Math.min(untilMs - warmupMs, durationMs) * 1_000;
  const beginUs = (fromMs - warmupMs) * 1_000;
  if (pacing === undefined || endUs <= 0) return 0;
  const schedule = scheduleOf(pacing);
  const lanes = pacing.lanes ?? [pacing.firstIndex];
  let due = shard.probe && warmupMs === 0 ? 1 : 0;
  for (let index = 0; schedule.plannedUs(index) < endUs; index++) {
    if (lanes.includes(index % pacing.stride) && schedule.plannedUs(index) >= beginUs) due++;
  }
  return Math.min(due, requests);
}

const WHOLE_MS = Number.POSITIVE_INFINITY;

describe.each(Object.entries(LOADS))(`what a loss leaves of %s (FUZZ_SEED=${FUZZ_SEED})`, (name, load) => {
  const random = new Random(FUZZ_SEED);
  const lossInstants = Array.from({ length: 30 }, () => {
    const weights = Array.from({ length: random.int(1, 4) }, () => random.int(1, 12));
    const shards = shardsOf(load, weights);
    const shard = random.pick(shards);
    return { shard, coveredMs: random.int(0, 12) * 1_000 };
  });

  it('makes planned what an undisturbed run had planned, where nobody takes it', () => {
    for (const { shard, coveredMs } of lossInstants) {
      const planned = plannedBy(shard, coveredMs);
      const lost = { shard, beginsMs: 0 };
      const missed = missedRequests({ lost, planned, untilMs: WHOLE_MS, mostDraws: DRAWS });
      expect(planned + (missed ?? Number.NaN)).toBe(plannedBy(shard, WHOLE_MS));
    }
  });

  it('does so with the attempts that took it over, one after the other', () => {
    for (const { shard, coveredMs } of lossInstants) {
      let [current, beginsMs, fromMs, sum, unbegun] = [shard, 0, 0, 0, 0];
      for (let attempt = 2; attempt <= 4; attempt++) {
        const planned = plannedBy(current, coveredMs, fromMs);
        const lost = { shard: current, beginsMs, fromMs: beginsMs + fromMs };
        // A second at least, so that what is missed is more than what the rounding of a schedule moves.
        const atMs = coveredMs + random.int(1, 3) * 1_000;
        const taken = attempt === 4 ? undefined : restOfShard(current, { attempt, atMs });
        // Whoever takes it over has a slot ready some while into its time, and begins no sooner than the lost one.
        const readyMs = random.isTrue(0.5) ? random.int(1, 2_500) : 0;
        const lateMs = Math.max(readyMs, fromMs - atMs);
        const rest =
          taken === undefined
            ? undefined
            : { shard: taken, beginsMs: beginsMs + atMs, fromMs: beginsMs + atMs + lateMs };
        const missed = missedRequests({ lost, planned, rest, untilMs: WHOLE_MS, mostDraws: DRAWS });
        sum += planned + (missed ?? Number.NaN);
        if (coveredMs < fromMs) unbegun++;
        if (taken === undefined) break;
        [current, beginsMs, fromMs] = [taken, beginsMs + atMs, lateMs];
      }
      const undisturbed = plannedBy(shard, WHOLE_MS);
      // The arrivals of a rest are drawn anew.
      if (name.startsWith('random')) expect(Math.abs(sum - undisturbed)).toBeLessThan(150);
      // Of a pause, or an attempt that was lost before its load began, nothing can be missed, so each rest may have
      // one more by the rounding of its schedule.
      else {
        expect(Math.abs(sum - undisturbed)).toBeLessThanOrEqual(/stages|fraction/.test(name) ? 3 : unbegun);
      }
    }
  });

  it('has nothing that was not due when the run ended before its time', () => {
    for (const { shard, coveredMs } of lossInstants) {
      const untilMs = coveredMs + 700;
      const planned = plannedBy(shard, coveredMs);
      const missed = missedRequests({ lost: { shard, beginsMs: 0 }, planned, untilMs, mostDraws: DRAWS });
      expect(planned + (missed ?? Number.NaN)).toBe(plannedBy(shard, untilMs));
    }
  });
});

describe('what a loss leaves', () => {
  it('is no more than the budget had', () => {
    const [shard] = shardsOf({ rate: 60, duration: '10s', requests: 240 });
    if (shard === undefined) throw new Error('no shard');
    const left = { lost: { shard, beginsMs: 0 }, planned: 20, untilMs: WHOLE_MS, mostDraws: DRAWS };
    expect(missedRequests(left)).toBe(60);
    expect(missedRequests({ ...left, rest: { shard, beginsMs: 2_000 } })).toBeUndefined();
  });

  it('is not known of a closed load, or of one that only its requests end', () => {
    for (const load of [{ duration: '9s' }, { requests: 90, rate: 10 }]) {
      const [shard] = shardsOf(load);
      if (shard === undefined) throw new Error('no shard');
      const lost = { shard, beginsMs: 0 };
      expect(missedRequests({ lost, planned: 3, untilMs: WHOLE_MS, mostDraws: DRAWS })).toBeUndefined();
    }
  });

  it('is what the rate has on average where too many arrivals would have to be drawn', () => {
    const [shard] = shardsOf({ rate: 3_000, duration: '10s', arrivals: 'poisson' });
    if (shard === undefined) throw new Error('no shard');
    const lost = { shard, beginsMs: 0 };
    const of = (mostDraws: number): number =>
      missedRequests({ lost, planned: 0, untilMs: WHOLE_MS, mostDraws }) ?? 0;
    expect(of(0)).toBe(10_000);
    // Six deviations of what is left to chance.
    expect(Math.abs(of(15_000) - of(DRAWS))).toBeLessThan(6 * Math.sqrt(15_000));
  });

  it('is found at once for the longest run at the highest rate', () => {
    const [shard] = shardsOf({ rate: 1e8, duration: '604800s' });
    if (shard === undefined) throw new Error('no shard');
    const lost = { shard, beginsMs: 0 };
    const whole = 1e8 * 7 * 24 * 3_600;
    expect(missedRequests({ lost, planned: 0, untilMs: WHOLE_MS, mostDraws: 0 })).toBe(whole / 3);
  });
});
