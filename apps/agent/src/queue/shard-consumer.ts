import {
  type Fatal,
  PROTOCOL_VERSION,
  type Shard,
  type ShardAttempt,
  type ShardResult,
  shardAttemptSchema,
  shardQueueOf,
  shardSchema,
} from '@broadside/shared';
import type { ShardQueueConsumer, ShardQueueWiring } from './shard-queue-wiring.js';

export interface ShardConsumerOptions {
  readonly wiring: ShardQueueWiring;
  readonly agentId: string;
  readonly slots: number;
  /** Carries a shard out; its result becomes the job's result, its rejection the job's failure. */
  readonly onShard: (shard: Shard) => Promise<ShardResult>;
  /** The job holds no valid shard, but says which attempt it should have been. */
  readonly onInvalid: (attempt: ShardAttempt, fatal: Fatal) => void;
}

/** Takes shards from the agent's own queue, as many at a time as there are slots. */
export function createShardConsumer(options: ShardConsumerOptions): ShardQueueConsumer {
  const { wiring, agentId, slots } = options;
  return wiring.createConsumer<unknown, ShardResult>(
    shardQueueOf(agentId),
    async ({ data }) => {
      const shard = shardSchema.safeParse(data);
      if (shard.success) return options.onShard(shard.data);
      const reason = invalidReason(data, shard.error.issues);
      const attempt = shardAttemptSchema.safeParse(data);
      if (attempt.success) options.onInvalid(attempt.data, { code: 'INVALID_SHARD', message: reason });
      throw new Error(reason);
    },
    { concurrency: slots },
  );
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

function invalidReason(data: unknown, issues: readonly Issue[]): string {
  const protocol =
    typeof data === 'object' && data !== null && 'protocol' in data ? data.protocol : undefined;
  if (typeof protocol === 'number' && protocol !== PROTOCOL_VERSION) {
    return `the shard is written in protocol ${protocol}, this agent speaks ${PROTOCOL_VERSION}: update the older side`;
  }
  const [first] = issues;
  const where = first === undefined || first.path.length === 0 ? 'shard' : first.path.map(String).join('.');
  return `the job is not a valid shard (${where}: ${first?.message ?? 'invalid'})`.slice(0, 1_000);
}
