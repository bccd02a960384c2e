/** How many requests a shard may still take up. Exact: what is not taken is known to the last one. */
export class Budget {
  #left: number;
  readonly #isCounted: boolean;

  /** @param requests undefined: as many as fit into the time. */
  constructor(requests: number | undefined) {
    this.#left = requests ?? Number.POSITIVE_INFINITY;
    this.#isCounted = requests !== undefined;
  }

  get hasMore(): boolean {
    return this.#left > 0;
  }

  /** Takes one request. @returns false when there is none left. */
  take(): boolean {
    if (this.#left <= 0) return false;
    this.#left--;
    return true;
  }

  /** Nothing can be taken any more. @returns the requests that were planned and are left over. */
  close(): number {
    const left = this.#isCounted ? this.#left : 0;
    this.#left = 0;
    return left;
  }
}
