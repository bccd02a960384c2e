import {
  featuresNeeded,
  type OpenTransportOptions,
  TRANSPORT_FEATURES,
  type TransportFeature,
} from './open-transport.js';
import { SocketTransport } from './socket-transport.js';
import type { Transport, TransportName } from './transport.js';

/**
 * How to open a transport, or `socket` in its place, with a note, where the connections need what it cannot do.
 * @param features what it can do besides plain TCP to one address.
 */
export function orSocket(
  name: TransportName,
  features: ReadonlySet<TransportFeature>,
  open: (options: OpenTransportOptions) => Transport,
): (options: OpenTransportOptions) => Transport {
  return (options) => {
    const missing = featuresNeeded(options).filter((feature) => !features.has(feature));
    if (missing.length === 0) return open(options);
    const what = missing.map((feature) => TRANSPORT_FEATURES[feature]).join(' and ');
    return new SocketTransport(options, `${name} is not used: it has no support for ${what}`);
  };
}
