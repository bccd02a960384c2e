import {
  addCounters,
  counterOf,
  failedOf,
  gaugeOf,
  HISTOGRAM,
  Histogram,
  type Interval,
  newCounters,
  type Second,
  type SparseHistogram,
} from '@broadside/shared';
import { maximaOf, worseOf } from './generator-maxima.js';

/** Sum of what all shards saw in one slice of run time; also of several neighbouring slices. Pure. */
export class SecondSum {
  readonly #counters = newCounters();
  #latency: Histogram | undefined;
  #corrected: Histogram | undefined;
  #isWarmup = false;
  #inFlight = 0;
  #openConnections = 0;
  #openConnectionsMax = 0;
  #busyShareMax = 0;
  #maxima: ReturnType<typeof maximaOf> = {};

  add(interval: Interval): void {
    addCounters(this.#counters, interval.counters);
    this.#inFlight += gaugeOf(interval, 'inFlight');
    this.#openConnections += gaugeOf(interval, 'openConnections');
    this.#openConnectionsMax += gaugeOf(interval, 'openConnectionsMax');
    this.#busyShareMax = Math.max(this.#busyShareMax, gaugeOf(interval, 'busyShare'));
    this.#maxima = worseOf(this.#maxima, maximaOf(interval));
    this.#isWarmup ||= interval.isWarmup === true;
    for (const name of ['fresh', 'reused'] as const) {
      this.#latency = withMore(this.#latency, interval.histograms[HISTOGRAM[name]]);
    }
    this.#corrected = withMore(this.#corrected, interval.histograms[HISTOGRAM.corrected]);
  }

  /** Adds the slice that follows: counts add up, maxima are the larger ones, other readings the later ones. */
  addFollowing(later: SecondSum): void {
    addCounters(this.#counters, later.#counters);
    this.#inFlight = later.#inFlight;
    this.#openConnections = later.#openConnections;
    this.#openConnectionsMax = Math.max(this.#openConnectionsMax, later.#openConnectionsMax);
    this.#busyShareMax = Math.max(this.#busyShareMax, later.#busyShareMax);
    this.#maxima = worseOf(this.#maxima, later.#maxima);
    this.#isWarmup &&= later.#isWarmup;
    this.#latency = sumOf(this.#latency, later.#latency);
    this.#corrected = sumOf(this.#corrected, later.#corrected);
  }

  toSecond(second: number): Second {
    return {
      second,
      planned: counterOf(this.#counters, 'planned'),
      sent: counterOf(this.#counters, 'sent'),
      completed: counterOf(this.#counters, 'completed'),
      failed: failedOf(this.#counters),
      inFlight: this.#inFlight,
      openConnections: this.#openConnections,
      openConnectionsMax: this.#openConnectionsMax,
      bytesReceived: counterOf(this.#counters, 'bytesReceived'),
      ...(this.#latency === undefined
        ? {}
        : {
            p50Us: this.#latency.percentileUs(50),
            p99Us: this.#latency.percentileUs(99),
            maxUs: this.#latency.maxUs,
          }),
      ...(this.#corrected === undefined
        ? {}
        : {
            correctedP50Us: this.#corrected.percentileUs(50),
            correctedP99Us: this.#corrected.percentileUs(99),
          }),
      ...(this.#isWarmup ? { isWarmup: true } : {}),
      busyShareMax: this.#busyShareMax,
      ...this.#maxima,
    };
  }
}

/** The sum with a part added; no histogram is made for nothing. */
function withMore(sum: Histogram | undefined, more: SparseHistogram | undefined): Histogram | undefined {
  if (more === undefined || more.counts.length === 0) return sum;
  const grown = sum ?? new Histogram();
  grown.addSparse(more);
  return grown;
}

function sumOf(sum: Histogram | undefined, more: Histogram | undefined): Histogram | undefined {
  if (sum === undefined || more === undefined) return sum ?? more;
  sum.add(more);
  return sum;
}

/**
 * Two neighbouring seconds that are closed already, as one. Percentiles cannot be added, so they are left
 * out; the maximum can.
 */
export function foldSeconds(earlier: Second, later: Second): Second {
  const maxUs = Math.max(earlier.maxUs ?? -1, later.maxUs ?? -1);
  return {
    second: earlier.second,
    planned: earlier.planned + later.planned,
    sent: earlier.sent + later.sent,
    completed: earlier.completed + later.completed,
    failed: earlier.failed + later.failed,
    inFlight: later.inFlight,
    openConnections: later.openConnections,
    openConnectionsMax: Math.max(
      earlier.openConnectionsMax ?? earlier.openConnections,
      later.openConnectionsMax ?? later.openConnections,
    ),
    bytesReceived: earlier.bytesReceived + later.bytesReceived,
    ...(maxUs < 0 ? {} : { maxUs }),
    ...(earlier.isWarmup === true && later.isWarmup === true ? { isWarmup: true as const } : {}),
    busyShareMax: Math.max(earlier.busyShareMax, later.busyShareMax),
    ...worseOf(earlier, later),
  };
}
