/** The public door of apps/agent. */
export { type Agent, type AgentEnd, startAgent } from './agent.js';
export type { AgentOptions } from './agent-options.js';
export { capacityCacheFile } from './capacity/capacity-cache.js';
export { type Examination, examineMachine } from './machine/examine-machine.js';
export type { PreflightFindings } from './machine/preflight.js';
export type { ShardQueueConsumer, ShardQueueWiring } from './queue/shard-queue-wiring.js';
