import { addCounters, type Counters, newCounters } from './counters.js';
import { Histogram, type SparseHistogram } from './histogram.js';

/**
 * The latencies that are recorded, each in its own histogram, in µs.
 * A request's time starts before `connect()` on a new connection, and when it is handed to the socket on a
 * reused one. First requests on a connection are kept apart from reused ones, so that `total` is
 * `fresh` + `reused` and processing (total minus connect) is `freshProcessing` + `reused`.
 */
export const HISTOGRAM_NAMES = [
  /** Start until the request is about to be written; new connections only. */
  'connect',
  /** Request written until the first byte of the reply. */
  'wait',
  /** Start until the reply is complete, on a reused connection. */
  'reused',
  /** The same for the first request of a connection, connecting included. */
  'fresh',
  /** The same without connecting. */
  'freshProcessing',
  /** Planned time until the reply is complete: what a user of the schedule would have seen. Paced loads only. */
  'corrected',
  /** Planned time until the real send, or the attempt to connect for it. Paced loads only. */
  'sendLag',
  /** No times: complete replies that a connection had carried when it was closed, by who closed it. */
  'servedClosedByUs',
  'servedClosedAnnounced',
  'servedClosedUnannounced',
  'servedClosedIdle',
  /** TCP or tunnel open until the TLS handshake is done; new connections to https targets only. */
  'tls',
] as const;
export type HistogramName = (typeof HISTOGRAM_NAMES)[number];
export const HISTOGRAM: Readonly<Record<HistogramName, number>> = Object.freeze(
  Object.fromEntries(HISTOGRAM_NAMES.map((name, index) => [name, index])) as Record<HistogramName, number>,
);

/** Readings at the end of the interval, or over it. Not additive: each has its rule in `GAUGE_MERGE`. */
export const GAUGE_NAMES = [
  /** Requests in flight at the end of the interval. */
  'inFlight',
  /** Connections open at the end of the interval. */
  'openConnections',
  /** Share of the interval that the engine thread was busy: 0 … 1. */
  'busyShare',
  /** CPU time of the engine thread in the interval, in µs. */
  'cpuUs',
  /** Largest delay between planned and real send, in µs. */
  'sendLagMaxUs',
  /**
   * Time of the first send and of the last event, in µs after the start instant; −1 (`NO_TIME_US`) when there
   * was none. The probe comes before the start instant: it counts as if its reply had ended at that instant,
   * so its first send is minus its duration, and the pause that follows it is in nobody's time.
   */
  'firstSendUs',
  'lastEventUs',
  /** Time that the readings of the thread cover, in µs: what shares of them are taken of. */
  'elapsedUs',
  /** Time in which the thread was ready to run and had no CPU, in µs; −1 (`UNKNOWN`) where nobody tells. */
  'runDelayUs',
  /** Share of the machine's CPU time that its hypervisor gave to others: 0 … 1; −1 where nobody tells. */
  'stealShare',
  /** How often the thread lost its CPU although it had more to do; −1 where nobody tells. */
  'involuntarySwitches',
  /** Pauses of the thread for garbage collection, in µs; −1 where nobody tells. */
  'gcPauseUs',
  /** Open file descriptors of the whole process at the end of the interval; −1 where nobody tells. */
  'descriptors',
  /** Most connections that were open at one instant of the interval. */
  'openConnectionsMax',
] as const;
export type GaugeName = (typeof GAUGE_NAMES)[number];
export const GAUGE: Readonly<Record<GaugeName, number>> = Object.freeze(
  Object.fromEntries(GAUGE_NAMES.map((name, index) => [name, index])) as Record<GaugeName, number>,
);

/** Value of `firstSendUs` and `lastEventUs` where nothing was sent, or nothing happened. */
export const NO_TIME_US = -1;

/** Value of a gauge that the platform does not tell. */
export const UNKNOWN = -1;

/** What one shard attempt saw, over an interval or in total. */
export interface Observations {
  /** In the order of `COUNTER_NAMES`. */
  readonly counters: Counters;
  /** How many complete replies had each status code. */
  readonly statusCounts: ReadonlyMap<number, number>;
  /** In the order of `HISTOGRAM_NAMES`. */
  readonly histograms: readonly SparseHistogram[];
  /** In the order of `GAUGE_NAMES`. */
  readonly gauges: Float64Array;
}

/** Names one attempt at one shard of one run. */
export interface ShardAttempt {
  readonly runId: string;
  /** 0-based. */
  readonly shardIndex: number;
  /** 1 for the first attempt. */
  readonly attempt: number;
}

/** A numbered slice of run time: what ended in it. */
export interface Interval extends ShardAttempt, Observations {
  /** 0-based number of the first slice covered. */
  readonly number: number;
  /** How many slices are merged into this one; 1 unless an outbox ran over. */
  readonly span: number;
  /** True for the last interval of the attempt. */
  readonly isLast: boolean;
  /** True for a slice of the warm-up: shown, and part of no total. */
  readonly isWarmup?: boolean;
}

/** The shard's own sums, kept apart from its intervals so that the two can be compared. */
export interface ShardTotals extends ShardAttempt, Observations {
  /** How many slices the attempt had. */
  readonly intervals: number;
}

export function shardAttemptKey(attempt: ShardAttempt): string {
  return `${attempt.runId}.${attempt.shardIndex}.${attempt.attempt}`;
}

type GaugeMerge =
  | 'last'
  | 'sum'
  | 'max'
  | 'mean'
  | 'first'
  | 'latest'
  | 'knownSum'
  | 'knownMax'
  | 'knownMean';

/**
 * How a gauge of two neighbouring intervals of one shard becomes one: `last` keeps the later reading,
 * `sum` adds, `max` and `mean` as they say; `first` and `latest` pass over −1, and so do the `known` ones.
 */
const GAUGE_MERGE: Readonly<Record<GaugeName, GaugeMerge>> = {
  inFlight: 'last',
  openConnections: 'last',
  busyShare: 'mean',
  cpuUs: 'sum',
  sendLagMaxUs: 'max',
  firstSendUs: 'first',
  lastEventUs: 'latest',
  elapsedUs: 'sum',
  runDelayUs: 'knownSum',
  stealShare: 'knownMean',
  involuntarySwitches: 'knownSum',
  gcPauseUs: 'knownSum',
  descriptors: 'knownMax',
  openConnectionsMax: 'max',
};

/** Merges an interval with the one that follows it, both or neither of the warm-up: coarser time, same counts. */
export function mergeNeighbours(earlier: Interval, later: Interval): Interval {
  const counters = newCounters();
  addCounters(counters, earlier.counters);
  addCounters(counters, later.counters);
  const statusCounts = new Map(earlier.statusCounts);
  addStatusCounts(statusCounts, later.statusCounts);
  const span = later.number + later.span - earlier.number;
  return {
    runId: earlier.runId,
    shardIndex: earlier.shardIndex,
    attempt: earlier.attempt,
    number: earlier.number,
    span,
    isLast: later.isLast,
    ...(earlier.isWarmup === true ? { isWarmup: true } : {}),
    counters,
    statusCounts,
    histograms: HISTOGRAM_NAMES.map((_, i) =>
      Histogram.from(
        ...[earlier.histograms[i], later.histograms[i]].filter((h) => h !== undefined),
      ).toSparse(),
    ),
    gauges: mergeGauges(earlier, later),
  };
}

/** Readings over some slices. */
export interface SpannedGauges {
  readonly gauges: Float64Array;
  /** How many slices they cover; 0 for none yet. */
  readonly span: number;
}

/** The gauges of two successive stretches of one shard, by the rules of `GAUGE_MERGE`. */
export function mergeGauges(earlier: SpannedGauges, later: SpannedGauges): Float64Array {
  return Float64Array.from(GAUGE_NAMES, (name, i) =>
    mergeGauge(
      name,
      { value: earlier.gauges[i] ?? 0, span: earlier.span },
      { value: later.gauges[i] ?? 0, span: later.span },
    ),
  );
}

interface SpannedGauge {
  readonly value: number;
  readonly span: number;
}

function mergeGauge(name: GaugeName, earlier: SpannedGauge, later: SpannedGauge): number {
  switch (GAUGE_MERGE[name]) {
    case 'last':
      return later.value;
    case 'sum':
      return earlier.value + later.value;
    case 'max':
      return Math.max(earlier.value, later.value);
    case 'first':
      return earlier.value === NO_TIME_US ? later.value : earlier.value;
    case 'latest':
      return later.value === NO_TIME_US ? earlier.value : later.value;
    case 'mean':
      return meanOf(earlier, later);
    case 'knownSum':
    case 'knownMax':
    case 'knownMean':
      return mergeKnown(GAUGE_MERGE[name], earlier, later);
  }
}

/** As `sum`, `max` and `mean`, where one side, or both, may not be known. */
function mergeKnown(
  merge: 'knownSum' | 'knownMax' | 'knownMean',
  earlier: SpannedGauge,
  later: SpannedGauge,
): number {
  if (earlier.span === 0 || earlier.value === UNKNOWN) return later.value;
  if (later.span === 0 || later.value === UNKNOWN) return earlier.value;
  if (merge === 'knownSum') return earlier.value + later.value;
  if (merge === 'knownMax') return Math.max(earlier.value, later.value);
  return meanOf(earlier, later);
}

function meanOf(earlier: SpannedGauge, later: SpannedGauge): number {
  return (earlier.value * earlier.span + later.value * later.span) / (earlier.span + later.span);
}

export function addStatusCounts(into: Map<number, number>, more: ReadonlyMap<number, number>): void {
  for (const [code, count] of more) into.set(code, (into.get(code) ?? 0) + count);
}

/** A gauge that the platform may not tell: undefined then. */
export function knownGaugeOf(observations: Observations, name: GaugeName): number | undefined {
  const value = gaugeOf(observations, name);
  return value === UNKNOWN ? undefined : value;
}

export function gaugeOf(observations: Observations, name: GaugeName): number {
  return observations.gauges[GAUGE[name]] ?? 0;
}

/**
 * The interval on the time of the run, where its attempt began `slices` later than the run: number and times
 * move, counts and bins stay.
 */
export function shiftInterval(interval: Interval, slices: number, intervalMs: number): Interval {
  if (slices === 0) return interval;
  const gauges = interval.gauges.slice();
  for (const name of ['firstSendUs', 'lastEventUs'] as const) {
    const atUs = gauges[GAUGE[name]] ?? NO_TIME_US;
    if (atUs !== NO_TIME_US) gauges[GAUGE[name]] = atUs + slices * intervalMs * 1_000;
  }
  return { ...interval, number: interval.number + slices, gauges };
}
