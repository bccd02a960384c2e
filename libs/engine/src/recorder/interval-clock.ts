import {
  GAUGE,
  GAUGE_NAMES,
  type Interval,
  NO_TIME_US,
  type ShardAttempt,
  type ShardTotals,
} from '@broadside/shared/engine';
import type { Recorder } from './recorder.js';
import { SelfReader } from './self-readings.js';

/** No instant on the engine's clock, which counts from 1970. */
const NOTHING = 0;

/** What is read when an interval closes. */
export interface Readings {
  readonly inFlight: number;
  readonly openConnections: number;
  /** Time that the thread has spent waiting since it began. */
  readonly idleUs: number;
  /** The part of it in which it looked for events in vain, which takes CPU time. */
  readonly polledUs: number;
}

export interface IntervalClockOptions {
  readonly attempt: ShardAttempt;
  readonly intervalMs: number;
  readonly recorder: Recorder;
  readonly read: () => Readings;
  readonly onInterval: (interval: Interval) => void;
  /** So many intervals at the beginning are warm-up. */
  readonly warmupIntervals?: number;
  /** An interval is about to close: what belongs to the time before `endUs` can still be recorded. */
  readonly onClosing?: (endUs: number) => void;
  /** The last interval of the warm-up has closed; what is recorded from now on is measured. */
  readonly onWarmupEnd?: (atUs: number) => void;
}

/**
 * Cuts the run into intervals counted from its start instant. Every event handler calls `advance` with the
 * time of its event before it records anything, so that an event is always in the interval of its own time,
 * however late a timer comes. What was recorded before the start (the probe) belongs to interval 0.
 */
export class IntervalClock {
  readonly #options: IntervalClockOptions;
  #startUs = 0;
  #boundaryUs = Number.POSITIVE_INFINITY;
  #number = 0;
  #warmupIntervals: number;
  /** On the engine's clock; `NOTHING` where there was none. */
  #firstSendUs = NOTHING;
  #lastEventUs = NOTHING;
  #probeUs = NOTHING;
  #readAtUs = 0;
  #idleUs = 0;
  #polledUs = 0;
  #busyShare = 0;
  readonly #self = new SelfReader();

  constructor(options: IntervalClockOptions) {
    this.#options = options;
    this.#warmupIntervals = options.warmupIntervals ?? 0;
  }

  /** When the running interval ends; Infinity before `begin`. */
  get boundaryUs(): number {
    return this.#boundaryUs;
  }

  begin(startUs: number, nowUs: number): void {
    this.#startUs = startUs;
    this.#boundaryUs = startUs + this.#options.intervalMs * 1_000;
    const hasProbe = this.#probeUs !== NOTHING;
    this.#firstSendUs = hasProbe ? startUs - this.#probeUs : NOTHING;
    this.#lastEventUs = hasProbe ? startUs : NOTHING;
    this.#readAtUs = nowUs;
    const { idleUs, polledUs } = this.#options.read();
    this.#idleUs = idleUs;
    this.#polledUs = polledUs;
    this.#self.read();
  }

  /** Closes the intervals that have ended by now, empty ones too. */
  advance(nowUs: number): void {
    if (nowUs >= this.#boundaryUs) this.#closeUntil(nowUs);
  }

  /** The probe is over: it counts as if its reply had come at the start instant, without the pause between. */
  noteProbe(tookUs: number): void {
    this.#probeUs = tookUs;
  }

  noteSend(nowUs: number): void {
    if (this.#firstSendUs === NOTHING) this.#firstSendUs = nowUs;
    this.#lastEventUs = nowUs;
  }

  noteEvent(nowUs: number): void {
    this.#lastEventUs = nowUs;
  }

  /** The warm-up ends now, if it has not before: the load is over early. */
  endWarmup(nowUs: number): void {
    this.advance(nowUs);
    if (this.#number >= this.#warmupIntervals) return;
    this.#close(nowUs, false);
    this.#warmupIntervals = this.#number;
    this.#options.onWarmupEnd?.(nowUs);
  }

  /** Closes the last interval. @returns the totals of the attempt. */
  end(nowUs: number): ShardTotals {
    this.advance(nowUs);
    this.#close(nowUs, true);
    this.#self.end();
    this.#boundaryUs = Number.POSITIVE_INFINITY;
    return { ...this.#options.attempt, intervals: this.#number, ...this.#options.recorder.totals() };
  }

  #closeUntil(nowUs: number): void {
    while (nowUs >= this.#boundaryUs) {
      const endUs = this.#boundaryUs;
      this.#options.onClosing?.(endUs);
      this.#close(nowUs, false);
      this.#boundaryUs += this.#options.intervalMs * 1_000;
      if (this.#number === this.#warmupIntervals) this.#options.onWarmupEnd?.(endUs);
    }
  }

  #close(nowUs: number, isLast: boolean): void {
    const { attempt, recorder, onInterval } = this.#options;
    const isWarmup = this.#number < this.#warmupIntervals;
    const observations = recorder.take(this.#readGauges(nowUs), isWarmup);
    this.#firstSendUs = NOTHING;
    this.#lastEventUs = NOTHING;
    const mark = isWarmup ? { isWarmup } : {};
    onInterval({ ...attempt, number: this.#number++, span: 1, isLast, ...mark, ...observations });
  }

  #readGauges(nowUs: number): Float64Array {
    const { inFlight, openConnections, idleUs, polledUs } = this.#options.read();
    const gauges = new Float64Array(GAUGE_NAMES.length);
    const self = this.#self.read();
    const elapsedUs = nowUs - this.#readAtUs;
    // Several intervals may close at once after a stall; the first of them has used up the elapsed time.
    const neededUs = Math.max(self.cpuUs - (polledUs - this.#polledUs), 0);
    if (elapsedUs > 0) {
      // What the kernel does inside a wait on the thread's behalf looks like waiting, but takes CPU time.
      const workedUs = self.isOfThread ? neededUs : 0;
      const awakeUs = elapsedUs - (idleUs - this.#idleUs);
      this.#busyShare = clampShare(Math.max(awakeUs, workedUs) / elapsedUs);
    }
    gauges[GAUGE.inFlight] = inFlight;
    gauges[GAUGE.openConnections] = openConnections;
    gauges[GAUGE.busyShare] = this.#busyShare;
    gauges[GAUGE.cpuUs] = neededUs;
    gauges[GAUGE.firstSendUs] = this.#sinceStart(this.#firstSendUs);
    gauges[GAUGE.lastEventUs] = this.#sinceStart(this.#lastEventUs);
    gauges[GAUGE.elapsedUs] = Math.max(elapsedUs, 0);
    gauges[GAUGE.runDelayUs] = self.runDelayUs;
    gauges[GAUGE.stealShare] = self.stealShare;
    gauges[GAUGE.involuntarySwitches] = self.involuntarySwitches;
    gauges[GAUGE.gcPauseUs] = self.gcPauseUs;
    gauges[GAUGE.descriptors] = self.descriptors;
    this.#readAtUs = nowUs;
    this.#idleUs = idleUs;
    this.#polledUs = polledUs;
    return gauges;
  }

  #sinceStart(atUs: number): number {
    return atUs === NOTHING ? NO_TIME_US : atUs - this.#startUs;
  }
}

function clampShare(share: number): number {
  return Math.min(Math.max(share, 0), 1);
}
