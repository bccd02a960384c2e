import { LIMITS } from '@broadside/shared';
import type { IntervalOutbox } from './interval-outbox.js';

/**
 * Keeps all outboxes of an agent within a number of bytes while nobody takes what is in them: the largest merges its
 * neighbours first. What is under way cannot be merged and may go beyond that: a few frames of each shard.
 */
export function shrinkOutboxes(
  outboxes: readonly IntervalOutbox[],
  maxBytes: number = LIMITS.maxOutboxBytes,
): void {
  let tooMany = outboxes.reduce((sum, outbox) => sum + outbox.sizeBytes, -maxBytes);
  if (tooMany <= 0) return;
  // While all are too large together, one of them has more than its share.
  const share = maxBytes / outboxes.length;
  for (const outbox of outboxes.toSorted((a, b) => b.sizeBytes - a.sizeBytes)) {
    while (tooMany > 0 && outbox.sizeBytes > share) {
      const before = outbox.sizeBytes;
      if (!outbox.merge()) break;
      tooMany -= before - outbox.sizeBytes;
    }
  }
}
