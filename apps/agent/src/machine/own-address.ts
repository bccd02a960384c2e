import { BlockList } from 'node:net';
import { networkInterfaces } from 'node:os';

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/**
 * True when the address is loopback or one of this machine's own: then client and target share its CPUs. A
 * target in a container of the same machine has an address of its own and is not recognised.
 * @param address IPv4 or IPv6 without brackets or zone, or the path of a Unix socket.
 */
export function isOwnAddress(address: string, own: readonly string[] = ownAddresses()): boolean {
  if (address.startsWith('::ffff:')) return isOwnAddress(address.slice(7), own);
  if (address.startsWith('/')) return true;
  const family = address.includes(':') ? 'ipv6' : 'ipv4';
  return loopback.check(address, family) || own.includes(address);
}

function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((entries) =>
    (entries ?? []).map((entry) => entry.address.split('%', 1)[0] ?? ''),
  );
}
