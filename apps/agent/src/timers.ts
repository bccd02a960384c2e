/** Later, as the agent sees it; passed in, so that a virtual clock can take its place. */
export interface Timers {
  /** @returns takes it back. */
  after(delayMs: number, act: () => void): () => void;
}

export const systemTimers: Timers = {
  after: (delayMs, act) => {
    const timer = setTimeout(act, delayMs);
    return () => clearTimeout(timer);
  },
};
