import { COUNTER, type Schedule, type Shard, type ShardPacing, scheduleOf } from '@broadside/shared/engine';
import type { Recorder } from '../recorder/recorder.js';
import type { RequestSource } from './request-source.js';

const { planned: PLANNED, waitedForConnection: WAITED, notSentNoConnection: NO_CONNECTION } = COUNTER;

export interface PacedSourceOptions {
  readonly shard: Pick<Shard, 'requests' | 'durationMs' | 'warmupMs' | 'timeoutMs'>;
  readonly pacing: ShardPacing;
  readonly recorder: Recorder;
}

/**
 * Requests by a schedule. What is due and not sent forms a queue that takes no memory: planned times are a
 * function of the request's number, so the queue is the stretch between two numbers. It is bounded in time: what
 * has waited for a connection as long as a request may take is given up.
 *
 *   own numbers   0 … taken−1  │  taken … counted−1   │  counted …
 *                 sent, or     │  due, and booked as  │  not due, or due since
 *                 given up     │  planned             │  the last interval ended
 */
export class PacedSource implements RequestSource {
  readonly isPaced = true;
  /** When the next request of this shard is due; Infinity when there is none in the schedule's time. */
  nextUs = Number.POSITIVE_INFINITY;

  readonly #options: PacedSourceOptions;
  readonly #recorder: Recorder;
  /** Which numbers of each round are this shard's. */
  readonly #lanes: readonly number[];
  readonly #round: number;
  readonly #timeoutUs: number;
  #schedule: Schedule;
  /** The same one again: random arrivals are drawn in rising order, and this one runs ahead. */
  #scheduleAhead: Schedule;
  #isWarmup: boolean;
  #isStopped = false;
  #isClosed = false;
  /** Nothing is due before the beginning is known. */
  #beginUs = Number.POSITIVE_INFINITY;
  /** What is planned before is not ours: this is a rest that begins in the middle of an interval. */
  #fromUs = Number.NEGATIVE_INFINITY;
  /** Requests planned from here on do not exist. */
  #endUs = Number.POSITIVE_INFINITY;
  /** Number of own requests in the schedule. */
  #limit: number;
  #probes = 0;
  #taken = 0;
  #counted = 0;

  constructor(options: PacedSourceOptions) {
    const { shard, pacing, recorder } = options;
    this.#options = options;
    this.#recorder = recorder;
    this.#lanes = pacing.lanes ?? [pacing.firstIndex];
    this.#round = pacing.stride;
    this.#timeoutUs = shard.timeoutMs * 1_000;
    this.#isWarmup = shard.warmupMs !== undefined;
    this.#limit = shard.requests ?? Number.POSITIVE_INFINITY;
    this.#schedule = scheduleOf(pacing);
    this.#scheduleAhead = scheduleOf(pacing);
  }

  get isExhausted(): boolean {
    return this.#isStopped || (!this.#isWarmup && this.#taken >= this.#limit);
  }

  begin(startUs: number, fromUs: number): void {
    this.#fromUs = fromUs;
    if (!this.#isWarmup) {
      this.beginMeasured(startUs);
      return;
    }
    const { pacing, shard } = this.#options;
    const { arrivals, seed, rate } = pacing;
    this.#schedule = scheduleOf({ arrivals, seed, rate });
    this.#scheduleAhead = scheduleOf({ arrivals, seed, rate });
    this.#limit = Number.POSITIVE_INFINITY;
    this.#beginUs = startUs;
    this.#endUs = startUs + (shard.warmupMs ?? 0) * 1_000;
    this.#passOverEarlier();
  }

  beginMeasured(atUs: number): void {
    const { pacing, shard } = this.#options;
    this.#isWarmup = false;
    this.#schedule = scheduleOf(pacing);
    this.#scheduleAhead = scheduleOf(pacing);
    this.#limit = (shard.requests ?? Number.POSITIVE_INFINITY) - this.#probes;
    this.#beginUs = atUs;
    this.#endUs = shard.durationMs === undefined ? Number.POSITIVE_INFINITY : atUs + shard.durationMs * 1_000;
    this.#taken = 0;
    this.#counted = 0;
    this.#passOverEarlier();
  }

  takeProbe(): boolean {
    if (this.#isStopped || this.#limit <= 0) return false;
    if (!this.#isWarmup) {
      this.#probes++;
      this.#limit--;
    }
    this.#recorder.count(PLANNED, 1);
    return true;
  }

  take(nowUs: number, hasWaited: boolean): number {
    const plannedUs = this.nextUs;
    if (plannedUs > nowUs) return -1;
    this.#pass();
    this.#recorder.sendLag.record(nowUs - plannedUs);
    if (hasWaited) this.#recorder.count(WAITED, 1);
    return plannedUs;
  }

  countDue(untilUs: number): void {
    if (this.nextUs >= untilUs) return;
    const stopUs = Math.min(untilUs, this.#endUs);
    let due = 0;
    while (this.#counted < this.#limit && this.#plannedAtUs(this.#scheduleAhead, this.#counted) < stopUs) {
      this.#counted++;
      due++;
    }
    this.#recorder.count(PLANNED, due);
  }

  giveUp(nowUs: number): void {
    while (this.nextUs < nowUs - this.#timeoutUs) {
      this.#pass();
      this.#recorder.count(NO_CONNECTION, 1);
    }
  }

  stop(): void {
    this.#isStopped = true;
    this.nextUs = Number.POSITIVE_INFINITY;
  }

  close(nowUs: number, counter: number, isStarved: boolean): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#findNext();
    this.countDue(nowUs);
    this.stop();
    const waiting = this.#counted - this.#taken;
    this.#recorder.count(isStarved ? NO_CONNECTION : counter, waiting);
    if (this.#isWarmup || this.#limit === Number.POSITIVE_INFINITY) return;
    const rest = this.#limit - this.#counted;
    this.#recorder.count(PLANNED, rest);
    this.#recorder.count(counter, rest);
  }

  /** What is planned before the load begins uses none of the budget, and is in no book of this shard. */
  #passOverEarlier(): void {
    this.#findNext();
    while (this.nextUs < this.#fromUs) {
      this.#taken++;
      this.#counted++;
      this.#limit++;
      this.#findNext();
    }
  }

  /** The next request leaves the queue. */
  #pass(): void {
    if (this.#taken >= this.#counted) {
      this.#recorder.count(PLANNED, 1);
      this.#counted++;
    }
    this.#taken++;
    this.#findNext();
  }

  #findNext(): void {
    const plannedUs =
      this.#taken < this.#limit ? this.#plannedAtUs(this.#schedule, this.#taken) : Number.POSITIVE_INFINITY;
    this.nextUs = plannedUs < this.#endUs ? plannedUs : Number.POSITIVE_INFINITY;
  }

  /** @param own number among the shard's own requests. */
  #plannedAtUs(schedule: Schedule, own: number): number {
    const lanes = this.#lanes;
    const count = lanes.length;
    const rounds = count === 1 ? own : Math.floor(own / count);
    const lane = lanes[own - rounds * count] ?? 0;
    return this.#beginUs + schedule.plannedUs(lane + rounds * this.#round);
  }
}
