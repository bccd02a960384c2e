import { LIMITS } from '../limits.js';
import { isIpv6 } from '../policy/ip-address.js';

/** The parts of a target address. The path keeps the bytes the user typed: a load tester must not rewrite them. */
export interface Target {
  readonly scheme: 'http' | 'https';
  /** Name or address; an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
  /** From the first slash on, query included, fragment removed. */
  readonly path: string;
}

const SCHEME = /^(https?):\/\//;
const HOST_NAME = /^[0-9A-Za-z._-]+$/;
const AFTER_SCHEME = /^(\[[0-9A-Fa-f:.]+\]|[^/?#:@[\]\s]+)(?::(\d*))?([/?][^#]*)?(?:#.*)?$/;

/**
 * Splits `[http[s]://]host[:port][/path]`. User information is refused, because it would end in reports.
 * @returns the parts, or one sentence that says what is wrong.
 */
export function parseTarget(address: string): Target | string {
  if (hasBlankOrControl(address)) return 'the address has a blank or a control character';
  const schemeText = SCHEME.exec(address)?.[1];
  const scheme = schemeText === 'https' ? 'https' : 'http';
  if (schemeText === undefined && /^(?:[a-z][a-z0-9+.-]*:\/\/|https?:)/i.test(address)) {
    return 'the address must begin with http:// or https://';
  }
  if (/^(?:https?:\/\/)?[^/?#]*@/.test(address)) {
    return 'the address must not hold a user name or password; use basic authentication instead';
  }
  const match = AFTER_SCHEME.exec(address.replace(SCHEME, ''));
  if (match === null) return 'the address is not http://host[:port]/path';
  const [, hostText = '', portText, rest = ''] = match;
  const port = portText === undefined || portText === '' ? undefined : Number(portText);
  // Nothing can be reached there; most likely it stands for a port that was never filled in.
  if (port === 0) return 'port 0 is no port that can be connected to';
  if (port !== undefined && port > 65_535) return `port ${portText} is larger than 65535`;
  const host = hostText.startsWith('[') ? hostText.slice(1, -1) : hostText;
  const problem = hostProblem(host, hostText);
  if (problem !== undefined) return problem;
  return {
    scheme,
    host,
    port: port ?? (scheme === 'https' ? 443 : 80),
    path: rest.startsWith('/') ? rest : `/${rest}`,
  };
}

/** Names beyond ASCII are refused: what they are looked up as differs between systems, and so would a policy. */
function hostProblem(host: string, asWritten: string): string | undefined {
  if (host !== asWritten)
    return isIpv6(host) ? undefined : `${asWritten.slice(0, 80)} is not an IPv6 address`;
  if (host.length > LIMITS.maxHostLength) {
    return `the host name has ${host.length} characters, and at most ${LIMITS.maxHostLength} are possible`;
  }
  return HOST_NAME.test(host)
    ? undefined
    : 'the host name may hold letters, digits, dots, - and _ only; write another one in its xn-- form';
}

function hasBlankOrControl(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code <= 0x20 || code === 0x7f) return true;
  }
  return false;
}

/** `host[:port]` as the Host header wants it: the port only where it is not the scheme's own (RFC 9110 7.2). */
export function hostHeaderOf(target: Target): string {
  const host = target.host.includes(':') ? `[${target.host}]` : target.host;
  const isDefault = target.port === (target.scheme === 'https' ? 443 : 80);
  return isDefault ? host : `${host}:${target.port}`;
}

/** The whole address again, for people. */
export function formatTarget(target: Target): string {
  return `${target.scheme}://${hostHeaderOf(target)}${target.path}`;
}
