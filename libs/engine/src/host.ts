/**
 * The second door of libs/engine, for the thread that starts engine threads and gives them orders: it loads no
 * transport and no native library, which only the engine threads need.
 */
export { type Clock, monotonicClock } from './clock.js';
export { ShardControl } from './shard-control.js';
export { TRANSPORT_WISHES, type TransportWish } from './transport/transport-wish.js';
