/**
 * The second door of libs/shared, for engine threads: what they compute with, and none of the schemas. Whoever
 * checks what arrives needs those; a thread that is given a checked shard would only spend a tenth of a second
 * of its start on loading them. Types of what the schemas check are here too: they cost nothing at run time.
 */
export { LIMITS } from './limits.js';
export * from './metrics/counters.js';
export * from './metrics/failure-class.js';
export type { Fatal } from './metrics/fatal.js';
export * from './metrics/histogram.js';
export * from './metrics/interval.js';
export { interleavedShare } from './plan/interleaved-share.js';
export type { Shard, ShardConnection, ShardPacing } from './plan/shard.schema.js';
export { peerNameOf } from './plan/shard-connection.js';
export * from './policy/target-policy.js';
export { RandomBits } from './schedule/random-bits.js';
export type { Schedule } from './schedule/schedule.js';
export { scheduleOf } from './schedule/schedule-of.js';
export type { ProbeResult } from './wire/agent-message.js';
export * from './wire/frame.js';
export type { ShardResult } from './wire/shard-job.js';
export type { FailureReason, TlsFacts } from './wire/tls-facts.js';
