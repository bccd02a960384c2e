// What agents say that they did in all, as they left it in Redis: read past the coordinator.

import {
  decodeTotals,
  type Report,
  type ShardTotals,
  shardAttemptKey,
  shardQueueOf,
  shardResultSchema,
} from '@broadside/shared';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { queuePrefixIn } from '../support/queue-prefix.js';

/** One entry for each attempt of the run that ended with a result. */
export async function ownTotals(redisUrl: string, report: Report): Promise<ShardTotals[]> {
  const connection = new Redis(redisUrl, { maxRetriesPerRequest: null });
  try {
    const prefix = await queuePrefixIn(connection);
    const totals = await Promise.all(
      report.shards.map(async ({ shardIndex, attempt, agentId }) => {
        const queue = new Queue(shardQueueOf(agentId), { connection, prefix });
        const job = await queue.getJob(shardAttemptKey({ runId: report.run.id, shardIndex, attempt }));
        const result = shardResultSchema.safeParse(job?.returnvalue);
        return result.success ? [decodeTotals(Buffer.from(result.data.totals, 'base64'))] : [];
      }),
    );
    return totals.flat();
  } finally {
    connection.disconnect();
  }
}
