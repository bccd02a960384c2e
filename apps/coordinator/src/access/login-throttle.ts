/**
 * Counts wrong tokens, by address and over all, in windows of one minute, and says when it is enough. A made token
 * cannot be guessed and is looked at anyway (see gate.ts), so nobody who holds one is locked out by a stranger.
 * Bounded: beyond the overall limit nothing more is counted. Pure: the clock is passed in.
 */
import { isIPv6 } from 'node:net';

export interface ThrottleLimits {
  readonly perAddress: number;
  readonly overall: number;
}

const WINDOW_MS = 60_000;

export class LoginThrottle {
  readonly #limits: ThrottleLimits;
  readonly #nowMs: () => number;
  readonly #counts = new Map<string, number>();
  #sum = 0;
  #windowStartMs = Number.NEGATIVE_INFINITY;

  constructor(limits: ThrottleLimits, nowMs: () => number) {
    this.#limits = limits;
    this.#nowMs = nowMs;
  }

  isBlocked(address: string): boolean {
    this.#turn();
    if (this.#sum >= this.#limits.overall) return true;
    return (this.#counts.get(networkOf(address)) ?? 0) >= this.#limits.perAddress;
  }

  fail(address: string): void {
    if (this.isBlocked(address)) return;
    const network = networkOf(address);
    this.#counts.set(network, (this.#counts.get(network) ?? 0) + 1);
    this.#sum++;
  }

  /** Begins a new window when the last one is over. */
  #turn(): void {
    const nowMs = this.#nowMs();
    if (nowMs - this.#windowStartMs < WINDOW_MS) return;
    this.#windowStartMs = nowMs;
    this.#counts.clear();
    this.#sum = 0;
  }
}

/** A host has a whole network of IPv6 addresses, at least a /64 (RFC 6177); of IPv4 it has one. */
export function networkOf(address: string): string {
  const [bare = address] = address.split('%');
  if (!isIPv6(bare)) return bare;
  const [head = '', tail] = bare.split('::');
  const left = head === '' ? [] : head.split(':');
  if (tail === undefined) return `${left.slice(0, 4).map(short).join(':')}::/64`;
  const right = tail === '' ? [] : tail.split(':');
  // An IPv4 address at the end takes the place of two groups.
  const groups = right.length + (right.at(-1)?.includes('.') === true ? 1 : 0);
  const zeros = Array.from({ length: Math.max(8 - left.length - groups, 0) }, () => '0');
  return `${[...left, ...zeros, ...right].slice(0, 4).map(short).join(':')}::/64`;
}

function short(group: string): string {
  return Number.parseInt(group, 16).toString(16);
}
