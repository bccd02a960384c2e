/**
 * The coordinator without what surrounds it: decisions and books, to be driven by a virtual clock, with a store and
 * a queue that a simulation can break (test/simulation). Not for use by other apps.
 */
export { AgentRegistry } from './agent/agent-registry.js';
export type { Clock, Timers } from './clock.js';
export { CoordinatorEvents } from './events.js';
export type { StoredFrame } from './interval/interval.repository.js';
export type {
  AssignedShard,
  NewRun,
  RunChange,
  ShardChange,
  StoredShard,
  UnfinishedRun,
} from './run/run.repository.js';
export { RunService } from './run/run.service.js';
export type { RunNotes } from './run/run-notes.js';
export type { RunServices } from './run/run-services.js';
export type {
  EnqueuedGroup,
  GroupName,
  PlacedShard,
  ShardEnding,
  ShardEndings,
} from './shard/shard-queue.js';
