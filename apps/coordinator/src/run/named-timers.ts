/** A few timers by name: arming one again replaces it, and all can be taken down together. */
export class NamedTimers<Name extends string> {
  readonly #timers = new Map<Name, NodeJS.Timeout>();

  /** @param delayMs at most 2^31 − 1, 24 days; the longest run is a week. */
  arm(name: Name, delayMs: number, act: () => void): void {
    this.disarm(name);
    this.#timers.set(name, setTimeout(act, delayMs));
  }

  disarm(...names: readonly Name[]): void {
    for (const name of names) {
      clearTimeout(this.#timers.get(name));
      this.#timers.delete(name);
    }
  }

  disarmAll(): void {
    this.disarm(...this.#timers.keys());
  }
}
