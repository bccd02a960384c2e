/** The public door of the coordinator. */
export { type ConfigInput, isLoopback } from './config/config.schema.js';
export type { ConsumerOptions, ShardQueueWiring } from './queue/bull-wiring.js';
export { type Coordinator, type CoordinatorOptions, startCoordinator } from './start-coordinator.js';
