import type { RateCurve } from './schedule.js';

export interface RateStage {
  readonly durationMs: number;
  /** What the stage ends with, per second. */
  readonly rate: number;
}

/** A stage with all that is before it: times in s, requests as the integral of the rate. */
interface Stretch {
  readonly fromS: number;
  readonly fromRequests: number;
  readonly toRequests: number;
  readonly ratePerS: number;
  /** Change of the rate per second, per second. */
  readonly slope: number;
}

/** A rate that goes linearly through stages, each from where the one before ended. It ends with the last one. */
export class StagedRate implements RateCurve {
  readonly #stretches: readonly Stretch[];
  /** The stretch that the last answer lay in: questions come in rising order. */
  #at = 0;

  /** @param ratePerS what the first stage begins with. */
  constructor(ratePerS: number, stages: readonly RateStage[]) {
    let fromS = 0;
    let fromRequests = 0;
    let from = ratePerS;
    this.#stretches = stages.map(({ durationMs, rate }) => {
      const lastsS = durationMs / 1_000;
      const toRequests = fromRequests + ((from + rate) / 2) * lastsS;
      const stretch = { fromS, fromRequests, toRequests, ratePerS: from, slope: (rate - from) / lastsS };
      fromS += lastsS;
      fromRequests = toRequests;
      from = rate;
      return stretch;
    });
  }

  timeOfUs(requests: number): number {
    const stretches = this.#stretches;
    if (requests < (stretches[this.#at]?.fromRequests ?? 0)) this.#at = 0;
    // What is due at the very end of a stage is the next one's first; after the last there is nothing.
    while (requests >= (stretches[this.#at]?.toRequests ?? Number.POSITIVE_INFINITY)) this.#at++;
    const stretch = stretches[this.#at];
    if (stretch === undefined) {
      this.#at = 0;
      return Number.POSITIVE_INFINITY;
    }
    const { fromS, ratePerS, slope } = stretch;
    const rest = requests - stretch.fromRequests;
    // The root of slope/2·x² + rate·x = rest in the form that divides by a sum: nothing is cancelled in it, and
    // it holds for a slope of 0 too. The root is never negative beyond rounding, as `rest` lies within.
    const divisor = ratePerS + Math.sqrt(Math.max(ratePerS * ratePerS + 2 * slope * rest, 0));
    return (fromS + (rest === 0 ? 0 : (2 * rest) / divisor)) * 1e6;
  }
}
