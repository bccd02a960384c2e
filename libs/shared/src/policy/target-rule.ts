import { LIMITS } from '../limits.js';
import { type IpAddress, isInNetwork, type Network, parseNetwork } from './ip-address.js';

interface Ports {
  readonly first: number;
  readonly last: number;
}

/** What a rule of the target policy speaks of. */
type Scope =
  /** Every host and every address. */
  | { readonly kind: 'any' }
  /** One name, or every name below it. */
  | { readonly kind: 'name'; readonly name: string; readonly isSuffix: boolean }
  | { readonly kind: 'networks'; readonly networks: readonly Network[] }
  /** A unix socket; without a path all of them. */
  | { readonly kind: 'unix'; readonly path: string | undefined };

/** One rule, as `parseTargetRule` read it. */
export interface TargetRule {
  /** As it was written, for messages. */
  readonly text: string;
  readonly scope: Scope;
  /** Absent: all ports. */
  readonly ports?: Ports;
}

/** A place that is connected to. The address is what the host was resolved to, where that is known. */
export type TargetPlace =
  | { readonly unixSocket: string }
  | { readonly host: string; readonly port: number; readonly address?: IpAddress | undefined };

/** Networks that a rule may name by a word (RFC 1122, 1918, 4193, 4291). */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

const NAME = /^(\*\.)?((?:[a-z0-9_-]{1,63}\.)*[a-z0-9_-]{1,63})\.?$/;
const FORMS = 'must be a host name, *.name, an address, a network like 10.0.0.0/8, loopback, private or *';

/**
 * Reads a rule: `*`, `loopback`, `private`, `host.example`, `*.example`, an address or a CIDR network, each with
 * `:port` or `:first-last` behind it if wanted (an IPv6 one then in brackets); or `unix:/path`, `unix:*`.
 * @returns the rule, or one sentence that says what is wrong.
 */
export function parseTargetRule(text: string): TargetRule | string {
  if (text.length > LIMITS.maxTargetRuleLength)
    return `must have at most ${LIMITS.maxTargetRuleLength} characters`;
  if (text.startsWith('unix:')) {
    const path = text.slice('unix:'.length);
    if (path !== '*' && !path.startsWith('/')) return 'must be unix:/path or unix:*';
    return { text, scope: { kind: 'unix', path: path === '*' ? undefined : path } };
  }
  if (text.includes('//')) return FORMS;
  const [scopeText, portsText] = splitPorts(text);
  const ports = portsText === undefined ? undefined : parsePorts(portsText);
  if (typeof ports === 'string') return ports;
  const scope = parseScope(scopeText.toLowerCase());
  if (typeof scope === 'string') return scope;
  return { text, scope, ...(ports === undefined ? {} : { ports }) };
}

/** Whether the rule speaks of the place; of a name whose address is not known yet, rules of networks do not. */
export function matchesRule(rule: TargetRule, place: TargetPlace): boolean {
  const { scope, ports } = rule;
  if ('unixSocket' in place) {
    return scope.kind === 'unix' && (scope.path === undefined || scope.path === place.unixSocket);
  }
  if (ports !== undefined && (place.port < ports.first || place.port > ports.last)) return false;
  switch (scope.kind) {
    case 'any':
      return true;
    case 'name': {
      const host = nameOf(place.host);
      return scope.isSuffix ? host.endsWith(`.${scope.name}`) : host === scope.name;
    }
    case 'networks': {
      const { address } = place;
      return address !== undefined && scope.networks.some((network) => isInNetwork(address, network));
    }
    case 'unix':
      return false;
  }
}

/** Host names are the same in every case, and with the dot of the root (RFC 1034 3.1). */
function nameOf(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}

function splitPorts(text: string): readonly [scope: string, ports: string | undefined] {
  const bracketed = /^\[([^\]]*)\](?::(.*))?$/.exec(text);
  if (bracketed !== null) return [bracketed[1] ?? '', bracketed[2]];
  // More than one colon, and no brackets: an IPv6 address or network.
  const [scope = '', ports, ...more] = text.split(':');
  return more.length > 0 ? [text, undefined] : [scope, ports];
}

function parsePorts(text: string): Ports | string {
  const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text);
  const first = Number(match?.[1] ?? 0);
  const last = Number(match?.[2] ?? first);
  if (first < 1 || last > 65_535 || first > last)
    return 'must end in a port from 1 to 65535, or in two like 8000-8999';
  return { first, last };
}

function parseScope(text: string): Scope | string {
  if (text === '*') return { kind: 'any' };
  const networks = (WORDS[text] ?? [text]).map(parseNetwork);
  const problem = networks.find((network) => typeof network === 'string');
  if (problem !== undefined) return problem;
  const known = networks.filter((network) => typeof network === 'object');
  if (known.length > 0) return { kind: 'networks', networks: known };
  const name = NAME.exec(text);
  // What resolvers take for an address in another form would be a rule that never matches.
  const isNumeric = /^(?:0x[0-9a-f]+|\d+)$/.test(name?.[2]?.split('.').at(-1) ?? '');
  if (name === null || isNumeric) return FORMS;
  return { kind: 'name', name: name[2] ?? '', isSuffix: name[1] !== undefined };
}
