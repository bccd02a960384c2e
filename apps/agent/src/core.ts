/**
 * The agent without threads, sockets and queue: what it does with its attempts, to be driven by a virtual clock
 * (test/simulation). Not for use by other apps.
 */
export { ATTEMPT_TIMEOUTS, ShardAttempts } from './shard-attempts.js';
export type { SlotEnd, SlotEvents, SlotRun } from './slot/slot.js';
export type { Timers } from './timers.js';
export { backoffMs } from './uplink/backoff.js';
export type { ShardOrder } from './uplink/uplink.js';
