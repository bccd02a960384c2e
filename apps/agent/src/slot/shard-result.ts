import type { ShardEnd } from '@broadside/engine';
import type { ShardResult } from '@broadside/shared';

const MAX_ADDRESSES = 64;

/** What the engine found at the end, as the job's result; the address that was used comes first. */
export function shardResultOf(end: ShardEnd, totals: Uint8Array): ShardResult {
  const { runId, shardIndex, attempt } = end.totals;
  const others = end.addresses.filter((address) => address !== end.address);
  return {
    runId,
    shardIndex,
    attempt,
    totals: Buffer.from(totals).toString('base64'),
    addresses: [end.address, ...others].slice(0, MAX_ADDRESSES),
    startSkewUs: end.startSkewUs,
    ...(end.server === '' ? {} : { server: end.server.slice(0, 200) }),
    transport: end.transport,
    ...(end.fatal === undefined ? {} : { fatal: end.fatal }),
  };
}
