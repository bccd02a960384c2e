/**
 * The agent in parts, for tests that put something else in the place of its engine: on a virtual clock
 * (test/simulation), or by thousands in one process (test/scale). Not for use by other apps.
 */
export { createShardConsumer } from './queue/shard-consumer.js';
export { ShardOrders } from './queue/shard-orders.js';
export type { ShardQueueConsumer, ShardQueueWiring } from './queue/shard-queue-wiring.js';
export { ATTEMPT_TIMEOUTS, ShardAttempts } from './shard-attempts.js';
export type { SlotEnd, SlotEvents, SlotRun } from './slot/slot.js';
export { systemTimers, type Timers } from './timers.js';
export { backoffMs } from './uplink/backoff.js';
export { LonelyLoad } from './uplink/lonely-load.js';
export { type ShardOrder, Uplink } from './uplink/uplink.js';
