/** Time as the coordinator sees it; passed in, so that tests move it. */
export interface Clock {
  /** Monotonic, in ms from an arbitrary origin. */
  nowMs(): number;
  /** µs since the epoch, monotonic within the process: the clock that start instants are named in. */
  epochUs(): number;
}

export const systemClock: Clock = {
  nowMs: () => performance.now(),
  epochUs: () => (performance.timeOrigin + performance.now()) * 1_000,
};

/** Later, as the coordinator sees it; passed in for the same reason. */
export interface Timers {
  /**
   * @param delayMs at most 2^31 − 1, 24 days.
   * @returns takes it back.
   */
  after(delayMs: number, act: () => void): () => void;
}

export const systemTimers: Timers = {
  after: (delayMs, act) => {
    const timer = setTimeout(act, delayMs);
    return () => clearTimeout(timer);
  },
};
