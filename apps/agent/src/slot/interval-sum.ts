import {
  addCounters,
  addStatusCounts,
  COUNTER,
  type Counters,
  counterOf,
  decodeInterval,
  encodeInterval,
  encodeTotals,
  failedOf,
  GAUGE,
  GAUGE_NAMES,
  HISTOGRAM_NAMES,
  Histogram,
  mergeGauges,
  NO_TIME_US,
  newCounters,
  notSentOf,
  type Shard,
  type ShardAttempt,
  UNKNOWN,
} from '@broadside/shared';
import type { IntervalFrame } from './thread-message.js';

/** How the books of an attempt are closed whose engine died. */
export interface Closing {
  /** A last interval, marked as such, that makes the sums balance; none when the last one had come. */
  readonly frame?: IntervalFrame;
  /** Totals frame over all intervals, the closing one included. */
  readonly totals: Uint8Array;
}

/**
 * The sum of an attempt's intervals as they pass through the agent. Needed only when the engine dies without
 * its own totals: then what it had reported is all that is known, and it must not be lost as well.
 */
export class IntervalSum {
  readonly #counters: Counters = newCounters();
  readonly #statusCounts = new Map<number, number>();
  readonly #histograms = HISTOGRAM_NAMES.map(() => new Histogram());
  #gauges: Float64Array = emptyGauges();
  /** Slices that the gauges cover. */
  #measured = 0;
  #slices = 0;
  #hasLast = false;

  add(frame: IntervalFrame): void {
    const interval = decodeInterval(frame.bytes);
    this.#slices = interval.number + interval.span;
    this.#hasLast = interval.isLast;
    // The warm-up is in no total; what was open at its end the first measured interval counts as taken over.
    if (interval.isWarmup === true) return;
    addCounters(this.#counters, interval.counters);
    addStatusCounts(this.#statusCounts, interval.statusCounts);
    for (const [i, histogram] of this.#histograms.entries()) {
      const more = interval.histograms[i];
      if (more !== undefined) histogram.addSparse(more);
    }
    const { gauges, span } = interval;
    this.#gauges = mergeGauges({ gauges: this.#gauges, span: this.#measured }, { gauges, span });
    this.#measured += span;
  }

  /**
   * Closes the books after the last known interval: what was under way there counts as in flight at the end,
   * what the budget still had counts as not sent. What the engine did after that interval, less than a second
   * of it, is unknown; the shard's fatal error says so.
   */
  close(shard: Shard): Closing {
    const { runId, shardIndex, attempt }: ShardAttempt = shard;
    const head = { runId, shardIndex, attempt };
    if (this.#hasLast) return { totals: this.#totals(head) };
    const counters = this.#closingCounters(shard.requests);
    const gauges = emptyGauges();
    const number = this.#slices;
    const bytes = encodeInterval({
      ...head,
      number,
      span: 1,
      isLast: true,
      counters,
      statusCounts: new Map(),
      gauges,
      histograms: [],
    });
    const frame = { number, span: 1, bytes };
    this.add(frame);
    return { frame, totals: this.#totals(head) };
  }

  #totals(head: ShardAttempt): Uint8Array {
    return encodeTotals({
      ...head,
      intervals: this.#slices,
      counters: this.#counters,
      statusCounts: this.#statusCounts,
      gauges: this.#gauges,
      histograms: this.#histograms.map((histogram) => histogram.toSparse()),
    });
  }

  #closingCounters(requests: number | undefined): Counters {
    const sums = this.#counters;
    const closing = newCounters();
    const open = (name: Parameters<typeof counterOf>[1]): number => counterOf(sums, name);
    closing[COUNTER.inFlightAtEnd] =
      open('sent') - open('completed') - failedOf(sums) - open('inFlightAtEnd');
    const rest = requests === undefined ? 0 : Math.max(requests - open('planned'), 0);
    closing[COUNTER.planned] = rest;
    // What was due and waited for a connection is planned already.
    closing[COUNTER.notSentFatal] = rest + open('planned') - open('sent') - notSentOf(sums);
    closing[COUNTER.connectionsFailed] =
      open('connectionsAsked') - open('connectionsOpened') - open('connectionsFailed');
    // The kernel closes the connections of a thread that is gone: from our side.
    closing[COUNTER.connectionsClosedByUs] =
      open('connectionsOpened') -
      open('connectionsClosedByUs') -
      open('connectionsClosedAnnounced') -
      open('connectionsClosedUnannounced') -
      open('connectionsClosedIdle');
    return closing.map((value) => Math.max(value, 0));
  }
}

/** Nothing in flight, nothing open, no event yet, nothing known of the thread. */
function emptyGauges(): Float64Array {
  const gauges = new Float64Array(GAUGE_NAMES.length);
  for (const name of ['firstSendUs', 'lastEventUs'] as const) gauges[GAUGE[name]] = NO_TIME_US;
  const unknown = ['runDelayUs', 'stealShare', 'involuntarySwitches', 'gcPauseUs', 'descriptors'] as const;
  for (const name of unknown) gauges[GAUGE[name]] = UNKNOWN;
  return gauges;
}
