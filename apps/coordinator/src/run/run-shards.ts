import { type ShardAttempt, shardAttemptKey } from '@broadside/shared';
import type { ShardProgress } from './shard-progress.js';

/**
 * Whether all attempts are done with something. Asked with every frame of thousands of shards, so it goes on where it
 * stopped before.
 */
export class DoneWith {
  readonly #isDone: (progress: ShardProgress) => boolean;
  /** How many of the first ones are known to be. */
  #count = 0;

  /** @param isDone once true of an attempt it must stay so. */
  constructor(isDone: (progress: ShardProgress) => boolean) {
    this.#isDone = isDone;
  }

  /** @param attempts the same as before, and new ones behind them. */
  areAll(attempts: readonly ShardProgress[]): boolean {
    for (; ; this.#count++) {
      const next = attempts[this.#count];
      if (next === undefined) return true;
      if (!this.#isDone(next)) return false;
    }
  }
}

/** All attempts at all shards of one run, in the order in which they were made. */
export class RunShards {
  readonly #all: ShardProgress[];
  readonly #byKey = new Map<string, ShardProgress>();
  /** The newest attempt at each shard. */
  readonly #latest = new Map<number, ShardProgress>();

  constructor(first: readonly ShardProgress[]) {
    this.#all = [];
    for (const progress of first) this.add(progress);
  }

  get all(): readonly ShardProgress[] {
    return this.#all;
  }

  /** How many shards the plan was cut into. */
  get count(): number {
    return this.#latest.size;
  }

  add(progress: ShardProgress): void {
    const { shardIndex, attempt } = progress.shard;
    this.#all.push(progress);
    this.#byKey.set(progress.key, progress);
    const latest = this.#latest.get(shardIndex);
    if (latest === undefined || latest.shard.attempt < attempt) this.#latest.set(shardIndex, progress);
  }

  /** The newest attempt at the shard. */
  latest(shardIndex: number): ShardProgress | undefined {
    return this.#latest.get(shardIndex);
  }

  /** The attempt, where it lives on this agent and is not fenced. */
  find(agentId: string, attempt: ShardAttempt): ShardProgress | undefined {
    const progress = this.#byKey.get(shardAttemptKey(attempt));
    return progress?.agentId === agentId && !progress.isFenced ? progress : undefined;
  }

  /** The attempt, where it lived on this agent and is fenced. */
  findFenced(agentId: string, attempt: ShardAttempt): ShardProgress | undefined {
    const progress = this.#byKey.get(shardAttemptKey(attempt));
    return progress?.agentId === agentId && progress.isFenced ? progress : undefined;
  }

  /** Those that were handed to the queue together. */
  inGroup(group: number): ShardProgress[] {
    return this.#all.filter((progress) => progress.group === group);
  }

  /** Every attempt that is to be ready before the run can start. */
  get current(): ShardProgress[] {
    return [...this.#latest.values()];
  }
}
