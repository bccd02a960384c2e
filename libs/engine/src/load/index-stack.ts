/** Connection indexes, the last one put in first; each at most once. Takes no memory while it is used. */
export class IndexStack {
  readonly #indexes: Int32Array;
  readonly #isIn: Uint8Array;
  #size = 0;

  constructor(capacity: number) {
    this.#indexes = new Int32Array(capacity);
    this.#isIn = new Uint8Array(capacity);
  }

  get size(): number {
    return this.#size;
  }

  push(index: number): void {
    if (this.#isIn[index] === 1) return;
    this.#isIn[index] = 1;
    this.#indexes[this.#size++] = index;
  }

  /** @returns −1 when it is empty. */
  pop(): number {
    if (this.#size === 0) return -1;
    const index = this.#indexes[--this.#size] ?? -1;
    this.#isIn[index] = 0;
    return index;
  }
}
