import type { Clock } from '../../clock.js';
import { PollWindow } from './poll-window.js';

/** Fetches events, sleeping up to so long for the first of them; 0: not at all. @returns how many have come. */
export type TakeEvents = (timeoutUs: number) => number;

/** Waits for events in the way that costs least: looks for some time, then sleeps (poll-window.ts). */
export class EventWait {
  /** Time spent here since the beginning. */
  idleUs = 0;
  /** The part of it that was spent looking in vain. */
  polledUs = 0;
  readonly #clock: Clock;
  readonly #take: TakeEvents;
  readonly #window = new PollWindow();

  constructor(clock: Clock, take: TakeEvents) {
    this.#clock = clock;
    this.#take = take;
  }

  /** @param nextUs when to come back without events. @returns how many have come. */
  until(nextUs: number): number {
    const clock = this.#clock;
    const window = this.#window;
    const startUs = clock.nowUs();
    const pollUntilUs = Math.min(startUs + window.lengthUs, nextUs);
    let inVainUntilUs = startUs;
    let count = 0;
    while (inVainUntilUs < pollUntilUs) {
      count = this.#take(0);
      if (count !== 0) break;
      inVainUntilUs = clock.nowUs();
    }
    const polledUs = inVainUntilUs - startUs;
    this.polledUs += polledUs;
    this.idleUs += polledUs;
    const isOver = count !== 0 || inVainUntilUs >= nextUs;
    if (!isOver) count = this.#take(nextUs - inVainUntilUs);
    const sleptUs = isOver ? 0 : clock.nowUs() - inVainUntilUs;
    this.idleUs += sleptUs;
    window.note(polledUs + sleptUs);
    return count;
  }
}
