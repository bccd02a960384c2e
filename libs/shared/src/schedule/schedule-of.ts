import type { ShardPacing } from '../plan/shard.schema.js';
import { ConstantRate } from './constant-rate.js';
import { PoissonArrivals } from './poisson-arrivals.js';
import type { Schedule } from './schedule.js';
import { StagedRate } from './staged-rate.js';

/** The schedule that a shard's pacing describes: evenly spaced or random arrivals, at a fixed or staged rate. */
export function scheduleOf(pacing: Pick<ShardPacing, 'arrivals' | 'seed' | 'rate' | 'stages'>): Schedule {
  const { arrivals, seed, rate, stages } = pacing;
  const curve = stages === undefined ? new ConstantRate(rate) : new StagedRate(rate, stages);
  if (arrivals === 'poisson') return new PoissonArrivals(curve, seed);
  return { plannedUs: (index) => curve.timeOfUs(index) };
}
