/**
 * Number of the language spoken between agents and the coordinator: JSON messages, frames, shard jobs.
 * Agent and coordinator must speak the same one; the greeting compares them and says which side to update.
 */
export const PROTOCOL_VERSION = 2;

/**
 * Oldest version of frames that can still be read: they may have been stored before an update, and have kept their
 * form, and the order of their lists but for counters that were added (`countersOfVersion`).
 */
export const OLDEST_READABLE_FRAME = 1;
