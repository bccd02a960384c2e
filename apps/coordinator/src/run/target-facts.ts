/** What all shards together know of the target. Pure. */
import type { FailureReason, Report, ShardResult, TlsFacts } from '@broadside/shared';
import { LIMITS } from '@broadside/shared';

/** Addresses, server name and TLS as the first shard that knows them saw them; handshakes are added up. */
export function targetFactsOf(results: readonly ShardResult[]): Report['target'] {
  const resolved = results.find((result) => result.addresses.length > 0);
  const server = results.find((result) => result.server !== undefined)?.server;
  const firstReply = results.find((result) => result.firstReply !== undefined)?.firstReply;
  const tls = tlsFactsOf(results);
  return {
    addresses: resolved?.addresses ?? [],
    ...(resolved?.addressesUsed === undefined ? {} : { addressesUsed: resolved.addressesUsed }),
    ...(server === undefined ? {} : { server }),
    ...(firstReply === undefined ? {} : { firstReply }),
    ...(tls === undefined ? {} : { tls }),
  };
}

function tlsFactsOf(results: readonly ShardResult[]): TlsFacts | undefined {
  const all = results.flatMap((result) => (result.tls === undefined ? [] : [result.tls]));
  const [first] = all;
  if (first === undefined) return undefined;
  const sumOf = (pick: (tls: TlsFacts) => number): number => all.reduce((sum, tls) => sum + pick(tls), 0);
  return {
    ...first,
    handshakes: sumOf((tls) => tls.handshakes),
    resumed: sumOf((tls) => tls.resumed),
    handshakeSumUs: sumOf((tls) => tls.handshakeSumUs),
    handshakeMaxUs: Math.max(...all.map((tls) => tls.handshakeMaxUs)),
  };
}

/** Reasons of all shards, equal ones added, most frequent first; undefined when there are none. */
export function failureReasonsOf(results: readonly ShardResult[]): FailureReason[] | undefined {
  const counts = new Map<string, number>();
  for (const { reason, count } of results.flatMap((result) => result.failureReasons ?? [])) {
    counts.set(reason, (counts.get(reason) ?? 0) + count);
  }
  const sorted = [...counts].sort(([, a], [, b]) => b - a).slice(0, LIMITS.maxFailureReasons);
  return sorted.length === 0 ? undefined : sorted.map(([reason, count]) => ({ reason, count }));
}
