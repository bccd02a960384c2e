// The rate of requests as the target sees it, apart from everything that the cluster says of itself.

const SAMPLE_MS = 100;

export class RateWatch {
  readonly #read: () => number;
  readonly #samples: { readonly atMs: number; readonly count: number }[] = [];
  readonly #timer: NodeJS.Timeout;

  /** @param read requests seen so far. */
  constructor(read: () => number) {
    this.#read = read;
    this.#timer = setInterval(() => this.#sample(), SAMPLE_MS);
  }

  /** Requests per second in the last `spanMs` before `atMs` (performance.now). */
  rate(atMs: number, spanMs: number): number {
    const [from, to] = [this.#at(atMs - spanMs), this.#at(atMs)];
    if (from === undefined || to === undefined || to.atMs <= from.atMs) return 0;
    return ((to.count - from.count) * 1_000) / (to.atMs - from.atMs);
  }

  /**
   * Ms from `fromMs` until the rate over one second is back at `share` of `before`, and the second that is looked
   * at lies wholly after that moment. Undefined when it never is.
   */
  restoredAfterMs(fromMs: number, before: number, share: number): number | undefined {
    for (const { atMs } of this.#samples) {
      if (atMs - fromMs < 1_500) continue;
      if (this.rate(atMs, 1_000) >= before * share) return atMs - 1_000 - fromMs;
    }
    return undefined;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#sample();
  }

  #sample(): void {
    this.#samples.push({ atMs: performance.now(), count: this.#read() });
  }

  #at(atMs: number): { readonly atMs: number; readonly count: number } | undefined {
    return this.#samples.findLast((sample) => sample.atMs <= atMs);
  }
}
