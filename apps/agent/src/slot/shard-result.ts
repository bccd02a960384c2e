import type { ShardEnd } from '@broadside/engine';
import type { ShardResult } from '@broadside/shared/engine';
import { isOwnAddress } from '../machine/own-address.js';

const MAX_ADDRESSES = 64;

/**
 * What the engine found at the end, as the job's result; the addresses that were used come first.
 * @param choiceNote why this thread's transport is not the fastest, where the shard has no reason of its own.
 */
export function shardResultOf(end: ShardEnd, totals: Uint8Array, choiceNote?: string): ShardResult {
  const { runId, shardIndex, attempt } = end.totals;
  const transportNote = end.transportNote ?? choiceNote;
  const used = new Set(end.used);
  const addresses = [...used, ...end.addresses.filter((address) => !used.has(address))];
  return {
    runId,
    shardIndex,
    attempt,
    totals: Buffer.from(totals).toString('base64'),
    addresses: addresses.slice(0, MAX_ADDRESSES),
    addressesUsed: Math.min(used.size, MAX_ADDRESSES),
    startSkewUs: end.startSkewUs,
    ...(end.stopSkewUs === undefined ? {} : { stopSkewUs: end.stopSkewUs }),
    ...(end.server === '' ? {} : { server: end.server.slice(0, 200) }),
    ...(end.firstReply === '' ? {} : { firstReply: end.firstReply }),
    transport: end.transport,
    ...(transportNote === undefined ? {} : { transportNote: transportNote.slice(0, 300) }),
    ...(end.tls === undefined ? {} : { tls: end.tls }),
    ...(end.failureReasons.length === 0 ? {} : { failureReasons: [...end.failureReasons] }),
    sharesMachine: isOwnAddress(end.address),
    ...(end.fatal === undefined ? {} : { fatal: end.fatal }),
  };
}
