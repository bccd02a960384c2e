import {
  type Fatal,
  type Shard,
  type ShardAttempt,
  type ShardResult,
  type ShardTotals,
  shardAttemptKey,
} from '@broadside/shared';
import { IntervalCoverage } from '../interval/interval-coverage.js';

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
  /** It was taken back before any slot held it: it did nothing. */
  isWithdrawn = false;
  result: ShardResult | undefined;
  totals: ShardTotals | undefined;
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
    return this.isFenced || this.isWithdrawn || this.result !== undefined || this.failure !== undefined;
  }

  /** How reports call it. */
  get name(): string {
    return `shard ${this.shard.shardIndex} (attempt ${this.shard.attempt}, agent ${this.agentName})`;
  }
}
