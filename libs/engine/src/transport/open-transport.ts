import type { ShardConnection } from '@broadside/shared/engine';
import type { Clock } from '../clock.js';
import type { ResolvedAddress } from '../resolve-target.js';

/** What a transport needs to make its connections. Everything after `clock` is absent for plain TCP. */
export interface OpenTransportOptions {
  /** The first address to connect to; with `unixPath` it is not used. */
  readonly address: ResolvedAddress;
  readonly port: number;
  readonly connections: number;
  readonly clock: Clock;
  /** Several addresses to connect to in turn (`placeOf`), `address` the first of them. */
  readonly addresses?: readonly ResolvedAddress[] | undefined;
  /** Local addresses to bind connections to, in turn. Each has the family of some address to connect to. */
  readonly localAddresses?: readonly ResolvedAddress[] | undefined;
  /** Path of a unix socket to connect to instead. */
  readonly unixPath?: string | undefined;
  /** SO_SNDBUF and SO_RCVBUF. */
  readonly socketBufferBytes?: number | undefined;
  /** Head of a CONNECT request that is sent first; the connection is usable after its 2xx reply. */
  readonly tunnelRequest?: Uint8Array | undefined;
  readonly tls?: ShardConnection['tls'];
}

/** What not every transport can do. */
export const TRANSPORT_FEATURES = {
  tls: 'TLS',
  tunnel: 'a proxy tunnel',
  unix: 'unix sockets',
  addresses: 'several target addresses',
  bind: 'local addresses',
  buffers: 'socket buffer sizes',
} as const;
export type TransportFeature = keyof typeof TRANSPORT_FEATURES;

/** The features that these connections need. */
export function featuresNeeded(options: OpenTransportOptions): TransportFeature[] {
  const { addresses = [], localAddresses = [] } = options;
  const needed: readonly (readonly [boolean, TransportFeature])[] = [
    [options.tls !== undefined, 'tls'],
    [options.tunnelRequest !== undefined, 'tunnel'],
    [options.unixPath !== undefined, 'unix'],
    [addresses.length > 1, 'addresses'],
    [localAddresses.length > 0, 'bind'],
    [options.socketBufferBytes !== undefined, 'buffers'],
  ];
  return needed.filter(([isNeeded]) => isNeeded).map(([, feature]) => feature);
}

export interface Place {
  readonly address: ResolvedAddress;
  /** Local address of the same family; undefined: the operating system chooses. */
  readonly localAddress: string | undefined;
}

/**
 * All pairs of a local and a target address of one family, in the order in which connections take turns:
 * connection i has pair i modulo their number. Lengths that have a common factor still give every pair, and
 * neighbours differ in both addresses where they can.
 */
export function placesOf(options: OpenTransportOptions): readonly [Place, ...Place[]] {
  const { addresses = [options.address], localAddresses = [] } = options;
  const places: Place[] = [];
  for (let shift = 0; shift < Math.max(localAddresses.length, 1); shift++) {
    for (const [i, address] of addresses.entries()) {
      const local = localAddresses.filter(({ family }) => family === address.family);
      if (localAddresses.length === 0) places.push({ address, localAddress: undefined });
      else if (shift < local.length) {
        places.push({ address, localAddress: local[(i + shift) % local.length]?.address });
      }
    }
  }
  const [first = { address: options.address, localAddress: undefined }, ...more] = places;
  return [first, ...more];
}
