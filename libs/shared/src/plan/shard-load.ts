import { interleavedShare } from './interleaved-share.js';
import { isPaced, stagedConnections } from './load-fields.js';
import type { Plan } from './plan.schema.js';
import type { Shard, ShardPacing } from './shard.schema.js';

/** Seed of random arrivals where the plan has none: runs of one plan are alike unless somebody wants otherwise. */
const DEFAULT_SEED = 1;

/** The schedule of a shard; undefined in the closed model. Shard k of n owns the numbers k, k + n, k + 2n … */
export function shardPacingOf(plan: Plan, index: number, count: number): ShardPacing | undefined {
  if (!isPaced(plan)) return undefined;
  const stages = plan.stages?.map(({ durationMs, rate = 0 }) => ({ durationMs, rate }));
  return {
    arrivals: plan.arrivals ?? 'constant',
    seed: plan.seed ?? DEFAULT_SEED,
    rate: plan.rate ?? 0,
    ...(stages === undefined ? {} : { stages }),
    firstIndex: index,
    stride: count,
  };
}

/** What a shard carries of the load beside its shares of connections and requests. */
export function shardLoadOf(
  plan: Plan,
  index: number,
  count: number,
): Pick<Shard, 'pacing' | 'connectionStages' | 'warmupMs' | 'pipeline' | 'retryIdempotent'> {
  const pacing = shardPacingOf(plan, index, count);
  const isStaged = stagedConnections(plan.stages) !== undefined;
  const stages = plan.stages?.map(({ durationMs, connections = 0 }) => ({ durationMs, connections }));
  return {
    ...(pacing === undefined ? {} : { pacing }),
    ...(isStaged ? { connectionStages: stages } : {}),
    ...(plan.warmupMs === undefined ? {} : { warmupMs: plan.warmupMs }),
    ...(plan.pipeline === undefined ? {} : { pipeline: plan.pipeline }),
    ...(plan.retryIdempotent === undefined ? {} : { retryIdempotent: plan.retryIdempotent }),
  };
}

export interface Shares {
  readonly connections: readonly number[];
  /** Undefined where the plan has no budget of requests. */
  readonly requests: readonly number[] | undefined;
}

/** Shares where every shard owns each n-th connection, or each n-th request of the schedule. */
export function interleavedShares(plan: Plan, count: number): Shares {
  const shares = (total: number): number[] =>
    Array.from({ length: count }, (_, index) => interleavedShare(total, index, count));
  return {
    connections: shares(plan.connections),
    requests: plan.requests === undefined ? undefined : shares(plan.requests),
  };
}
