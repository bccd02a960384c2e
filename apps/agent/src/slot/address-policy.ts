/**
 * Addresses that no load ever goes to, whatever a plan asks for: link-local networks and the metadata services of
 * clouds, which hand credentials to whoever asks (design section 9). Checked on the resolved address, because a
 * name can be made to resolve to anything.
 */
import { BlockList, isIP } from 'node:net';

const FORBIDDEN = new BlockList();
/** Link-local (RFC 3927, RFC 4291); the metadata services of most clouds are 169.254.169.254. */
FORBIDDEN.addSubnet('169.254.0.0', 16, 'ipv4');
FORBIDDEN.addSubnet('fe80::', 10, 'ipv6');
/** Metadata services elsewhere: Alibaba Cloud, and Amazon over IPv6. */
FORBIDDEN.addAddress('100.100.100.200', 'ipv4');
FORBIDDEN.addAddress('fd00:ec2::254', 'ipv6');

/** IPv6 forms that stand for an IPv4 address: mapped (RFC 4291 2.5.5.2) and translated (RFC 6052). */
const IPV4_PREFIXES = new BlockList();
IPV4_PREFIXES.addSubnet('::ffff:0:0', 96, 'ipv6');
IPV4_PREFIXES.addSubnet('64:ff9b::', 96, 'ipv6');

/** @param address an IPv4 or IPv6 address, or `unix:` and a path, which is this machine's own. */
export function isAllowedAddress(address: string): boolean {
  if (address.startsWith('unix:')) return true;
  const family = isIP(address);
  if (family === 4) return !FORBIDDEN.check(address, 'ipv4');
  if (family !== 6) return false;
  if (FORBIDDEN.check(address, 'ipv6')) return false;
  if (!IPV4_PREFIXES.check(address, 'ipv6')) return true;
  const inner = lastFourBytesOf(address);
  return inner !== undefined && !FORBIDDEN.check(inner, 'ipv4');
}

/** The low 32 bits of an IPv6 address in dotted form. */
function lastFourBytesOf(address: string): string | undefined {
  // The URL parser writes every IPv6 address in its one canonical form, hexadecimal groups only.
  const groups = new URL(`http://[${address.replace(/%.*$/, '')}]/`).hostname.slice(1, -1).split(':');
  const [high, low] = groups.slice(-2).map((group) => Number.parseInt(group === '' ? '0' : group, 16));
  if (high === undefined || low === undefined || Number.isNaN(high) || Number.isNaN(low)) return undefined;
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
}
