import { type Fatal, type Shard, type ShardAttempt, type ShardResult, shardQueueOf } from '@broadside/shared';
import type { ShardOrders } from './shard-orders.js';
import type { ShardQueueConsumer, ShardQueueWiring } from './shard-queue-wiring.js';

export interface ShardConsumerOptions {
  readonly wiring: ShardQueueWiring;
  readonly agentId: string;
  /** Shards at a time: slots and extra slots. */
  readonly concurrency: number;
  readonly orders: ShardOrders;
  /** Carries a shard out; its result becomes the job's result, its rejection the job's failure. */
  readonly onShard: (shard: Shard) => Promise<ShardResult>;
  /** The coordinator's job holds no valid shard, but says which attempt it should have been. */
  readonly onInvalid: (attempt: ShardAttempt, fatal: Fatal) => void;
  /** The job is not the coordinator's. Of the attempt that it may name nothing is known. */
  readonly onForged: (reason: string) => void;
}

/** Takes shards from the agent's own queue, as many at a time as it has room for. */
export function createShardConsumer(options: ShardConsumerOptions): ShardQueueConsumer {
  const { wiring, agentId, concurrency, orders } = options;
  return wiring.createConsumer<unknown, ShardResult>(
    shardQueueOf(agentId),
    async ({ data }) => {
      const job = orders.open(data);
      switch (job.kind) {
        case 'shard':
          return options.onShard(job.shard);
        case 'invalid':
          if (job.attempt !== undefined) {
            options.onInvalid(job.attempt, { code: 'INVALID_SHARD', message: job.reason });
          }
          throw new Error(job.reason);
        case 'forged':
          options.onForged(job.reason);
          throw new Error(`refused: ${job.reason}`);
      }
    },
    { concurrency },
  );
}
