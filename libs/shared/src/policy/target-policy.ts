/**
 * Where load may go. Pure: the coordinator asks about what a plan names, each agent again about the address that
 * it is about to connect to, and the stricter of the two wins (docs/adr/0005).
 */
import { addressOfHost, isInNetwork, isWithin, type Network, parseNetwork } from './ip-address.js';
import { matchesRule, parseTargetRule, type TargetPlace, type TargetRule } from './target-rule.js';

/** The rules as they are written; what crosses processes. */
export interface TargetPolicyTexts {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

export interface TargetPolicy {
  readonly allow: readonly TargetRule[];
  readonly deny: readonly TargetRule[];
}

/** A place as whoever connects knows it: `address` is what the host was resolved to. */
export type AskedPlace =
  | { readonly unixSocket: string }
  | { readonly host: string; readonly port: number; readonly address?: string | undefined };

export type TargetJudgement =
  /** Of a name: what it resolves to may still be denied, or have to be named. */
  | { readonly kind: 'allowed' }
  /** No rule allows the name; only the address that it resolves to can tell. */
  | { readonly kind: 'by-address' }
  /** A clause that names the rule: `no rule allows it (allowed: loopback, private)`. */
  | { readonly kind: 'refused'; readonly why: string };

/** Everything but what must be named: the policy of one person's own machine. */
export const OPEN_TARGETS: TargetPolicyTexts = { allow: ['*', 'unix:*'], deny: [] };
/** The policy of a cluster that was told nothing: what is reached without leaving the own networks. */
export const CLUSTER_TARGETS: TargetPolicyTexts = { allow: ['loopback', 'private'], deny: [] };

/**
 * Link-local networks (RFC 3927, RFC 4291), and the metadata services of clouds, which hand credentials to
 * whoever asks: 169.254.169.254 nearly everywhere, beside it Alibaba Cloud's, and Amazon's over IPv6.
 */
const TO_BE_NAMED: readonly Network[] = ['169.254.0.0/16', 'fe80::/10', '100.100.100.200', 'fd00:ec2::254']
  .map(parseNetwork)
  .filter((network) => typeof network === 'object');

/** @throws TypeError for a rule that `parseTargetRule` refuses: rules are checked where they come in. */
export function targetPolicyOf({ allow, deny }: TargetPolicyTexts): TargetPolicy {
  return { allow: allow.map(ruleOf), deny: deny.map(ruleOf) };
}

function ruleOf(text: string): TargetRule {
  const rule = parseTargetRule(text);
  if (typeof rule === 'string') throw new TypeError(`target rule ${text}: ${rule}`);
  return rule;
}

/** Deny comes before allow, and what no rule allows is refused. */
export function judgeTarget(policy: TargetPolicy, asked: AskedPlace): TargetJudgement {
  const place = placeOf(asked);
  if (place === undefined) return { kind: 'refused', why: 'its address cannot be read' };
  const denying = policy.deny.find((rule) => matchesRule(rule, place));
  if (denying !== undefined) return { kind: 'refused', why: `the rule deny ${denying.text} forbids it` };
  const allowing = policy.allow.filter((rule) => matchesRule(rule, place));
  if ('host' in place && mustBeNamed(place) && !allowing.some(namesItself)) {
    const why = 'link-local and metadata addresses must be allowed by their own address or network';
    return { kind: 'refused', why };
  }
  if (allowing.length > 0) return { kind: 'allowed' };
  if (policy.allow.some((rule) => couldAllow(rule, place))) return { kind: 'by-address' };
  const allowed = policy.allow.map(({ text }) => text).join(', ');
  return {
    kind: 'refused',
    why: `no rule allows it (allowed: ${allowed === '' ? 'nothing' : shortened(allowed)})`,
  };
}

/**
 * Why there must be no load on the place by all of these policies together; undefined when there may be. Asked last
 * of all, so a name whose address is still not known must be allowed by itself.
 */
export function refusalOf(
  policies: Readonly<Record<string, TargetPolicy>>,
  asked: AskedPlace,
): string | undefined {
  for (const [owner, policy] of Object.entries(policies)) {
    const judgement = judgeTarget(policy, asked);
    if (judgement.kind === 'allowed') continue;
    const why =
      judgement.kind === 'refused' ? judgement.why : 'no rule allows its name, and it has no address here';
    return `${why}, by the policy of the ${owner}`;
  }
  return undefined;
}

function placeOf(asked: AskedPlace): TargetPlace | undefined {
  if ('unixSocket' in asked) return asked;
  const { host, port } = asked;
  const address = addressOfHost(asked.address ?? host);
  return asked.address !== undefined && address === undefined ? undefined : { host, port, address };
}

function mustBeNamed({ address }: Exclude<TargetPlace, { unixSocket: string }>): boolean {
  return address !== undefined && TO_BE_NAMED.some((network) => isInNetwork(address, network));
}

/** Whether the rule names link-local or metadata addresses and nothing else: a wide one does not mean them. */
function namesItself({ scope }: TargetRule): boolean {
  return (
    scope.kind === 'networks' &&
    scope.networks.every((network) => TO_BE_NAMED.some((outer) => isWithin(network, outer)))
  );
}

/** Whether a rule of networks may match once the address is known. */
function couldAllow({ scope, ports }: TargetRule, place: TargetPlace): boolean {
  if (scope.kind !== 'networks' || 'unixSocket' in place || place.address !== undefined) return false;
  return ports === undefined || (place.port >= ports.first && place.port <= ports.last);
}

function shortened(list: string): string {
  return list.length > 120 ? `${list.slice(0, 119)}…` : list;
}
