// What simulated agents say that their shards saw: a paced load of REQUESTS_PER_SECOND with log-normal latencies and
// a slow tail, so that a frame has about as many buckets as one of a real engine. Made once, sent many times: the
// sums are known exactly without a histogram for each of thousands of shards.
import {
  COUNTER,
  GAUGE,
  GAUGE_NAMES,
  HISTOGRAM_NAMES,
  Histogram,
  newCounters,
  RunTotals,
} from '@broadside/shared';

/**
 * @typedef {import('@broadside/shared').Observations} Observations
 * @typedef {import('@broadside/shared').ShardAttempt} ShardAttempt
 * @typedef {import('@broadside/shared').Interval} Interval
 */

export const REQUESTS_PER_SECOND = 1_000;
/** Different seconds; which of them a shard sends depends on its index and the interval's number. */
export const VARIANTS = 32;

const MEDIAN_US = 2_000;
const SIGMA = 0.5;
const SLOW_SHARE = 0.01;
const SLOW_FACTOR = 10;
const LAG_US = 40;
const REPLY_BYTES = 350;

export class MadeUpLoad {
  /** @type {readonly Observations[]} */
  #variants;
  /** @type {Map<string, Observations>} */
  #totals = new Map();
  #connections;

  /**
   * @param {number} seed of all latencies
   * @param {number} connections of each shard, opened in its first interval and closed in its last
   */
  constructor(seed, connections) {
    const random = seeded(seed);
    this.#variants = Array.from({ length: VARIANTS }, () => oneSecond(random));
    this.#connections = connections;
  }

  /**
   * Interval `number` of a shard that has `count` of them.
   * @param {ShardAttempt} shard
   * @param {{ number: number, count: number }} place
   * @returns {Interval}
   */
  interval(shard, { number, count }) {
    const seen = this.#seen(shard.shardIndex, number, count);
    const gauges = seen.gauges.slice();
    gauges[GAUGE.firstSendUs] = number * 1_000_000 + 100;
    gauges[GAUGE.lastEventUs] = (number + 1) * 1_000_000 - 100;
    const { runId, shardIndex, attempt } = shard;
    return { runId, shardIndex, attempt, number, span: 1, isLast: number === count - 1, ...seen, gauges };
  }

  /**
   * The sum of all intervals of a shard. Shards that sent the same seconds share it.
   * @param {number} shardIndex
   * @param {number} count of intervals
   * @returns {Observations}
   */
  totals(shardIndex, count) {
    const key = `${shardIndex % VARIANTS}.${count}`;
    const known = this.#totals.get(key);
    if (known !== undefined) return known;
    const sum = new RunTotals();
    for (let number = 0; number < count; number++) sum.add(this.#seen(shardIndex, number, count));
    const gauges = new Float64Array(GAUGE_NAMES.length);
    gauges[GAUGE.firstSendUs] = 100;
    gauges[GAUGE.lastEventUs] = count * 1_000_000 - 100;
    gauges[GAUGE.cpuUs] = sum.cpuUs;
    gauges[GAUGE.elapsedUs] = count * 1_000_000;
    const { counters, statusCounts } = sum;
    const histograms = sum.histograms.map((histogram) => histogram.toSparse());
    const totals = { counters, statusCounts, histograms, gauges };
    this.#totals.set(key, totals);
    return totals;
  }

  /**
   * @param {number} shardIndex
   * @param {number} number
   * @param {number} count
   * @returns {Observations}
   */
  #seen(shardIndex, number, count) {
    const variant = this.#variants[(shardIndex + number) % VARIANTS];
    if (variant === undefined) throw new RangeError('no such variant');
    if (number > 0 && number < count - 1) return variant;
    const counters = variant.counters.slice();
    if (number === 0) counters[COUNTER.connectionsAsked] = this.#connections;
    if (number === 0) counters[COUNTER.connectionsOpened] = this.#connections;
    if (number === count - 1) counters[COUNTER.connectionsClosedByUs] = this.#connections;
    return { ...variant, counters };
  }
}

/**
 * @param {() => number} random
 * @returns {Observations}
 */
function oneSecond(random) {
  /** @type {Partial<Record<import('@broadside/shared').HistogramName, Histogram>>} */
  const recorded = {
    wait: new Histogram(),
    reused: new Histogram(),
    corrected: new Histogram(),
    sendLag: new Histogram(),
  };
  for (let i = 0; i < REQUESTS_PER_SECOND; i++) {
    const isSlow = random() < SLOW_SHARE;
    const totalUs = MEDIAN_US * Math.exp(SIGMA * normal(random)) * (isSlow ? SLOW_FACTOR : 1);
    const lagUs = -LAG_US * Math.log(1 - random());
    recorded.wait?.record(totalUs * 0.97);
    recorded.reused?.record(totalUs);
    recorded.corrected?.record(totalUs + lagUs);
    recorded.sendLag?.record(lagUs);
  }
  const counters = newCounters();
  for (const name of /** @type {const} */ (['planned', 'sent', 'completed', 'keepAliveReplies'])) {
    counters[COUNTER[name]] = REQUESTS_PER_SECOND;
  }
  counters[COUNTER.bytesReceived] = REQUESTS_PER_SECOND * REPLY_BYTES;
  counters[COUNTER.bytesSent] = REQUESTS_PER_SECOND * 80;
  const gauges = new Float64Array(GAUGE_NAMES.length);
  gauges[GAUGE.busyShare] = 0.2;
  gauges[GAUGE.cpuUs] = 200_000;
  gauges[GAUGE.elapsedUs] = 1_000_000;
  return {
    counters,
    statusCounts: new Map([[200, REQUESTS_PER_SECOND]]),
    histograms: HISTOGRAM_NAMES.map((name) => (recorded[name] ?? new Histogram()).toSparse()),
    gauges,
  };
}

/** @param {() => number} random */
function normal(random) {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/**
 * mulberry32: enough for made-up latencies.
 * @param {number} seed
 */
function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
