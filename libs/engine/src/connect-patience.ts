import { LIMITS } from '@broadside/shared/engine';

/** First wait after a failed attempt to connect; doubled each time up to the largest. */
const FIRST_BACKOFF_MS = 10;
const LAST_BACKOFF_MS = 1_000;
/** Shortest time of nothing but failed attempts after which a load without a time limit gives up. */
const GIVE_UP_MS = 10_000;

/**
 * How long failing connects are borne. A target that has never accepted a connection is given up after a few
 * attempts. One that dies later is data: it gets an attempt of each connection now and then, so that it is
 * not flooded when it comes back. But a load that ends with its last request and not with the clock would go
 * on for days like this, so it is given up after a while.
 */
export class ConnectPatience {
  readonly #giveUpUs: number;
  #hasEverOpened = false;
  #failures = 0;
  #failingSinceUs = 0;

  constructor(options: { readonly isTimed: boolean; readonly timeoutMs: number }) {
    const giveUpMs = Math.max(options.timeoutMs, GIVE_UP_MS);
    this.#giveUpUs = options.isTimed ? Number.POSITIVE_INFINITY : giveUpMs * 1_000;
  }

  noteOpened(): void {
    this.#hasEverOpened = true;
    this.#failures = 0;
  }

  /** @returns true when it makes no sense to go on. */
  noteFailed(nowUs: number): boolean {
    if (this.#failures++ === 0) this.#failingSinceUs = nowUs;
    if (!this.#hasEverOpened) return this.#failures >= LIMITS.maxInitialConnectFailures;
    return nowUs - this.#failingSinceUs >= this.#giveUpUs;
  }
}

/** The wait after this failed attempt, given the wait after the one before (0: it succeeded). */
export function nextBackoffMs(previousMs: number): number {
  return previousMs === 0 ? FIRST_BACKOFF_MS : Math.min(previousMs * 2, LAST_BACKOFF_MS);
}
