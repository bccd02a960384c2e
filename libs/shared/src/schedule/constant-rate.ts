import type { RateCurve } from './schedule.js';

/** The same rate all the time. */
export class ConstantRate implements RateCurve {
  readonly #ratePerS: number;

  /** @param ratePerS above 0. */
  constructor(ratePerS: number) {
    this.#ratePerS = ratePerS;
  }

  timeOfUs(requests: number): number {
    return (requests * 1e6) / this.#ratePerS;
  }
}
