import { performance } from 'node:perf_hooks';

/** Where an engine gets its time from. */
export interface Clock {
  /** µs since the Unix epoch, never going back. */
  nowUs(): number;
}

const ORIGIN_US = performance.timeOrigin * 1_000;

/**
 * The process's own monotonic clock, placed on the epoch once at its start: steps of the wall clock during a
 * run do not move it. All threads of a process read the same time, so that a start instant given by the
 * host thread holds for its engine threads. A double keeps a quarter of a µs at this magnitude. `performance`
 * is imported because the global of that name is a getter, which is felt in what is read with every reply.
 */
export const monotonicClock: Clock = {
  nowUs: () => ORIGIN_US + performance.now() * 1_000,
};
