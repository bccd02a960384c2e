import { addCounters, type CounterName, type Counters, counterOf, newCounters } from '../metrics/counters.js';
import { Histogram } from '../metrics/histogram.js';
import {
  addStatusCounts,
  gaugeOf,
  HISTOGRAM,
  HISTOGRAM_NAMES,
  type HistogramName,
  type Interval,
  NO_TIME_US,
  type Observations,
} from '../metrics/interval.js';
import { countsOf, latencyOf } from './latency.js';
import type { Report } from './report.schema.js';

/**
 * Adds up what shards saw, interval by interval, in any order: over a whole run, or over one shard.
 * Takes about 2 MiB whatever is added. It does not know duplicates: the caller drops them first.
 */
export class RunTotals {
  readonly counters: Counters = newCounters();
  /** Complete replies by status code. */
  readonly statusCounts = new Map<number, number>();
  /** In the order of `HISTOGRAM_NAMES`. */
  readonly histograms: readonly Histogram[] = HISTOGRAM_NAMES.map(() => new Histogram());
  /** Earliest send and latest event over all shards, in µs after the start instant; −1 while there is none. */
  firstSendUs = NO_TIME_US;
  lastEventUs = NO_TIME_US;
  /** CPU time of all engine threads, in µs. */
  cpuUs = 0;
  /** Largest busy share of one engine thread in one interval, 0 … 1. */
  busyShareMax = 0;
  sendLagMaxUs = 0;

  /** A slice of the warm-up is in no total. */
  addInterval(interval: Interval): void {
    if (interval.isWarmup !== true) this.add(interval);
  }

  /** Adds an interval, or a shard's totals: never both of one shard. */
  add(seen: Observations): void {
    addCounters(this.counters, seen.counters);
    addStatusCounts(this.statusCounts, seen.statusCounts);
    for (const [i, histogram] of this.histograms.entries()) {
      const more = seen.histograms[i];
      if (more !== undefined) histogram.addSparse(more);
    }
    const firstSendUs = gaugeOf(seen, 'firstSendUs');
    if (firstSendUs !== NO_TIME_US) {
      this.firstSendUs =
        this.firstSendUs === NO_TIME_US ? firstSendUs : Math.min(this.firstSendUs, firstSendUs);
    }
    const lastEventUs = gaugeOf(seen, 'lastEventUs');
    if (lastEventUs !== NO_TIME_US) {
      this.lastEventUs =
        this.lastEventUs === NO_TIME_US ? lastEventUs : Math.max(this.lastEventUs, lastEventUs);
    }
    this.cpuUs += gaugeOf(seen, 'cpuUs');
    this.busyShareMax = Math.max(this.busyShareMax, gaugeOf(seen, 'busyShare'));
    this.sendLagMaxUs = Math.max(this.sendLagMaxUs, gaugeOf(seen, 'sendLagMaxUs'));
  }

  counter(name: CounterName): number {
    return counterOf(this.counters, name);
  }

  histogram(name: HistogramName): Histogram {
    const histogram = this.histograms[HISTOGRAM[name]];
    if (histogram === undefined) throw new RangeError(`no histogram ${name}`);
    return histogram;
  }

  /**
   * What `ab` calls the time taken: from the start instant to the last event. The probe is sent before the
   * start instant, so its first send is negative and moves the beginning forward; the engine leaves out the
   * pause between the probe's reply and the start instant, in which there was no load (docs/MEASUREMENT.md).
   */
  get timeTakenUs(): number {
    if (this.firstSendUs === NO_TIME_US || this.lastEventUs === NO_TIME_US) return 0;
    return Math.max(this.lastEventUs - Math.min(this.firstSendUs, 0), 0);
  }

  /** The latency rows of the report. */
  latencies(): Report['latency'] {
    const fresh = this.histogram('fresh');
    const reused = this.histogram('reused');
    const corrected = this.histogram('corrected');
    return {
      total: latencyOf(fresh, reused),
      processing: latencyOf(this.histogram('freshProcessing'), reused),
      connect: latencyOf(this.histogram('connect')),
      tls: latencyOf(this.histogram('tls')),
      wait: latencyOf(this.histogram('wait')),
      fresh: latencyOf(fresh),
      reused: latencyOf(reused),
      // Where nothing was planned, a request is due when it is sent.
      corrected: corrected.total > 0 ? latencyOf(corrected) : latencyOf(fresh, reused),
      sendLag: latencyOf(this.histogram('sendLag')),
    };
  }

  /** Complete replies of each closed connection, by who closed it. */
  requestsPerConnection(): Report['requestsPerConnection'] {
    return {
      closedByUs: countsOf(this.histogram('servedClosedByUs')),
      closedAnnounced: countsOf(this.histogram('servedClosedAnnounced')),
      closedUnannounced: countsOf(this.histogram('servedClosedUnannounced')),
      closedIdle: countsOf(this.histogram('servedClosedIdle')),
    };
  }

  /** Status counts with string keys in rising order, as JSON has them. */
  statusRecord(): Record<string, number> {
    const sorted = [...this.statusCounts].sort(([a], [b]) => a - b);
    return Object.fromEntries(sorted.map(([code, count]) => [String(code), count]));
  }
}
