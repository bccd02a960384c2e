import { FAILURE_CLASSES, type FailureClass } from './failure-class.js';

/** Counters that are not failure classes. All are non-negative integers; merging is addition. */
const PLAIN_COUNTERS = [
  /** Requests the plan wanted in this interval: `sent`, every kind of `notSent`, and what waits to be sent. */
  'planned',
  /** Not sent because the duration was over. */
  'notSentTimeOver',
  /** Due by the schedule, and given up because no connection became free: at the end, or within the timeout. */
  'notSentNoConnection',
  /** Not sent because somebody stopped the run. */
  'notSentStopped',
  /** Not sent because a fatal error ended the shard. */
  'notSentFatal',
  /** Taken up: handed to a connection, or to an attempt to open one. */
  'sent',
  /** Of those that were sent: due by the schedule while all connections were busy, and sent when one was free. */
  'waitedForConnection',
  /** Sent a second time because a reused connection was closed without a reply; counted once in `sent`. */
  'retried',
  /** Complete replies that count as success. */
  'completed',
  /** Taken up and without outcome when the load ended. */
  'inFlightAtEnd',
  /** Complete replies, whether success or failure, whose status is not 2xx. */
  'non2xx',
  /** Complete replies after which the connection was kept. */
  'keepAliveReplies',
  /** Complete replies with bytes behind them, at once or later, that answer no request: the connection was given up. */
  'repliesWithSurplus',
  'connectionsAsked',
  'connectionsOpened',
  'connectionsFailed',
  'connectionsClosedByUs',
  /** Of those closed by us: the target had said or implied that it would close, and did not do so in time. */
  'connectionsLeftToUs',
  /** Closed by the target: said so in the last reply / in mid-request without a word / while idle. */
  'connectionsClosedAnnounced',
  'connectionsClosedUnannounced',
  'connectionsClosedIdle',
  /** Bytes received on the wire, and the part of them that was body (chunked framing removed). */
  'bytesReceived',
  'bodyBytesReceived',
  'bytesSent',
] as const;

export type PlainCounter = (typeof PLAIN_COUNTERS)[number];
export type CounterName = PlainCounter | FailureClass;

/** Names of all counters, in the order of the array and of the wire. The failure classes come last. */
export const COUNTER_NAMES: readonly CounterName[] = [...PLAIN_COUNTERS, ...FAILURE_CLASSES];

/** Counters that frames and reports of before a protocol version do not have. */
const ADDED_IN: Partial<Record<CounterName, number>> = { repliesWithSurplus: 2, connectionsLeftToUs: 2 };

/** The counters of an earlier protocol version, in the order of its wire. */
export function countersOfVersion(version: number): readonly CounterName[] {
  return COUNTER_NAMES.filter((name) => (ADDED_IN[name] ?? 0) <= version);
}

/** Position of the first failure class: `FIRST_FAILURE + FAILURE.timeout` is the counter of timeouts. */
export const FIRST_FAILURE: number = PLAIN_COUNTERS.length;

/** Position of each counter in a `Counters` array. */
export const COUNTER: Readonly<Record<CounterName, number>> = Object.freeze(
  Object.fromEntries(COUNTER_NAMES.map((name, index) => [name, index])) as Record<CounterName, number>,
);

/** One number for each of `COUNTER_NAMES`: doubles, exact up to 2^53. */
export type Counters = Float64Array;

export function newCounters(): Counters {
  return new Float64Array(COUNTER_NAMES.length);
}

export function addCounters(into: Counters, more: Counters): void {
  for (let i = 0; i < into.length; i++) into[i] = (into[i] ?? 0) + (more[i] ?? 0);
}

/** Value of one counter by name. */
export function counterOf(counters: Counters, name: CounterName): number {
  return counters[COUNTER[name]] ?? 0;
}

/** Sum of all failure classes. */
export function failedOf(counters: Counters): number {
  let sum = 0;
  for (let i = FIRST_FAILURE; i < counters.length; i++) sum += counters[i] ?? 0;
  return sum;
}

/** Requests that were planned and not sent, for whatever reason. */
export function notSentOf(counters: Counters): number {
  return (
    counterOf(counters, 'notSentTimeOver') +
    counterOf(counters, 'notSentNoConnection') +
    counterOf(counters, 'notSentStopped') +
    counterOf(counters, 'notSentFatal')
  );
}

export type CounterRecord = Record<CounterName, number>;

export function countersToRecord(counters: Counters): CounterRecord {
  return Object.fromEntries(COUNTER_NAMES.map((name) => [name, counterOf(counters, name)])) as CounterRecord;
}

export function countersFromRecord(record: CounterRecord): Counters {
  return Float64Array.from(COUNTER_NAMES, (name) => record[name]);
}
