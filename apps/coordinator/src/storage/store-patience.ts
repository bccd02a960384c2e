/**
 * What the store cannot take now, and may take later: its server restarts, its disk is full. Whoever carries out
 * runs waits for that, so that a run of hours is not lost to seconds of the store; whoever answers a person does not.
 */
import { LIMITS } from '@broadside/shared';
import type { Logger } from 'pino';
import { FailureLog } from '../failure-log.js';
import { LostStoreError } from './lost-store.js';

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 2_000;

export interface PatienceOptions {
  readonly log: Logger;
  /** Why the store is lost for good, as `Store.whyGone` says it. */
  readonly whyGone?: () => string | undefined;
  /** Told when that is found, once as long as it lasts. */
  readonly onGone?: (lost: LostStoreError) => void;
  readonly nowMs?: () => number;
  readonly pause?: (ms: number) => Promise<void>;
}

export class StorePatience {
  readonly #failures: FailureLog;
  readonly #whyGone: () => string | undefined;
  readonly #onGone: (lost: LostStoreError) => void;
  readonly #nowMs: () => number;
  readonly #pause: (ms: number) => Promise<void>;
  #isGone = false;

  constructor(options: PatienceOptions) {
    const { log, nowMs = () => performance.now(), pause = paused } = options;
    const { whyGone = () => undefined, onGone = () => undefined } = options;
    this.#whyGone = whyGone;
    this.#onGone = onGone;
    this.#failures = new FailureLog(log, nowMs);
    this.#nowMs = nowMs;
    this.#pause = pause;
  }

  /**
   * Asks again until the store answers. What is asked must do no harm when it is done twice: the answer to the first
   * time may be what got lost.
   * @throws what the store said last, after `LIMITS.storePatienceMs`, or at once where waiting cannot help:
   *   LostStoreError where the store is gone.
   */
  async ask<T>(what: string, query: () => Promise<T>): Promise<T> {
    this.#assertThere();
    const deadlineMs = this.#nowMs() + LIMITS.storePatienceMs;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      try {
        return await query();
      } catch (error) {
        this.#assertThere(error);
        if (!isPassing(error) || this.#nowMs() + pauseMs > deadlineMs) throw error;
        this.#failures.warn(error, `the store did not take ${what}; trying again`);
      }
      await this.#pause(pauseMs);
    }
  }

  /** Files that are open take what is written for a while after they were removed, and nobody finds it again. */
  #assertThere(cause?: unknown): void {
    const gone = this.#whyGone();
    if (gone === undefined) {
      this.#isGone = false;
      return;
    }
    const lost = new LostStoreError(gone, cause);
    if (!this.#isGone) {
      this.#isGone = true;
      this.#onGone(lost);
    }
    throw lost;
  }
}

/**
 * Classes of SQLSTATE (PostgreSQL's appendix A) that say nothing about the statement: connection exception,
 * transaction rollback, insufficient resources, operator intervention, system error, internal error.
 */
const PASSING_CLASSES = new Set(['08', '40', '53', '57', '58', 'XX']);

/** True when the same statement may succeed later. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error ? String(error.code) : '';
  // The network's word; no class of the server's begins with E.
  if (/^E[A-Z]+$/.test(code)) return true;
  if (/^[0-9A-Z]{5}$/.test(code)) return PASSING_CLASSES.has(code.slice(0, 2));
  // The driver's, of a connection that broke or was not made in time.
  return /connection terminated|connection timeout|timeout exceeded/i.test(error.message);
}

function paused(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
