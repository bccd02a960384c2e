import {
  addCounters,
  addStatusCounts,
  type Counters,
  FIRST_FAILURE,
  GAUGE,
  GAUGE_NAMES,
  HISTOGRAM,
  HISTOGRAM_NAMES,
  Histogram,
  type HistogramName,
  mergeGauges,
  newCounters,
  type Observations,
} from '@broadside/shared/engine';
import { LiveHistogram } from './live-histogram.js';

/** Status codes are 100 … 599; the parser lets no others through. */
const STATUS_CODES = 600;

/**
 * Collects what happens in the current interval. `take` copies the non-empty parts out and clears them, so
 * that memory is bounded by one interval whatever the run's length. The running totals are added up here, on
 * this side of every queue and socket: what is lost or doubled on the way shows when they are compared.
 */
export class Recorder implements Readonly<Record<HistogramName, LiveHistogram>> {
  readonly connect = new LiveHistogram();
  readonly wait = new LiveHistogram();
  readonly reused = new LiveHistogram();
  readonly fresh = new LiveHistogram();
  readonly freshProcessing = new LiveHistogram();
  readonly corrected = new LiveHistogram();
  readonly sendLag = new LiveHistogram();
  readonly servedClosedByUs = new LiveHistogram();
  readonly servedClosedAnnounced = new LiveHistogram();
  readonly servedClosedUnannounced = new LiveHistogram();
  readonly servedClosedIdle = new LiveHistogram();
  readonly tls = new LiveHistogram();

  readonly #counters: Counters = newCounters();
  readonly #statusCounts = new Uint32Array(STATUS_CODES);
  readonly #totalCounters: Counters = newCounters();
  readonly #totalStatusCounts = new Map<number, number>();
  readonly #totalHistograms = HISTOGRAM_NAMES.map(() => new Histogram());
  #totalGauges: Float64Array = new Float64Array(GAUGE_NAMES.length);
  #takes = 0;
  #open = 0;
  #openMax = 0;

  /** @param counter position in `COUNTER_NAMES`. */
  count(counter: number, amount: number): void {
    this.#counters[counter] = (this.#counters[counter] ?? 0) + amount;
  }

  /** @param failure position in `FAILURE_CLASSES`. */
  countFailure(failure: number): void {
    this.count(FIRST_FAILURE + failure, 1);
  }

  /** So many connections are open from now on. */
  noteOpen(connections: number): void {
    this.#open = connections;
    if (connections > this.#openMax) this.#openMax = connections;
  }

  countStatus(status: number): void {
    this.#statusCounts[status] = (this.#statusCounts[status] ?? 0) + 1;
  }

  /**
   * Ends the interval.
   * @param gauges readings in the order of `GAUGE_NAMES`; kept, so give a fresh array.
   * @param isWarmup whether the totals pass over it.
   */
  take(gauges: Float64Array, isWarmup = false): Observations {
    const counters = this.#counters.slice();
    this.#counters.fill(0);
    const histograms = HISTOGRAM_NAMES.map((name) => this[name].take());
    gauges[GAUGE.sendLagMaxUs] = Math.max(histograms[HISTOGRAM.sendLag]?.maxUs ?? 0, 0);
    gauges[GAUGE.openConnectionsMax] = this.#openMax;
    this.#openMax = this.#open;
    const statusCounts = new Map<number, number>();
    for (let status = 0; status < STATUS_CODES; status++) {
      const count = this.#statusCounts[status] ?? 0;
      if (count > 0) statusCounts.set(status, count);
    }
    this.#statusCounts.fill(0);
    const taken = { counters, statusCounts, histograms, gauges };
    if (!isWarmup) this.#addToTotals(taken);
    return taken;
  }

  /** Sums of everything taken so far; gauges are merged over the intervals as each one's meaning asks. */
  totals(): Observations {
    return {
      counters: this.#totalCounters.slice(),
      statusCounts: new Map(this.#totalStatusCounts),
      histograms: this.#totalHistograms.map((histogram) => histogram.toSparse()),
      gauges: this.#totalGauges.slice(),
    };
  }

  #addToTotals(taken: Observations): void {
    addCounters(this.#totalCounters, taken.counters);
    addStatusCounts(this.#totalStatusCounts, taken.statusCounts);
    for (const [i, histogram] of taken.histograms.entries()) this.#totalHistograms[i]?.addSparse(histogram);
    const span = this.#takes++;
    const isFirst = span === 0;
    const more = { gauges: taken.gauges, span: 1 };
    this.#totalGauges = isFirst
      ? taken.gauges.slice()
      : mergeGauges({ gauges: this.#totalGauges, span }, more);
  }
}
