import {
  type Fatal,
  type Shard,
  type ShardAttempt,
  type ShardResult,
  type ShardTotals,
  shardAttemptKey,
} from '@broadside/shared';
import { IntervalCoverage } from '../interval/interval-coverage.js';
import type { ShardChange } from './run.repository.js';

/** What the coordinator knows of one attempt at a shard. */
export class ShardProgress {
  readonly shard: Shard;
  readonly key: string;
  readonly agentId: string;
  readonly agentName: string;
  /** What is committed in the store; the agent may forget these intervals. */
  readonly stored = new IntervalCoverage();
  /** Its agent has said that a slot holds it. */
  isReady = false;
  /** Nothing that still comes of it counts. */
  isFenced = false;
  /** It was taken back before any slot held it, or its agent could not prepare it. */
  didNothing = false;
  result: ShardResult | undefined;
  totals: ShardTotals | undefined;
  /** The totals as they came. */
  totalsFrame: Uint8Array | undefined;
  fatal: Fatal | undefined;
  /** Why there is no result. */
  failure: string | undefined;

  constructor(shard: Shard, agentId: string, agentName: string) {
    this.shard = shard;
    this.key = shardAttemptKey(shard);
    this.agentId = agentId;
    this.agentName = agentName;
  }

  get attempt(): ShardAttempt {
    const { runId, shardIndex, attempt } = this.shard;
    return { runId, shardIndex, attempt };
  }

  /** Its result is here, or will never be. */
  get hasEnded(): boolean {
    return this.isFenced || this.didNothing || this.result !== undefined || this.failure !== undefined;
  }

  /** What is stored of it. */
  get change(): ShardChange {
    const state = this.isFenced ? 'fenced' : this.result === undefined ? 'failed' : 'finished';
    return { state, totals: this.totalsFrame, fatal: this.fatal };
  }

  /** How reports call it. */
  get name(): string {
    return `shard ${this.shard.shardIndex} (attempt ${this.shard.attempt}, agent ${this.agentName})`;
  }
}

/** Shards that one sentence names. */
const MAX_NAMED_SHARDS = 3;

/** The first few by name, and how many more there are. */
export function namesOf(shards: readonly ShardProgress[]): string {
  const names = shards.slice(0, MAX_NAMED_SHARDS).map((progress) => progress.name);
  const more = shards.length - names.length;
  return names.join(', ') + (more > 0 ? ` and ${more} more` : '');
}
