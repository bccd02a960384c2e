/** Estimate of coordinator clock minus agent clock, in µs, and how far off it may be. */
export interface ClockOffset {
  readonly offsetUs: number;
  readonly uncertaintyUs: number;
}

/** One round trip: when the probe left and its reply came (agent clock), and the coordinator's time between. */
export interface ClockSample {
  readonly sentUs: number;
  readonly coordinatorUs: number;
  readonly receivedUs: number;
}

/** Quartz clocks drift apart by up to about 50 µs per second, so an old sample is worth less. */
const DRIFT_PER_US = 50e-6;
const MAX_SAMPLES = 32;

/**
 * Clock offset from round trips on one connection (the idea of RFC 5905, section 8, without its filters):
 * the reply was stamped somewhere within the round trip, so half of the round trip bounds the error, and the
 * smallest delay wins. Pure.
 */
export class ClockOffsetEstimator {
  readonly #samples: ClockSample[] = [];

  /** Takes a round trip; one that ended before it began is ignored. */
  add(sample: ClockSample): void {
    if (sample.receivedUs < sample.sentUs) return;
    this.#samples.push(sample);
    if (this.#samples.length > MAX_SAMPLES) this.#samples.shift();
  }

  /** The best estimate at `nowUs` of the agent's clock; undefined while there was no round trip. */
  estimate(nowUs: number): ClockOffset | undefined {
    let best: ClockOffset | undefined;
    for (const { sentUs, coordinatorUs, receivedUs } of this.#samples) {
      const halfUs = (receivedUs - sentUs) / 2;
      const uncertaintyUs = halfUs + Math.max(nowUs - receivedUs, 0) * DRIFT_PER_US;
      if (best === undefined || uncertaintyUs <= best.uncertaintyUs) {
        best = { offsetUs: coordinatorUs - (sentUs + halfUs), uncertaintyUs };
      }
    }
    return best;
  }

  /** Another coordinator process may have another clock: after a reconnect the old samples say nothing. */
  clear(): void {
    this.#samples.length = 0;
  }
}

/** The coordinator is told of a change from this share of what was uncertain on. */
const TOLD_STEP = 0.1;

/** Whether an estimate says as good as the one that was told. Pure. */
export function isAbout(estimate: ClockOffset, told: ClockOffset | undefined): boolean {
  if (told === undefined) return false;
  const stepUs = told.uncertaintyUs * TOLD_STEP;
  return (
    Math.abs(estimate.offsetUs - told.offsetUs) <= stepUs &&
    Math.abs(estimate.uncertaintyUs - told.uncertaintyUs) <= stepUs
  );
}
