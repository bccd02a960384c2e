/**
 * Who asks when proxies stand between. What a proxy says of its client is believed only of proxies that were named,
 * because anybody can send such headers.
 */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

/** Whether somebody between says that it only hands the request on. */
export function isForwarded({ headers }: IncomingMessage): boolean {
  return ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via'].some((name) => headers[name] !== undefined);
}

export class Forwarding {
  readonly #trusted = new BlockList();

  /** @param proxies addresses, or networks like `10.0.0.0/8`; see `isNetwork`. */
  constructor(proxies: readonly string[]) {
    for (const proxy of proxies) {
      const [address = '', prefix] = proxy.split('/');
      const family = familyOf(address);
      if (prefix === undefined) this.#trusted.addAddress(address, family);
      else this.#trusted.addSubnet(address, Number(prefix), family);
    }
  }

  /** Address of the client: the last one in the chain that no trusted proxy has. */
  addressOf(request: IncomingMessage): string {
    let address = plain(request.socket.remoteAddress ?? 'unknown');
    const chain = textOf(request.headers['x-forwarded-for'])
      .split(',')
      .map((part) => plain(part.trim()));
    while (this.#isTrusted(address)) {
      const before = chain.pop();
      if (before === undefined || isIP(before) === 0) break;
      address = before;
    }
    return address;
  }

  /** The host that the client asked for. */
  hostOf(request: IncomingMessage): string | undefined {
    const forwarded = textOf(request.headers['x-forwarded-host']);
    const isFromProxy = this.#isTrusted(plain(request.socket.remoteAddress ?? ''));
    return isFromProxy && forwarded !== '' ? forwarded : request.headers.host;
  }

  #isTrusted(address: string): boolean {
    return isIP(address) !== 0 && this.#trusted.check(address, familyOf(address));
  }
}

/** Whether a text names an address or a network. */
export function isNetwork(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

/** An IPv4 address that came over an IPv6 socket has the form of IPv6. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}

function textOf(header: string | string[] | undefined): string {
  return Array.isArray(header) ? header.join(',') : (header ?? '');
}
