/**
 * Number of the language spoken between agents and the coordinator: JSON messages, frames, shard jobs.
 * Agent and coordinator must speak the same one; the greeting compares them and says which side to update.
 */
export const PROTOCOL_VERSION = 1;
