// Time that passes only when everything that was to happen at one moment has happened.

interface Event {
  readonly atMs: number;
  readonly order: number;
  readonly act: () => void;
  isCancelled: boolean;
}

/** Some moment of 2023, so that epoch times look as they do. */
const EPOCH_US = 1_700_000_000_000_000;

export class VirtualTime {
  #nowMs = 0;
  #order = 0;
  /** A binary heap by time, then by order of asking. */
  readonly #heap: Event[] = [];

  readonly clock = {
    nowMs: (): number => this.#nowMs,
    epochUs: (): number => EPOCH_US + this.#nowMs * 1_000,
  };

  get nowMs(): number {
    return this.#nowMs;
  }

  /** @returns takes it back. */
  after(delayMs: number, act: () => void): () => void {
    const event: Event = {
      atMs: this.#nowMs + Math.max(delayMs, 0),
      order: this.#order++,
      act,
      isCancelled: false,
    };
    this.#push(event);
    return () => {
      event.isCancelled = true;
    };
  }

  /** Resolves so much later. */
  delay(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.after(delayMs, resolve);
    });
  }

  /** Lets time pass until `isDone`, or until `limitMs`. @returns whether it was done. */
  async run(isDone: () => boolean, limitMs: number): Promise<boolean> {
    for (;;) {
      // All promises that can be resolved at this moment.
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
      if (isDone()) return true;
      let event = this.#pop();
      while (event?.isCancelled === true) event = this.#pop();
      if (event === undefined || event.atMs > limitMs) return false;
      this.#nowMs = event.atMs;
      event.act();
    }
  }

  #push(event: Event): void {
    const heap = this.#heap;
    heap.push(event);
    let at = heap.length - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBefore(at, parent)) break;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #pop(): Event | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (first === undefined || last === undefined || first === last) return first;
    heap[0] = last;
    let at = 0;
    for (;;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      let least = at;
      if (left < heap.length && this.#isBefore(left, least)) least = left;
      if (right < heap.length && this.#isBefore(right, least)) least = right;
      if (least === at) return first;
      this.#swap(at, least);
      at = least;
    }
  }

  #isBefore(a: number, b: number): boolean {
    const [one, other] = [this.#heap[a], this.#heap[b]];
    if (one === undefined || other === undefined) return false;
    return one.atMs === other.atMs ? one.order < other.order : one.atMs < other.atMs;
  }

  #swap(a: number, b: number): void {
    const [one, other] = [this.#heap[a], this.#heap[b]];
    if (one === undefined || other === undefined) return;
    this.#heap[a] = other;
    this.#heap[b] = one;
  }
}

/** Timers of one process: they stand still with it, and die with it. */
export class ProcessTimers {
  readonly #time: VirtualTime;
  #isDead = false;
  #frozen: (() => void)[] | undefined;

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  get isFrozen(): boolean {
    return this.#frozen !== undefined;
  }

  after(delayMs: number, act: () => void): () => void {
    let isCancelled = false;
    const cancel = this.#time.after(delayMs, () => {
      const guarded = (): void => {
        if (!isCancelled) this.run(act);
      };
      guarded();
    });
    return () => {
      isCancelled = true;
      cancel();
    };
  }

  /** Does it now, when the process wakes up, or never. */
  run(act: () => void): void {
    if (this.#isDead) return;
    if (this.#frozen === undefined) act();
    else this.#frozen.push(act);
  }

  die(): void {
    this.#isDead = true;
    this.#frozen = undefined;
  }

  freeze(): void {
    this.#frozen ??= [];
  }

  thaw(): void {
    const waiting = this.#frozen ?? [];
    this.#frozen = undefined;
    for (const act of waiting) this.run(act);
  }
}
