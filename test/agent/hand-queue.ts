/** A queue in memory, of the shape that an agent is handed by an embedded coordinator: the test gives the jobs. */

import type { ShardQueueConsumer, ShardQueueWiring } from '@broadside/agent';
import { type ShardResult, shardResultSchema } from '@broadside/shared';

export class HandQueue implements ShardQueueWiring {
  name = '';
  isPaused = false;
  isClosed = false;
  #give: ((data: unknown) => Promise<unknown>) | undefined;
  readonly #active = new Set<Promise<unknown>>();
  #sign: (shard: unknown) => unknown = (shard) => shard;

  /** From now on shards are signed so. */
  signWith(sign: (shard: unknown) => unknown): void {
    this.#sign = sign;
  }

  createConsumer<D, R>(
    name: string,
    processor: (carrier: { readonly data: D }) => Promise<R>,
  ): ShardQueueConsumer {
    this.name = name;
    // Whatever a queue holds, it comes to the agent as its data: that is what the agent must check.
    this.#give = (data) => processor({ data: data as D });
    return {
      pause: () => {
        this.isPaused = true;
        return Promise.resolve();
      },
      close: async () => {
        this.isClosed = true;
        await Promise.allSettled(this.#active);
      },
      waitUntilReady: () => Promise.resolve(),
    };
  }

  /** Gives a shard to the agent, signed by its coordinator; the result is checked as that would. */
  give(shard: unknown): Promise<ShardResult> {
    return this.giveJob(this.#sign(shard));
  }

  /** Gives a job as it stands. */
  async giveJob(data: unknown): Promise<ShardResult> {
    if (this.#give === undefined) throw new Error('the agent has no consumer yet');
    const active = this.#give(data);
    this.#active.add(active);
    try {
      return shardResultSchema.parse(await active);
    } finally {
      this.#active.delete(active);
    }
  }
}
