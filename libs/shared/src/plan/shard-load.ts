import type { Deal } from './deal.js';
import { dealtShare, splitWithOneEach } from './deal.js';
import { interleavedShare } from './interleaved-share.js';
import { isPaced, stagedConnections } from './load-fields.js';
import type { Plan } from './plan.schema.js';
import type { Shard, ShardPacing } from './shard.schema.js';

/** Seed of random arrivals where the plan has none: runs of one plan are alike unless somebody wants otherwise. */
const DEFAULT_SEED = 1;

/** The schedule of a shard; undefined in the closed model. Of equal shards k owns the numbers k, k + n, k + 2n … */
function shardPacingOf(plan: Plan, index: number, deal: Deal): ShardPacing | undefined {
  if (!isPaced(plan)) return undefined;
  const lanes = deal.lanes[index] ?? [];
  const stages = plan.stages?.map(({ durationMs, rate = 0 }) => ({ durationMs, rate }));
  return {
    arrivals: plan.arrivals ?? 'constant',
    seed: plan.seed ?? DEFAULT_SEED,
    rate: plan.rate ?? 0,
    ...(stages === undefined ? {} : { stages }),
    firstIndex: lanes[0] ?? 0,
    stride: deal.round,
    ...(lanes.length === 1 ? {} : { lanes: [...lanes] }),
  };
}

/** What a shard carries of the load beside its shares of connections and requests. */
export function shardLoadOf(
  plan: Plan,
  index: number,
  deal: Deal,
): Pick<Shard, 'pacing' | 'connectionStages' | 'warmupMs' | 'pipeline' | 'retryIdempotent'> {
  const pacing = shardPacingOf(plan, index, deal);
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

/** Shares of a schedule: its requests as they are dealt out, and connections by weight. */
export function pacedShares(plan: Plan, weights: readonly number[], { lanes, round }: Deal): Shares {
  const { connections, requests } = plan;
  return {
    connections: splitWithOneEach(connections, weights),
    requests: requests === undefined ? undefined : lanes.map((own) => dealtShare(requests, own, round)),
  };
}

/**
 * Shares of stages in connections: every shard owns each n-th connection, whatever its weight, because the stages
 * open them one after the other.
 */
export function stagedShares(plan: Plan, count: number): Shares {
  const shares = (total: number): number[] =>
    Array.from({ length: count }, (_, index) => interleavedShare(total, index, count));
  return {
    connections: shares(plan.connections),
    requests: plan.requests === undefined ? undefined : shares(plan.requests),
  };
}
