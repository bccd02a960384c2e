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
