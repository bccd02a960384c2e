/** What the intervals and totals of an agent's attempts say about the agent as a whole. */
import {
  type AgentFigures,
  counterOf,
  failedOf,
  gaugeOf,
  HISTOGRAM,
  Histogram,
  LIMITS,
  NO_TIME_US,
  type Observations,
} from '@broadside/shared';
import type { ShardProgress } from './shard-progress.js';

const LATENCIES = [HISTOGRAM.fresh, HISTOGRAM.reused] as const;

/** Adds up the attempts of one agent; takes 200 KiB until `end`. */
export class FigureSum {
  readonly #connections: number;
  readonly #latency = new Histogram();
  #ended = 0;
  /** From the first begin to the last event of its attempts, in µs of the run; nothing ended where they are none. */
  #beginUs = Number.POSITIVE_INFINITY;
  #endUs = Number.NEGATIVE_INFINITY;
  #share: number | undefined;

  /** @param connections of the whole plan. */
  constructor(connections: number) {
    this.#connections = connections;
  }

  /** What an attempt saw without its warm-up, in parts or as a whole. */
  addLatency({ histograms }: Pick<Observations, 'histograms'>): void {
    for (const index of LATENCIES) {
      const histogram = histograms[index];
      if (histogram !== undefined) this.#latency.addSparse(histogram);
    }
  }

  /** Its requests and its time, and its share of the plan. */
  add(progress: ShardProgress): void {
    const { shard, totals, isFenced, counted } = progress;
    this.#ended += counterOf(counted, 'completed') + failedOf(counted);
    this.#addTime(progress);
    // What replaced another attempt did a part of its load in a part of the time.
    if (totals === undefined || isFenced || shard.attempt > 1) return;
    const { pacing, connections } = shard;
    const share =
      pacing === undefined ? connections / this.#connections : (pacing.lanes?.length ?? 1) / pacing.stride;
    this.#share = (this.#share ?? 0) + share;
  }

  #addTime(progress: ShardProgress): void {
    const { shard, totals, isFenced, startSlice = 0, fromMs = 0, coveredSlices } = progress;
    const startUs = startSlice * LIMITS.intervalMs * 1_000;
    const lastEventUs = totals === undefined || isFenced ? NO_TIME_US : gaugeOf(totals, 'lastEventUs');
    // Of a lost one only its intervals tell how long it was there.
    const lastsUs = lastEventUs === NO_TIME_US ? coveredSlices * LIMITS.intervalMs * 1_000 : lastEventUs;
    const beginUs = (shard.warmupMs ?? 0) * 1_000;
    if (lastsUs <= beginUs) return;
    this.#beginUs = Math.min(this.#beginUs, Math.max(startUs + beginUs, fromMs * 1_000));
    this.#endUs = Math.max(this.#endUs, startUs + lastsUs);
  }

  end(): AgentFigures {
    const latency = this.#latency;
    const seconds = (this.#endUs - this.#beginUs) / 1e6;
    return {
      ...(seconds > 0 ? { rateHz: this.#ended / seconds } : {}),
      ...(this.#share === undefined ? {} : { plannedShare: this.#share }),
      ...(latency.total === 0 ? {} : { p50Us: latency.percentileUs(50), p99Us: latency.percentileUs(99) }),
    };
  }
}
