/** What the host thread wants of an engine. */
export const COMMAND = { none: 0, probe: 1, start: 2, stop: 3 } as const;

const START_AT = 0;
const REFERENCE = 1;
const STOP_AT = 2;
const FROM = 3;
const COMMAND_OFFSET_BYTES = 32;
const SIZE_BYTES = 40;

/**
 * Orders from the host thread to its engine, in shared memory: an engine that blocks in a system call gets no
 * messages, but it can read a word. After each order the host wakes the engine (`ShardRun.wake`). The numbers
 * are written before the command, and the command atomically, so that a reader who sees it sees them too.
 */
export class ShardControl {
  readonly memory: SharedArrayBuffer;
  readonly #numbers: Float64Array;
  readonly #command: Int32Array;

  /** @param memory of another thread's control; absent: a new one. */
  constructor(memory?: SharedArrayBuffer) {
    this.memory = memory ?? new SharedArrayBuffer(SIZE_BYTES);
    this.#numbers = new Float64Array(this.memory, 0, 4);
    this.#command = new Int32Array(this.memory, COMMAND_OFFSET_BYTES, 1);
    if (memory === undefined) this.#numbers[REFERENCE] = -1;
  }

  /** Orders the probe. Nothing happens when something else was ordered before. */
  probe(): void {
    Atomics.compareExchange(this.#command, 0, COMMAND.none, COMMAND.probe);
  }

  /**
   * Orders the start; a stop given before stays.
   * @param startAtUs instant on this process's clock (`Clock`), in the past: now.
   * @param referenceBytes body length that every reply must have; absent: not compared.
   * @param fromUs when the load is to begin, where that is later: what was due before is not the shard's.
   */
  start(startAtUs: number, referenceBytes = -1, fromUs = startAtUs): void {
    this.#numbers[START_AT] = startAtUs;
    this.#numbers[FROM] = Math.max(fromUs, startAtUs);
    this.#numbers[REFERENCE] = referenceBytes;
    const before = Atomics.compareExchange(this.#command, 0, COMMAND.none, COMMAND.start);
    if (before === COMMAND.probe) Atomics.compareExchange(this.#command, 0, COMMAND.probe, COMMAND.start);
  }

  /**
   * Orders the end: nothing new is sent, what is in flight is given up. Final; of several the earliest counts.
   * @param stopAtUs instant on this process's clock; absent: now.
   */
  stop(stopAtUs = 0): void {
    const isOrdered = this.command === COMMAND.stop;
    this.#numbers[STOP_AT] = isOrdered ? Math.min(this.stopAtUs, stopAtUs) : stopAtUs;
    Atomics.store(this.#command, 0, COMMAND.stop);
  }

  get command(): number {
    return Atomics.load(this.#command, 0);
  }

  get startAtUs(): number {
    return this.#numbers[START_AT] ?? 0;
  }

  /** Not before `startAtUs`. */
  get fromUs(): number {
    return this.#numbers[FROM] ?? 0;
  }

  /** 0: at once. */
  get stopAtUs(): number {
    return this.#numbers[STOP_AT] ?? 0;
  }

  /** −1: lengths are not compared. */
  get referenceBytes(): number {
    return this.#numbers[REFERENCE] ?? -1;
  }
}
