import { COUNTER } from '@broadside/shared/engine';
import type { Connection } from '../connection.js';
import type { Deadlines } from '../deadlines.js';
import type { IntervalClock } from '../recorder/interval-clock.js';
import type { Recorder } from '../recorder/recorder.js';
import type { Transport } from '../transport/transport.js';
import type { Ending } from './ending.js';
import { Flights, RETRIED, WARMUP } from './flights.js';
import { Outcomes } from './outcomes.js';
import { requestBatches } from './request-batches.js';
import type { RequestSource } from './request-source.js';

/** Index tables as plain numbers: looking a name up in an object costs more than the addition it is for. */
const { sent: SENT, inFlightAtEnd: IN_FLIGHT_AT_END, retried: RETRIES, bytesSent: BYTES_SENT } = COUNTER;

export interface RequestsOptions {
  readonly connections: number;
  /** Most requests in flight on one connection. */
  readonly depth: number;
  readonly requestBytes: Uint8Array;
  readonly timeoutUs: number;
  readonly failOnStatus: boolean;
  readonly isWarmup: boolean;
  readonly source: RequestSource;
  readonly transport: Transport;
  readonly recorder: Recorder;
  readonly intervals: IntervalClock;
  readonly deadlines: Deadlines;
  /** The probe has its outcome. @param failure `NO_FAILURE` or a failure class. */
  readonly onProbeSettled: (failure: number, tookUs: number, errno: number) => void;
}

/** The requests of a load from the moment they are taken up until they have their one outcome. */
export class Requests {
  inFlight = 0;
  /** Of these, sent in a warm-up that is over: their bytes are in no number any more. */
  lateWarmups = 0;
  isProbing = false;
  /** Something was due that no connection was free for. */
  isStarved = false;
  readonly outcomes: Outcomes;
  readonly #options: RequestsOptions;
  readonly #source: RequestSource;
  readonly #transport: Transport;
  readonly #recorder: Recorder;
  readonly #intervals: IntervalClock;
  readonly #deadlines: Deadlines;
  readonly #flights: Flights;
  readonly #batches: readonly Uint8Array[];
  readonly #depth: number;
  readonly #requestLength: number;
  readonly #timeoutUs: number;
  readonly #isPaced: boolean;

  constructor(options: RequestsOptions) {
    const { connections, depth, source, recorder, failOnStatus, requestBytes } = options;
    this.#options = options;
    this.#source = source;
    this.#transport = options.transport;
    this.#recorder = recorder;
    this.#intervals = options.intervals;
    this.#deadlines = options.deadlines;
    this.#depth = depth;
    this.#timeoutUs = options.timeoutUs;
    this.#isPaced = source.isPaced;
    this.#flights = new Flights(connections, depth);
    this.outcomes = new Outcomes({ flights: this.#flights, recorder, failOnStatus, isPaced: source.isPaced });
    this.outcomes.isWarmup = options.isWarmup;
    this.#batches = requestBatches(requestBytes, depth);
    this.#requestLength = requestBytes.length;
  }

  /** Takes up the probe. @returns false when the budget is 0. */
  takeProbe(index: number, connection: Connection, nowUs: number): boolean {
    if (!this.#source.takeProbe(nowUs)) return false;
    this.isProbing = true;
    this.#takeUp(index, connection, nowUs, nowUs);
    return true;
  }

  /** Takes up a request that is due. @returns false when there is none. */
  take(index: number, connection: Connection, nowUs: number): boolean {
    const plannedUs = this.#source.take(nowUs, this.isStarved);
    if (plannedUs < 0) return false;
    this.#takeUp(index, connection, nowUs, plannedUs);
    return true;
  }

  /** Takes up what is due as long as the pipeline has room. @returns how many. */
  fill(index: number, connection: Connection, nowUs: number): number {
    let taken = 0;
    while (connection.inFlight < this.#depth && this.take(index, connection, nowUs)) taken++;
    return taken;
  }

  /** The warm-up is over; what it has left in flight is not measured. */
  endWarmup(): void {
    this.outcomes.isWarmup = false;
    this.lateWarmups = this.inFlight;
  }

  /** Whether the request whose reply comes next is in the numbers. */
  countsNext(index: number, connection: Connection): boolean {
    return this.lateWarmups === 0 || this.outcomes.counts(this.#flights.placeOf(index, connection, 0));
  }

  /** Writes what was taken up while the connection was being opened. */
  writeAll(index: number, connection: Connection): void {
    const { inFlight } = connection;
    let counted = inFlight;
    if (this.lateWarmups > 0) {
      for (let n = 0; n < inFlight; n++) {
        if (!this.outcomes.counts(this.#flights.placeOf(index, connection, n))) counted--;
      }
    }
    this.write(index, inFlight, counted);
  }

  /** Writes so many requests, as few times as possible. @param counted how many of them are in the numbers. */
  write(index: number, requests: number, counted: number = requests): void {
    this.#recorder.count(BYTES_SENT, counted * this.#requestLength);
    const largest = this.#batches.length;
    for (let left = requests; left > 0; left -= largest) {
      const batch = this.#batches[Math.min(left, largest) - 1];
      if (batch !== undefined) this.#transport.send(index, batch);
    }
  }

  /** When the request whose reply comes next was taken up. */
  startUsOf(index: number, connection: Connection): number {
    return this.#flights.startUs[this.#flights.placeOf(index, connection, 0)] ?? 0;
  }

  setDeadline(index: number, atUs: number): void {
    if (this.#deadlines.set(index, atUs)) this.#transport.wake();
  }

  /** The first one must have its reply within the timeout. */
  expectReply(index: number, connection: Connection): void {
    this.setDeadline(index, this.startUsOf(index, connection) + this.#timeoutUs);
  }

  /** The reply that the parser holds is complete. @returns whether the request is in the numbers. */
  complete(index: number, connection: Connection, nowUs: number): boolean {
    const place = this.#flights.placeOf(index, connection, 0);
    const failure = this.outcomes.recordReply(connection, place, nowUs);
    const counts = this.outcomes.counts(place);
    this.#settle(place, failure, nowUs, 0);
    this.#flights.shift(connection);
    return counts;
  }

  /** All requests of a connection end, but for those that are sent once more: they stay in flight on it. */
  endAll(index: number, connection: Connection, nowUs: number, ending: Ending): void {
    const flights = this.#flights;
    const count = connection.inFlight;
    let kept = 0;
    for (let n = 0; n < count; n++) {
      const place = flights.placeOf(index, connection, n);
      const flags = flights.flags[place] ?? 0;
      const mayRetry = n === 0 ? ending.retriesFirst : ending.retriesOthers;
      if (mayRetry && (flags & RETRIED) === 0) {
        flights.flags[place] = flags | RETRIED;
        if (this.outcomes.counts(place)) this.#recorder.count(RETRIES, 1);
        flights.move(place, flights.placeOf(index, connection, kept++));
      } else {
        const failure = n === 0 ? ending.first : ending.others;
        this.#settle(place, failure, nowUs, ending.errno);
      }
    }
    connection.inFlight = kept;
  }

  /** The load is over: the requests of a connection have no outcome. */
  abandon(index: number, connection: Connection): void {
    for (let n = 0; n < connection.inFlight; n++) {
      const place = this.#flights.placeOf(index, connection, n);
      if (this.outcomes.counts(place)) this.#recorder.count(IN_FLIGHT_AT_END, 1);
    }
    this.inFlight -= connection.inFlight;
    connection.inFlight = 0;
  }

  #takeUp(index: number, connection: Connection, nowUs: number, plannedUs: number): void {
    this.#recorder.count(SENT, 1);
    this.inFlight++;
    this.#intervals.noteSend(nowUs);
    const flights = this.#flights;
    const place = flights.add(index, connection);
    flights.startUs[place] = nowUs;
    flights.flags[place] = this.outcomes.isWarmup ? WARMUP : 0;
    if (this.#isPaced) flights.plannedUs[place] = plannedUs;
    if (connection.inFlight === 1) this.setDeadline(index, nowUs + this.#timeoutUs);
  }

  #settle(place: number, failure: number, nowUs: number, errno: number): void {
    this.inFlight--;
    if (this.lateWarmups > 0 && !this.outcomes.counts(place)) this.lateWarmups--;
    this.outcomes.book(place, failure);
    if (this.isProbing) {
      this.isProbing = false;
      this.#options.onProbeSettled(failure, nowUs - (this.#flights.startUs[place] ?? 0), errno);
    } else if (this.inFlight === 0 && this.#source.nextUs === Number.POSITIVE_INFINITY)
      this.#transport.wake();
  }
}
