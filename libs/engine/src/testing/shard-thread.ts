/**
 * Entry of a thread, or of a process with a message channel, that runs shards over the transport a test names,
 * one after the other, and tells how each has ended. The books are checked on the way (`runShardAgainst`).
 */
import { readdirSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import {
  COUNTER_NAMES,
  type CounterName,
  type FailureClass,
  HISTOGRAM_NAMES,
  Histogram,
  type HistogramName,
  type Latency,
  latencyOf,
  type Shard,
} from '@broadside/shared';
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
  readonly histograms: Readonly<Record<HistogramName, Latency>>;
  readonly statuses: readonly (readonly [number, number])[];
  readonly fatal: string | undefined;
  readonly intervals: number;
  /** CPU time of the whole process. */
  readonly userUs: number;
  readonly systemUs: number;
  readonly elapsedMs: number;
  /** Of the latency of all replies, on fresh connections and on used ones. */
  readonly p50Us: number;
  readonly p99Us: number;
  /** From the planned send to the real one; all 0 without a schedule. */
  readonly sendLagUs: {
    readonly p50: number;
    readonly p99: number;
    readonly p999: number;
    readonly max: number;
  };
  /** Descriptors that the process has open: before the run and after it, −1 where that is not to be had. */
  readonly descriptors: readonly [number, number];
}

export type ShardReport =
  | { readonly ok: true; readonly outcome: ShardOutcome }
  | { readonly ok: false; readonly message: string };

async function carryOut({ shard, transport }: ShardOrder): Promise<ShardOutcome> {
  const choice = await chooseTransport(transport);
  if (choice.name !== transport) throw new Error(choice.note ?? `${transport} is not to be had`);
  const startMs = performance.now();
  const before = process.cpuUsage();
  const descriptorsBefore = countDescriptors();
  const run = await runShardAgainst(shard, { openTransport: (options) => choice.open(options) });
  const { user, system } = process.cpuUsage(before);
  const elapsedMs = performance.now() - startMs;
  const latency = Histogram.from(run.histogram('reused').toSparse(), run.histogram('fresh').toSparse());
  const lag = run.histogram('sendLag');
  const counters = Object.fromEntries(COUNTER_NAMES.map((name) => [name, run.count(name)]));
  const histograms = Object.fromEntries(
    HISTOGRAM_NAMES.map((name) => [name, latencyOf(run.histogram(name))]),
  );
  return {
    transport: run.end.transport,
    // Made of all the names just above.
    counters: counters as Record<CounterName, number>,
    histograms: histograms as Record<HistogramName, Latency>,
    failures: run.failures,
    statuses: [...run.end.totals.statusCounts],
    fatal: run.end.fatal?.message,
    intervals: run.intervals.length,
    userUs: user,
    systemUs: system,
    elapsedMs,
    p50Us: latency.percentileUs(50),
    p99Us: latency.percentileUs(99),
    sendLagUs: {
      p50: lag.percentileUs(50),
      p99: lag.percentileUs(99),
      p999: lag.percentileUs(99.9),
      max: lag.percentileUs(100),
    },
    descriptors: [descriptorsBefore, countDescriptors()],
  };
}

function countDescriptors(): number {
  return process.platform === 'linux' ? readdirSync('/proc/self/fd').length : -1;
}

function answer(order: ShardOrder): void {
  void carryOut(order)
    .then((outcome): ShardReport => ({ ok: true, outcome }))
    .catch(
      (error: unknown): ShardReport => ({
        ok: false,
        message: error instanceof Error ? (error.stack ?? error.message) : String(error),
      }),
    )
    .then((report) => {
      if (parentPort === null) process.send?.(report);
      else parentPort.postMessage(report);
    });
}

if (parentPort === null) process.on('message', answer);
else parentPort.on('message', answer);
