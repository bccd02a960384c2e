import type { Timers } from '../clock.js';

/** A few timers by name: arming one again replaces it, and all can be taken down together. */
export class NamedTimers {
  readonly #timers: Timers;
  readonly #cancels = new Map<string, () => void>();

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  isArmed(name: string): boolean {
    return this.#cancels.has(name);
  }

  /** @param delayMs at most 2^31 − 1, 24 days; the longest run is a week. */
  arm(name: string, delayMs: number, act: () => void): void {
    this.disarm(name);
    const cancel = this.#timers.after(delayMs, () => {
      this.#cancels.delete(name);
      act();
    });
    this.#cancels.set(name, cancel);
  }

  /** Leaves it where it is armed already: what calls for it again and again meanwhile does not put it off. */
  armOnce(name: string, delayMs: number, act: () => void): void {
    if (!this.isArmed(name)) this.arm(name, delayMs, act);
  }

  disarm(...names: readonly string[]): void {
    for (const name of names) {
      this.#cancels.get(name)?.();
      this.#cancels.delete(name);
    }
  }

  disarmAll(): void {
    this.disarm(...this.#cancels.keys());
  }
}
