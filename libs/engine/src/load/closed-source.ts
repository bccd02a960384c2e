import { COUNTER } from '@broadside/shared/engine';
import type { Recorder } from '../recorder/recorder.js';
import type { RequestSource } from './request-source.js';

const { planned: PLANNED } = COUNTER;

export interface ClosedSourceOptions {
  /** Undefined: as many as fit into the time. */
  readonly requests: number | undefined;
  readonly hasWarmup: boolean;
  readonly recorder: Recorder;
}

/** The closed model: a request is due whenever a connection is free, as long as the budget lasts. */
export class ClosedSource implements RequestSource {
  readonly isPaced = false;
  readonly #recorder: Recorder;
  readonly #isCounted: boolean;
  #left: number;
  #isStopped = false;
  /** The budget is not touched before the measured time. */
  #isWarmup: boolean;

  constructor(options: ClosedSourceOptions) {
    this.#recorder = options.recorder;
    this.#left = options.requests ?? Number.POSITIVE_INFINITY;
    this.#isCounted = options.requests !== undefined;
    this.#isWarmup = options.hasWarmup;
  }

  get nextUs(): number {
    return this.#canTake ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }

  get isExhausted(): boolean {
    return !this.#canTake;
  }

  get #canTake(): boolean {
    return this.#left > 0 && !this.#isStopped;
  }

  begin(): void {
    // Nothing is planned ahead.
  }

  beginMeasured(): void {
    this.#isWarmup = false;
  }

  takeProbe(nowUs: number): boolean {
    return this.take(nowUs) >= 0;
  }

  take(nowUs: number): number {
    if (this.#left <= 0 || this.#isStopped) return -1;
    if (!this.#isWarmup) this.#left--;
    this.#recorder.count(PLANNED, 1);
    return nowUs;
  }

  countDue(): void {
    // Nothing is due that is not sent.
  }

  giveUp(): void {
    // Nothing waits.
  }

  stop(): void {
    this.#isStopped = true;
  }

  close(_nowUs: number, counter: number): void {
    this.#isStopped = true;
    const left = this.#isCounted ? this.#left : 0;
    this.#left = 0;
    this.#recorder.count(PLANNED, left);
    this.#recorder.count(counter, left);
  }
}
