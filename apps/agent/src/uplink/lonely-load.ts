import { LIMITS } from '@broadside/shared';
import type { Timers } from '../timers.js';

/**
 * Ends the load of an agent that nobody can reach: whoever wanted to stop it could not. A coordinator that comes back
 * sooner finds its shards under way.
 */
export class LonelyLoad {
  readonly #timers: Timers;
  readonly #stop: (reason: string) => void;
  #cancel: (() => void) | undefined;

  constructor(timers: Timers, stop: (reason: string) => void) {
    this.#timers = timers;
    this.#stop = stop;
  }

  coordinatorIsAway(): void {
    this.#cancel ??= this.#timers.after(LIMITS.lonelyLoadMs, () => {
      this.#cancel = undefined;
      this.#stop(`the coordinator has been away for ${LIMITS.lonelyLoadMs / 1_000} s`);
    });
  }

  coordinatorIsThere(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
