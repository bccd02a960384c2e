/**
 * Entry of a thread that runs shards over the transport a test names, one after the other, and tells how each
 * has ended. The books are checked on the way (`runShardAgainst`).
 */
import { parentPort } from 'node:worker_threads';
import { COUNTER_NAMES, type CounterName, type FailureClass, type Shard } from '@broadside/shared';
import { chooseTransport } from '../transport/choose-transport.js';
import type { TransportName } from '../transport/transport.js';
import { runShardAgainst } from './run-shard-against.js';

export interface ShardOrder {
  readonly shard: Shard;
  readonly transport: TransportName;
}

export interface ShardOutcome {
  readonly transport: TransportName;
  readonly counters: Readonly<Record<CounterName, number>>;
  readonly failures: Partial<Record<FailureClass, number>>;
  readonly statuses: readonly (readonly [number, number])[];
  readonly fatal: string | undefined;
  readonly intervals: number;
  readonly cpuUs: number;
}

export type ShardReport =
  | { readonly ok: true; readonly outcome: ShardOutcome }
  | { readonly ok: false; readonly message: string };

async function carryOut({ shard, transport }: ShardOrder): Promise<ShardOutcome> {
  const choice = await chooseTransport(transport);
  if (choice.name !== transport) throw new Error(choice.note ?? `${transport} is not to be had`);
  const before = process.cpuUsage();
  const run = await runShardAgainst(shard, { openTransport: (options) => choice.open(options) });
  const { user, system } = process.cpuUsage(before);
  const counters = Object.fromEntries(COUNTER_NAMES.map((name) => [name, run.count(name)]));
  return {
    transport: run.end.transport,
    // Made of all the names just above.
    counters: counters as Record<CounterName, number>,
    failures: run.failures,
    statuses: [...run.end.totals.statusCounts],
    fatal: run.end.fatal?.message,
    intervals: run.intervals.length,
    cpuUs: user + system,
  };
}

parentPort?.on('message', (order: ShardOrder) => {
  carryOut(order)
    .then((outcome): ShardReport => ({ ok: true, outcome }))
    .catch(
      (error: unknown): ShardReport => ({
        ok: false,
        message: error instanceof Error ? (error.stack ?? error.message) : String(error),
      }),
    )
    .then((report) => parentPort?.postMessage(report));
});
