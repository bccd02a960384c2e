import { hostname } from 'node:os';
import type { Shard, ShardConnection, ShardPacing } from '@broadside/shared';
import { describeMachine } from './describe-machine.js';
import { isOwnAddress } from './own-address.js';
import { type LoadShare, type PreflightFindings, preflight } from './preflight.js';

/** Most warnings of one shard, and their length, as `ready` carries them. */
const MAX_WARNINGS = 16;
const MAX_WARNING_LENGTH = 500;

/**
 * Checks this machine, as it is now, for a shard that comes to it.
 * @param waiting shards that are here too and whose load has not begun, so that nothing of them can be seen yet.
 * @param slots engine threads that are busy, or will be, this shard's included.
 */
export function checkShardFits(shard: Shard, waiting: readonly Shard[], slots: number): PreflightFindings {
  const { refusals, warnings, remarks } = preflight(describeMachine(), loadShareOf(shard, waiting, slots));
  return {
    refusals,
    warnings: warnings.slice(0, MAX_WARNINGS).map((warning) => warning.slice(0, MAX_WARNING_LENGTH)),
    remarks,
  };
}

/** The shards of a machine as one load. */
export function loadShareOf(shard: Shard, waiting: readonly Shard[], slots: number): LoadShare {
  const all = [shard, ...waiting];
  const sumOf = (value: (each: Shard) => number): number => all.reduce((sum, each) => sum + value(each), 0);
  const hasBudget = all.every((each) => each.requests !== undefined);
  return {
    connections: sumOf((each) => each.connections),
    keepAlive: shard.keepAlive,
    ...(hasBudget ? { requests: sumOf((each) => each.requests ?? 0) } : {}),
    durationMs: shard.durationMs,
    ...(shard.pacing === undefined ? {} : { rateHz: highestRateHz(shard.pacing, all.length) }),
    portSources: portSourcesOf(shard.connection),
    slots,
    sharesMachine:
      shard.connection?.unixSocket !== undefined ||
      isOwnHost((shard.connection?.proxy ?? shard.connection?.connectTo ?? shard.target).host),
  };
}

/** What the shards of this machine send in a second at most; a run's shards have equal parts of its schedule. */
function highestRateHz({ rate, stages, stride }: ShardPacing, shards: number): number {
  const highest = Math.max(rate, ...(stages ?? []).map((stage) => stage.rate));
  return (highest * shards) / stride;
}

function portSourcesOf(connection: ShardConnection | undefined): number {
  if (connection?.unixSocket !== undefined || connection?.addresses === 'spread') return 0;
  return connection?.bind?.length ?? 1;
}

/** Before the name is resolved: an own address as it stands, or a name that is surely this machine's. */
function isOwnHost(host: string): boolean {
  return host === 'localhost' || host === hostname() || isOwnAddress(host);
}
