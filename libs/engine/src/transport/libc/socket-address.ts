import type { ResolvedAddress } from '../../resolve-target.js';
import { AF_INET, AF_INET6 } from './constants.js';
import type { Libc } from './libc.js';

const IPV4_SIZE_BYTES = 16;
const IPV6_SIZE_BYTES = 28;
/** Where the address lies in sockaddr_in and sockaddr_in6. */
const IPV4_OFFSET_BYTES = 4;
const IPV6_OFFSET_BYTES = 8;
const SCOPE_OFFSET_BYTES = 24;

/**
 * A `sockaddr_in` or `sockaddr_in6`. The port is in network order; the family and the scope are in the
 * machine's, which is little-endian on both processor types.
 * @throws RangeError when the address is not one, or its zone is not an interface of this machine.
 */
export function socketAddressOf(libc: Libc, { address, family }: ResolvedAddress, port: number): Uint8Array {
  const isIpv6 = family === 6;
  const bytes = new Uint8Array(isIpv6 ? IPV6_SIZE_BYTES : IPV4_SIZE_BYTES);
  const view = new DataView(bytes.buffer);
  const [digits = '', zone] = address.split('%', 2);
  view.setUint16(0, isIpv6 ? AF_INET6 : AF_INET, true);
  view.setUint16(2, port);
  const offsetBytes = isIpv6 ? IPV6_OFFSET_BYTES : IPV4_OFFSET_BYTES;
  const isDone = libc.inetPton(isIpv6 ? AF_INET6 : AF_INET, digits, libc.addressOf(bytes) + offsetBytes);
  if (isDone !== 1) throw new RangeError(`${address} is not an IPv${family} address`);
  if (isIpv6 && zone !== undefined) {
    const scope = /^\d+$/.test(zone) ? Number(zone) : libc.ifNametoindex(zone);
    if (scope === 0) throw new RangeError(`${address}: there is no network interface ${zone}`);
    view.setUint32(SCOPE_OFFSET_BYTES, scope, true);
  }
  return bytes;
}
