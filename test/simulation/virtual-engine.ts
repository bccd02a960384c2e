// An engine that sends nothing: it takes up requests, lets them end, and keeps the books of a real one.

import type { SlotEnd, SlotEvents, SlotRun } from '@broadside/agent/core';
import {
  addCounters,
  bucketIndexOf,
  COUNTER,
  type CounterName,
  counterOf,
  encodeInterval,
  encodeTotals,
  GAUGE_NAMES,
  HISTOGRAM,
  HISTOGRAM_NAMES,
  Histogram,
  type Interval,
  LIMITS,
  newCounters,
  type Shard,
  type SparseHistogram,
} from '@broadside/shared';
import type { Random } from '../../libs/shared/src/testing/random.js';
import type { ProcessTimers, VirtualTime } from './virtual-time.js';

const TICK_MS = 200;

/** What really happened at one attempt, whatever becomes of its intervals. */
export interface AttemptTruth {
  sent: number;
  completed: number;
  /** It had begun, and was stopped before its time was over. */
  isCutShort: boolean;
}

export interface VirtualEngineParts {
  readonly time: VirtualTime;
  readonly timers: ProcessTimers;
  readonly random: Random;
  readonly shard: Shard;
  readonly events: SlotEvents;
  readonly truth: AttemptTruth;
  readonly onLeft: () => void;
}

export class VirtualEngine implements SlotRun {
  readonly ended: Promise<SlotEnd>;
  readonly #parts: VirtualEngineParts;
  readonly #totals = newCounters();
  readonly #latencies = new Map<number, number>();
  #counters = newCounters();
  #sliceLatencies = new Map<number, number>();
  #number = 0;
  #left: number;
  #inFlight = 0;
  #open = 0;
  #startMs: number | undefined;
  #hasEnded = false;
  #isProbed = false;
  #leave: (end: SlotEnd) => void = () => undefined;

  constructor(parts: VirtualEngineParts) {
    this.#parts = parts;
    this.#left = parts.shard.requests ?? Number.POSITIVE_INFINITY;
    this.ended = new Promise((resolve) => {
      this.#leave = resolve;
    });
    const { random, shard } = parts;
    // Whoever takes a rest over may have to start a thread first.
    const isSlow = shard.attempt > 1 && random.isTrue(0.3);
    parts.timers.after(isSlow ? random.int(200, 4_000) : random.int(1, 60), () => {
      if (!this.#hasEnded) parts.events.onReady();
    });
  }

  probe(): void {
    const { timers, random, events } = this.#parts;
    if (this.#isProbed || this.#hasEnded || this.#startMs !== undefined) return;
    this.#isProbed = true;
    this.#take(1);
    timers.after(random.int(1, 30), () => {
      if (this.#hasEnded) return;
      this.#complete(1);
      events.onProbed({ ok: true, bodyBytes: 100, status: 200 });
    });
  }

  start(startAtUs: number, _referenceBytes?: number, fromUs = startAtUs): void {
    const { time, timers } = this.#parts;
    if (this.#startMs !== undefined || this.#hasEnded) return;
    const inMs = (us: number): number => (us - time.clock.epochUs()) / 1_000;
    this.#startMs = time.nowMs + inMs(startAtUs);
    timers.after(Math.max(inMs(fromUs), 0), () => this.#tick());
  }

  stop(): void {
    // As the control memory: seen at the next turn.
    this.#parts.timers.after(1, () => this.#end('notSentStopped'));
  }

  #tick(): void {
    const { time, timers, random, shard } = this.#parts;
    const startMs = this.#startMs ?? 0;
    if (this.#hasEnded) return;
    this.#closeUntil(time.nowMs);
    if (this.#open === 0) {
      this.#open = shard.connections;
      this.#count('connectionsAsked', shard.connections);
      this.#count('connectionsOpened', shard.connections);
    }
    this.#complete(this.#inFlight - random.int(0, Math.min(this.#inFlight, 1)));
    const isOver = shard.durationMs !== undefined && time.nowMs >= startMs + shard.durationMs;
    if (isOver) {
      this.#end('notSentTimeOver');
      return;
    }
    const rounds = random.int(0, 3);
    for (let round = 0; round < rounds; round++) {
      this.#take(Math.min(shard.connections - this.#inFlight, this.#left));
      if (round < rounds - 1) this.#complete(this.#inFlight);
    }
    if (this.#left === 0 && this.#inFlight === 0) this.#end(undefined);
    else timers.after(TICK_MS, () => this.#tick());
  }

  #take(count: number): void {
    this.#left -= count;
    this.#inFlight += count;
    this.#count('planned', count);
    this.#count('sent', count);
    this.#parts.truth.sent += count;
  }

  #complete(count: number): void {
    if (count <= 0) return;
    const failed = this.#parts.random.isTrue(0.02) ? 1 : 0;
    this.#inFlight -= count;
    this.#count('timeout', failed);
    this.#count('completed', count - failed);
    this.#parts.truth.completed += count - failed;
    const latencyUs = this.#parts.random.int(100, 5_000);
    this.#sliceLatencies.set(latencyUs, (this.#sliceLatencies.get(latencyUs) ?? 0) + count - failed);
  }

  #count(name: CounterName, amount: number): void {
    this.#counters[COUNTER[name]] = counterOf(this.#counters, name) + amount;
  }

  #end(reason: 'notSentStopped' | 'notSentTimeOver' | undefined): void {
    const { time, shard, onLeft } = this.#parts;
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#startMs !== undefined) this.#closeUntil(time.nowMs);
    this.#parts.truth.isCutShort = reason === 'notSentStopped' && this.#isShort();
    this.#count('inFlightAtEnd', this.#inFlight);
    this.#inFlight = 0;
    if (reason !== undefined && Number.isFinite(this.#left)) {
      this.#count('planned', this.#left);
      this.#count(reason, this.#left);
    }
    this.#count('connectionsClosedByUs', this.#open);
    this.#emit(true);
    const { runId, shardIndex, attempt } = shard;
    const totals = encodeTotals({
      runId,
      shardIndex,
      attempt,
      intervals: this.#number,
      ...observed(this.#totals, this.#latencies),
    });
    onLeft();
    this.#leave({
      kind: 'ended',
      result: {
        runId,
        shardIndex,
        attempt,
        totals: Buffer.from(totals).toString('base64'),
        addresses: [],
        startSkewUs: 0,
        transport: 'virtual',
      },
    });
  }

  /** What ends in the last slice of its time is as good as whole. */
  #isShort(): boolean {
    const { durationMs, requests } = this.#parts.shard;
    if (this.#startMs === undefined) return false;
    if (durationMs === undefined || requests !== undefined) return this.#left > 0;
    return (this.#number + 1) * LIMITS.intervalMs < durationMs;
  }

  #closeUntil(nowMs: number): void {
    while (nowMs >= (this.#startMs ?? 0) + (this.#number + 1) * LIMITS.intervalMs) this.#emit(false);
  }

  #emit(isLast: boolean): void {
    const { shard, events } = this.#parts;
    const { runId, shardIndex, attempt } = shard;
    const number = this.#number++;
    const interval: Interval = {
      runId,
      shardIndex,
      attempt,
      number,
      span: 1,
      isLast,
      ...observed(this.#counters, this.#sliceLatencies),
    };
    addCounters(this.#totals, this.#counters);
    for (const [latencyUs, count] of this.#sliceLatencies) {
      this.#latencies.set(latencyUs, (this.#latencies.get(latencyUs) ?? 0) + count);
    }
    this.#counters = newCounters();
    this.#sliceLatencies = new Map();
    events.onInterval({ number, span: 1, bytes: encodeInterval(interval) });
  }
}

function observed(counters: Float64Array, latencies: ReadonlyMap<number, number>) {
  const completed = counterOf(counters, 'completed');
  return {
    counters: counters.slice(),
    statusCounts: completed > 0 ? new Map([[200, completed]]) : new Map<number, number>(),
    gauges: new Float64Array(GAUGE_NAMES.length),
    histograms: HISTOGRAM_NAMES.map((_, i) => (i === HISTOGRAM.reused ? sparse(latencies) : EMPTY)),
  };
}

const EMPTY = new Histogram().toSparse();

/** A full histogram is large, and thousands of seeds need millions of small ones. */
function sparse(latencies: ReadonlyMap<number, number>): SparseHistogram {
  const byIndex = new Map<number, number>();
  const moments = { minUs: Number.POSITIVE_INFINITY, maxUs: -1, sumUs: 0, sumOfSquaresUs2: 0 };
  for (const [latencyUs, count] of latencies) {
    if (count <= 0) continue;
    const index = bucketIndexOf(latencyUs);
    byIndex.set(index, (byIndex.get(index) ?? 0) + count);
    moments.minUs = Math.min(moments.minUs, latencyUs);
    moments.maxUs = Math.max(moments.maxUs, latencyUs);
    moments.sumUs += latencyUs * count;
    moments.sumOfSquaresUs2 += latencyUs * latencyUs * count;
  }
  const buckets = [...byIndex].sort(([a], [b]) => a - b);
  if (buckets.length === 0) return EMPTY;
  return {
    indexes: Uint16Array.from(buckets, ([index]) => index),
    counts: Float64Array.from(buckets, ([, count]) => count),
    ...moments,
  };
}
