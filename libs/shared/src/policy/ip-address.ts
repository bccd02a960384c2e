/** IP addresses and networks as policies compare them. Reading is the library's; this says which are the same. */
import ipaddr from 'ipaddr.js';

export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;

/** A network; a single address is one of full length. */
export interface Network {
  readonly address: IpAddress;
  readonly bits: number;
}

/**
 * The address that a host stands for without being looked up, in every form that resolvers take for one: an
 * IPv4 address may also be written `127.1`, `0x7f000001` or `2130706433`. Undefined for a name.
 */
export function addressOfHost(host: string): IpAddress | undefined {
  return ipaddr.isValid(host) ? sameAs(ipaddr.parse(host)) : undefined;
}

export function isIpv6(text: string): boolean {
  return ipaddr.IPv6.isValid(text);
}

/**
 * Reads an address or a CIDR network in its usual form.
 * @returns the network, undefined for what has another form, or one sentence that says what is wrong with it.
 */
export function parseNetwork(text: string): Network | string | undefined {
  const [digits = '', bitsText, ...more] = text.split('/');
  const isIpv4 = ipaddr.IPv4.isValidFourPartDecimal(digits);
  if (!isIpv4 && (!ipaddr.IPv6.isValid(digits) || digits.includes('%'))) return undefined;
  const address = ipaddr.parse(digits);
  const mostBits = isIpv4 ? 32 : 128;
  const bits = bitsText === undefined ? mostBits : /^\d{1,3}$/.test(bitsText) ? Number(bitsText) : -1;
  if (more.length > 0 || bits < 0 || bits > mostBits) return `must have a length of 0 to ${mostBits} bits`;
  if (hasBitsBeyond(address, bits)) return `has bits beyond its length of ${bits}`;
  if (bits === mostBits) return networkOfOne(sameAs(address));
  const ipv4 = bits < 96 ? undefined : ipv4In(address);
  return ipv4 === undefined ? { address, bits } : { address: ipv4, bits: bits - 96 };
}

function networkOfOne(address: IpAddress): Network {
  return { address, bits: address.kind() === 'ipv4' ? 32 : 128 };
}

export function isInNetwork(address: IpAddress, { address: network, bits }: Network): boolean {
  return address.kind() === network.kind() && address.match(network, bits);
}

/** Whether all addresses of one network are in the other. */
export function isWithin(inner: Network, outer: Network): boolean {
  return inner.bits >= outer.bits && isInNetwork(inner.address, outer);
}

/**
 * The address that packets to this one end at: IPv6 forms of an IPv4 address are that address, and the unspecified
 * address is this machine, as systems take it.
 */
function sameAs(given: IpAddress): IpAddress {
  const address = ipv4In(given) ?? given;
  if (!address.toByteArray().every((byte) => byte === 0)) return address;
  return ipaddr.parse(address.kind() === 'ipv4' ? '127.0.0.1' : '::1');
}

/** The IPv4 address in one that is mapped or compatible (RFC 4291 2.5.5), or translated (RFC 6052, RFC 6145). */
function ipv4In(address: IpAddress): ipaddr.IPv4 | undefined {
  if (address instanceof ipaddr.IPv4) return undefined;
  const { parts } = address;
  const [high = 0, low = 0] = parts.slice(6);
  const range = address.range();
  // ::1 and :: are addresses of their own.
  const isCompatible = parts.slice(0, 6).every((part) => part === 0) && (high > 0 || low > 1);
  if (range !== 'ipv4Mapped' && range !== 'rfc6052' && range !== 'rfc6145' && !isCompatible) return undefined;
  return new ipaddr.IPv4([high >> 8, high & 0xff, low >> 8, low & 0xff]);
}

function hasBitsBeyond(address: IpAddress, bits: number): boolean {
  return address.toByteArray().some((byte, i) => {
    const own = Math.min(Math.max(bits - i * 8, 0), 8);
    return (byte & (0xff >> own)) !== 0;
  });
}
