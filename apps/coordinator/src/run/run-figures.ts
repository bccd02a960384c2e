/** What the intervals and totals of an agent's attempts say about the agent as a whole. */
import {
  type AgentFigures,
  counterOf,
  failedOf,
  gaugeOf,
  HISTOGRAM,
  Histogram,
  NO_TIME_US,
  type Observations,
} from '@broadside/shared';
import type { ShardProgress } from './shard-progress.js';

const LATENCIES = [HISTOGRAM.fresh, HISTOGRAM.reused] as const;

/** Adds up the attempts of one agent; takes 200 KiB until `end`. */
export class FigureSum {
  readonly #connections: number;
  readonly #latency = new Histogram();
  #rateHz: number | undefined;
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

  /** Its rate, and its share of the plan. */
  add(progress: ShardProgress): void {
    const { shard, totals, isFenced } = progress;
    // What replaced another attempt did a part of its load in a part of the time.
    if (totals === undefined || isFenced || shard.attempt > 1) return;
    const lastEventUs = gaugeOf(totals, 'lastEventUs');
    const seconds = (lastEventUs - (shard.warmupMs ?? 0) * 1_000) / 1e6;
    if (lastEventUs === NO_TIME_US || !(seconds > 0)) return;
    const ended = counterOf(totals.counters, 'completed') + failedOf(totals.counters);
    this.#rateHz = (this.#rateHz ?? 0) + ended / seconds;
    const { pacing, connections } = shard;
    const share =
      pacing === undefined ? connections / this.#connections : (pacing.lanes?.length ?? 1) / pacing.stride;
    this.#share = (this.#share ?? 0) + share;
  }

  end(): AgentFigures {
    const latency = this.#latency;
    return {
      ...(this.#rateHz === undefined ? {} : { rateHz: this.#rateHz }),
      ...(this.#share === undefined ? {} : { plannedShare: this.#share }),
      ...(latency.total === 0 ? {} : { p50Us: latency.percentileUs(50), p99Us: latency.percentileUs(99) }),
    };
  }
}
