import { EpollTransport } from './epoll/epoll-transport.js';
import { probeEpoll } from './epoll/probe-epoll.js';
import type { OpenTransportOptions, TransportFeature } from './open-transport.js';
import { orSocket } from './or-socket.js';
import { SocketTransport } from './socket-transport.js';
import type { Transport, TransportName } from './transport.js';

/** What a user may ask for. `auto`: the fastest that works. */
export const TRANSPORT_WISHES = ['auto', 'io_uring', 'epoll', 'socket'] as const;
export type TransportWish = (typeof TRANSPORT_WISHES)[number];

/** What it can do besides plain TCP to one address; for the rest `socket` stands in, which can do everything. */
const EPOLL_FEATURES: ReadonlySet<TransportFeature> = new Set();

export interface TransportChoice {
  /** What plain TCP gets. */
  readonly name: TransportName;
  /** One line: why a faster one, or the one asked for, was not taken. */
  readonly note?: string;
  open(options: OpenTransportOptions): Transport;
}

/**
 * Picks the transport for plain TCP targets. Never fails: `socket` works wherever Node does. The others block
 * the thread they run in, so only a thread that has nothing else to do may use them.
 */
export async function chooseTransport(wish: TransportWish): Promise<TransportChoice> {
  if (wish === 'socket') return socketChoice();
  const epoll = await probeEpoll();
  if (!epoll.ok) return socketChoice(`epoll is not used: ${epoll.reason}`);
  const { libc } = epoll;
  const note =
    wish === 'io_uring' ? { note: 'io_uring is not used: this version has no such transport' } : {};
  const open = (options: OpenTransportOptions) => new EpollTransport({ ...options, libc });
  return { name: 'epoll', ...note, open: orSocket('epoll', EPOLL_FEATURES, open) };
}

function socketChoice(note?: string): TransportChoice {
  return {
    name: 'socket',
    ...(note === undefined ? {} : { note }),
    open: (options) => new SocketTransport(options),
  };
}
