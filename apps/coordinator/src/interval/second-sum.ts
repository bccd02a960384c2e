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
} from '@broadside/shared';

/** Sum of what all shards saw in one slice of run time; also of several neighbouring slices. Pure. */
export class SecondSum {
  readonly #counters = newCounters();
  #latency: Histogram | undefined;
  #inFlight = 0;
  #openConnections = 0;
  #busyShareMax = 0;

  add(interval: Interval): void {
    addCounters(this.#counters, interval.counters);
    this.#inFlight += gaugeOf(interval, 'inFlight');
    this.#openConnections += gaugeOf(interval, 'openConnections');
    this.#busyShareMax = Math.max(this.#busyShareMax, gaugeOf(interval, 'busyShare'));
    for (const name of ['fresh', 'reused'] as const) {
      const more = interval.histograms[HISTOGRAM[name]];
      if (more === undefined || more.counts.length === 0) continue;
      this.#latency ??= new Histogram();
      this.#latency.addSparse(more);
    }
  }

  /** Adds the slice that follows: counts add up, readings are the later ones. */
  addFollowing(later: SecondSum): void {
    addCounters(this.#counters, later.#counters);
    this.#inFlight = later.#inFlight;
    this.#openConnections = later.#openConnections;
    this.#busyShareMax = Math.max(this.#busyShareMax, later.#busyShareMax);
    if (later.#latency === undefined) return;
    this.#latency ??= new Histogram();
    this.#latency.add(later.#latency);
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
      bytesReceived: counterOf(this.#counters, 'bytesReceived'),
      ...(this.#latency === undefined
        ? {}
        : {
            p50Us: this.#latency.percentileUs(50),
            p99Us: this.#latency.percentileUs(99),
            maxUs: this.#latency.maxUs,
          }),
      busyShareMax: this.#busyShareMax,
    };
  }
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
    bytesReceived: earlier.bytesReceived + later.bytesReceived,
    ...(maxUs < 0 ? {} : { maxUs }),
    busyShareMax: Math.max(earlier.busyShareMax, later.busyShareMax),
  };
}
