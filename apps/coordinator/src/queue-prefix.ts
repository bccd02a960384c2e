/** Before every key in Redis; agents are told. */
export const QUEUE_PREFIX = 'broadside';
