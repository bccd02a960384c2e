/** Longest look for events before the thread sleeps: what a sleep may cost at worst, in a virtual machine. */
const LONGEST_US = 100;
/** Waits up to this long on average are worth it. */
const WORTHWHILE_US = 60;
/** A longer wait counts as this long, so that a single one does not end the looking for many short ones. */
const LONG_US = 500;
/** Share of the newest wait in the average. */
const NEWEST = 1 / 8;

/**
 * How long a thread with nothing to do looks for events before it sleeps. To be put to sleep and woken takes CPU
 * time of its own, some µs, and tens of µs in a virtual machine, whose CPU is given away meanwhile; and it comes on
 * top of each latency. While waits have been shorter than that, looking costs less and measures better; it ends by
 * itself where replies take longer, and where the target needs this CPU to answer. KVM's halt polling does the same.
 */
export class PollWindow {
  #meanUs = 0;

  /** What may be spent on looking, in µs; 0: sleep at once. */
  get lengthUs(): number {
    return this.#meanUs <= WORTHWHILE_US ? LONGEST_US : 0;
  }

  /** A wait is over. @param waitedUs looking and sleeping together. */
  note(waitedUs: number): void {
    this.#meanUs += (Math.min(waitedUs, LONG_US) - this.#meanUs) * NEWEST;
  }
}
