import { COUNTER, FAILURE } from '@broadside/shared/engine';
import type { Connection } from '../connection.js';
import type { Recorder } from '../recorder/recorder.js';
import { type Flights, WARMUP } from './flights.js';

export const NO_FAILURE = -1;

/** Index tables as plain numbers: looking a name up in an object costs more than the addition it is for. */
const { completed: COMPLETED, non2xx: NON_2XX, bodyBytesReceived: BODY_BYTES_RECEIVED } = COUNTER;

export interface OutcomesOptions {
  readonly flights: Flights;
  readonly recorder: Recorder;
  readonly failOnStatus: boolean;
  readonly isPaced: boolean;
}

/**
 * Books what became of requests. Those that were sent in the warm-up count as long as it lasts, in its own
 * intervals; what becomes of them later is in no number.
 */
export class Outcomes {
  /** Body length that replies must have; −1: any. */
  referenceBytes = -1;
  isWarmup = false;
  readonly #flights: Flights;
  readonly #recorder: Recorder;
  readonly #failOnStatus: boolean;
  readonly #isPaced: boolean;

  constructor(options: OutcomesOptions) {
    this.#flights = options.flights;
    this.#recorder = options.recorder;
    this.#failOnStatus = options.failOnStatus;
    this.#isPaced = options.isPaced;
  }

  /** Whether the request in this place is in the numbers. */
  counts(place: number): boolean {
    return this.isWarmup || ((this.#flights.flags[place] ?? 0) & WARMUP) === 0;
  }

  /** Books a complete reply: latencies, status, body. @returns its failure class, or `NO_FAILURE`. */
  recordReply(connection: Connection, place: number, nowUs: number): number {
    const isFirst = connection.replies++ === 0;
    const { status, bodyBytes } = connection.parser;
    const isSuccess = status >= 200 && status < 300;
    if (this.counts(place)) {
      this.#recordTimes(connection, place, nowUs, isFirst);
      const recorder = this.#recorder;
      recorder.countStatus(status);
      recorder.count(BODY_BYTES_RECEIVED, bodyBytes);
      if (!isSuccess) recorder.count(NON_2XX, 1);
    }
    if (!isSuccess && this.#failOnStatus) return FAILURE.status;
    const { referenceBytes } = this;
    return referenceBytes >= 0 && bodyBytes !== referenceBytes ? FAILURE.lengthDiffers : NO_FAILURE;
  }

  #recordTimes(connection: Connection, place: number, nowUs: number, isFirst: boolean): void {
    const recorder = this.#recorder;
    const { startUs, plannedUs } = this.#flights;
    const start = startUs[place] ?? 0;
    if (isFirst) {
      const { openedUs } = connection;
      recorder.wait.record(connection.firstByteUs - openedUs);
      recorder.fresh.record(nowUs - start);
      recorder.freshProcessing.record(nowUs - openedUs);
    } else {
      recorder.wait.record(connection.firstByteUs - start);
      recorder.reused.record(nowUs - start);
    }
    if (this.#isPaced) recorder.corrected.record(nowUs - (plannedUs[place] ?? 0));
  }

  /** The request has its one outcome. @param failure `NO_FAILURE` or a failure class. */
  book(place: number, failure: number): void {
    if (!this.counts(place)) return;
    if (failure === NO_FAILURE) this.#recorder.count(COMPLETED, 1);
    else this.#recorder.countFailure(failure);
  }
}
