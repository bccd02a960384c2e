import { COUNTER, type Shard } from '@broadside/shared';
import { describe, expect, it } from 'vitest';
import { reply } from '../testing/raw-target.js';
import { shardFor } from '../testing/run-shard-against.js';
import { simulate } from '../testing/simulate.js';
import { type NetworkScript, START_US } from '../testing/simulated-network.js';

function paced(rate: number, more: Partial<Shard> = {}): Shard {
  const pacing = { arrivals: 'constant', seed: 1, rate, firstIndex: 0, stride: 1 } as const;
  return shardFor(1, { connections: 10, durationMs: 10_000, pacing, ...more });
}

describe('a rest that is taken up in the middle of its time', () => {
  const script = (sendsUs: number[]): NetworkScript => ({
    onOpen: () => ({ afterUs: 0 }),
    onSend: (_, nowUs) => {
      sendsUs.push(nowUs - START_US);
      return [{ afterUs: 100, bytes: reply(10) }];
    },
  });
  const plannedIn = (run: { intervals: readonly { counters: Float64Array }[] }): (number | undefined)[] =>
    run.intervals.map(({ counters }) => counters[COUNTER.planned]);

  it('sends nothing that was due before, and the rest at its planned times', async () => {
    const sendsUs: number[] = [];
    // Ordered 2.4 s after its start instant, to begin 2.55 s after it.
    const late = { sinceUs: 2_400_000, fromUs: 2_550_000 };
    const run = await simulate(paced(10, { durationMs: 4_000 }), script(sendsUs), { late });
    expect(sendsUs).toEqual(Array.from({ length: 14 }, (_, i) => 200_000 + i * 100_000));
    expect(plannedIn(run)).toEqual([0, 0, 4, 10, 0]);
    expect(run.end.startSkewUs).toBe(0);
    expect(run.histogram('sendLag').maxUs).toBe(0);
  });

  it('sends what was due since then when it hears of it later', async () => {
    const sendsUs: number[] = [];
    const late = { sinceUs: 2_400_000, fromUs: 1_900_000 };
    const run = await simulate(paced(10, { durationMs: 4_000 }), script(sendsUs), { late });
    expect(sendsUs.filter((us) => us === 0)).toHaveLength(6);
    expect([run.count('planned'), run.count('sent'), run.end.startSkewUs]).toEqual([21, 21, 500_000]);
  });

  it('sends all of a budget', async () => {
    const { durationMs: _, ...endless } = paced(10, { requests: 30 });
    const late = { sinceUs: 500_000, fromUs: 700_000 };
    const run = await simulate(endless, script([]), { late });
    expect([run.count('planned'), run.count('completed')]).toEqual([30, 30]);
    expect(plannedIn(run)).toEqual([3, 10, 10, 7]);
  });

  it('goes through what is left of a warm-up first, or of the time behind it', async () => {
    const shard = paced(10, { durationMs: 2_000, warmupMs: 2_000 });
    const during = await simulate(shard, script([]), { late: { sinceUs: 1_400_000, fromUs: 1_450_000 } });
    expect(during.intervals.map(({ isWarmup = false }) => isWarmup)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
    expect([plannedIn(during).slice(0, 2), during.count('planned')]).toEqual([[0, 5], 20]);
    const behind = await simulate(shard, script([]), { late: { sinceUs: 2_400_000, fromUs: 2_450_000 } });
    expect([plannedIn(behind).slice(0, 3), behind.count('planned')]).toEqual([[0, 0, 5], 15]);
  });

  it('passes over random arrivals too', async () => {
    const pacing = { arrivals: 'poisson', seed: 7, rate: 50, firstIndex: 1, stride: 3 } as const;
    const shard = paced(50, { durationMs: 4_000, pacing });
    const [whole, rest]: [number[], number[]] = [[], []];
    await simulate(shard, script(whole));
    await simulate(shard, script(rest), { late: { sinceUs: 1_000_000, fromUs: 1_500_000 } });
    expect(rest.map((us) => us + 1_000_000)).toEqual(whole.filter((us) => us >= 1_500_000));
  });
});
