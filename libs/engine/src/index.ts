/** The public door of libs/engine: run one shard in this thread, and what that needs. */
export { type Clock, monotonicClock } from './clock.js';
export {
  runShard,
  type ShardEnd,
  type ShardRun,
  type ShardRunOptions,
  type ShardSink,
} from './engine.js';
export { type Lookup, type ResolvedAddress, systemLookup } from './resolve-target.js';
export { ShardControl } from './shard-control.js';
export { chooseTransport, type TransportChoice } from './transport/choose-transport.js';
export type { OpenTransportOptions } from './transport/open-transport.js';
export type { Transport, TransportHandler, TransportName } from './transport/transport.js';
export { TRANSPORT_WISHES, type TransportWish } from './transport/transport-wish.js';
