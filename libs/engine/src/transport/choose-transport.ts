import { EpollTransport } from './epoll/epoll-transport.js';
import { probeEpoll } from './epoll/probe-epoll.js';
import { IoUringTransport } from './io-uring/io-uring-transport.js';
import { probeIoUring } from './io-uring/probe-io-uring.js';
import type { OpenTransportOptions, TransportFeature } from './open-transport.js';
import { orSocket } from './or-socket.js';
import { SocketTransport } from './socket-transport.js';
import type { Transport, TransportName } from './transport.js';
import type { TransportWish } from './transport-wish.js';

/** What each can do besides plain TCP to one address; for the rest `socket` stands in, which can do everything. */
const EPOLL_FEATURES: ReadonlySet<TransportFeature> = new Set();
const IO_URING_FEATURES: ReadonlySet<TransportFeature> = new Set();

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
  let note = '';
  if (wish !== 'epoll') {
    const ioUring = await probeIoUring();
    if (ioUring.ok) {
      const { libc } = ioUring;
      const open = (options: OpenTransportOptions) => new IoUringTransport({ ...options, libc });
      return { name: 'io_uring', open: orSocket('io_uring', IO_URING_FEATURES, open) };
    }
    note = `io_uring is not used: ${ioUring.reason}`;
  }
  const epoll = await probeEpoll();
  if (!epoll.ok) return socketChoice(`epoll is not used: ${epoll.reason}`);
  const { libc } = epoll;
  return {
    name: 'epoll',
    ...(note === '' ? {} : { note }),
    open: orSocket('epoll', EPOLL_FEATURES, (options) => new EpollTransport({ ...options, libc })),
  };
}

function socketChoice(note?: string): TransportChoice {
  return {
    name: 'socket',
    ...(note === undefined ? {} : { note }),
    open: (options) => new SocketTransport(options),
  };
}
