import { interleavedShare, type Shard } from '@broadside/shared/engine';

type Stages = NonNullable<Shard['connectionStages']>;

/**
 * How many connections are kept busy while time goes on: linear from 0 through the stages of the run. Of all
 * shards together connection number i is busy while more than i are asked for; shard k of n owns every n-th.
 */
export class ConnectionStages {
  readonly #stages: Stages;
  readonly #shardIndex: number;
  readonly #shardCount: number;

  constructor(stages: Stages, shard: Pick<Shard, 'shardIndex' | 'shardCount'>) {
    this.#stages = stages;
    this.#shardIndex = shard.shardIndex;
    this.#shardCount = shard.shardCount;
  }

  /** Connections of this shard that are wanted so long after the start. */
  wantedAt(elapsedUs: number): number {
    return interleavedShare(Math.ceil(this.#allAt(elapsedUs)), this.#shardIndex, this.#shardCount);
  }

  #allAt(elapsedUs: number): number {
    let leftUs = elapsedUs;
    let from = 0;
    for (const { durationMs, connections } of this.#stages) {
      const lastsUs = durationMs * 1_000;
      if (leftUs < lastsUs) return from + (connections - from) * (Math.max(leftUs, 0) / lastsUs);
      leftUs -= lastsUs;
      from = connections;
    }
    return from;
  }
}
