import { parseTarget } from './target.js';

/** An HTTP proxy that requests go through. */
export interface Proxy {
  readonly host: string;
  readonly port: number;
}

/** Where proxies usually listen; used when the address names no port. */
export const DEFAULT_PROXY_PORT = 8_080;

/**
 * Splits `[http://]host[:port]`.
 * @returns the parts, or one sentence that says what is wrong.
 */
export function parseProxy(address: string): Proxy | string {
  if (/^https:/i.test(address)) return 'proxies are spoken to by http:// only';
  return parsePlace(address, DEFAULT_PROXY_PORT);
}

/**
 * Splits `[http://]host[:port]`: a place to connect to, without a path.
 * @param defaultPort for an address without a port.
 * @returns the parts, or one sentence that says what is wrong.
 */
export function parsePlace(address: string, defaultPort: number): Proxy | string {
  const parsed = parseTarget(address);
  if (typeof parsed === 'string') {
    return parsed.includes('user name') ? 'must not hold a user name or password; use proxyUser' : parsed;
  }
  if (parsed.path !== '/') return 'must be http://host:port, without a path';
  // The usual port of http is not the default here, so it counts only where it is written.
  const hasPort = /:\d+\/?$/.test(address.replace(/^http:\/\//, '').replace(/^\[[^\]]*\]/, ''));
  return { host: parsed.host, port: hasPort ? parsed.port : defaultPort };
}
