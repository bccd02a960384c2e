/** The public door of apps/agent. */
export { type Agent, type AgentEnd, startAgent } from './agent.js';
export type { AgentOptions } from './agent-options.js';
export type { ShardQueueConsumer, ShardQueueWiring } from './queue/shard-queue-wiring.js';
