/** Shortest time between two looks over all connections: deadlines are met this late at worst, plus a timer. */
const GRANULARITY_US = 5_000;

/**
 * One deadline per connection: request timeout, end of a back-off, or end of a wait for the target's close.
 * Every request moves its deadline by one store; a look over all of them happens only when the earliest one
 * known may have passed, and mostly finds that it was moved in the meantime.
 */
export class Deadlines {
  readonly #atUs: Float64Array;
  #earliestUs = Number.POSITIVE_INFINITY;
  #nextLookUs = Number.POSITIVE_INFINITY;
  #lastLookUs = Number.NEGATIVE_INFINITY;

  constructor(connections: number) {
    this.#atUs = new Float64Array(connections).fill(Number.POSITIVE_INFINITY);
  }

  /** When `expire` wants to be called next; Infinity when there is nothing to wait for. */
  get nextUs(): number {
    return this.#nextLookUs;
  }

  /** @returns true when `nextUs` has become earlier. */
  set(connection: number, atUs: number): boolean {
    this.#atUs[connection] = atUs;
    if (atUs >= this.#earliestUs) return false;
    this.#earliestUs = atUs;
    const before = this.#nextLookUs;
    this.#nextLookUs = Math.max(atUs, this.#lastLookUs + GRANULARITY_US);
    return this.#nextLookUs < before;
  }

  clear(connection: number): void {
    this.#atUs[connection] = Number.POSITIVE_INFINITY;
  }

  /** Clears every deadline that has passed and calls `onExpired` for it, which may set new ones. */
  expire(nowUs: number, onExpired: (connection: number) => void): void {
    if (nowUs < this.#nextLookUs) return;
    this.#lastLookUs = nowUs;
    for (let i = 0; i < this.#atUs.length; i++) {
      if ((this.#atUs[i] ?? 0) > nowUs) continue;
      this.#atUs[i] = Number.POSITIVE_INFINITY;
      onExpired(i);
    }
    let earliestUs = Number.POSITIVE_INFINITY;
    for (const atUs of this.#atUs) if (atUs < earliestUs) earliestUs = atUs;
    this.#earliestUs = earliestUs;
    this.#nextLookUs = Math.max(earliestUs, nowUs + GRANULARITY_US);
  }
}
