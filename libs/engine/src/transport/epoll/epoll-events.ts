import type { Libc } from '../libc/libc.js';

/**
 * The array that the kernel writes ready events to. `struct epoll_event` is a mask of 32 bits and 64 bits of
 * ours (connection, generation): packed to 12 bytes on x86-64, padded to 16 on arm64.
 */
export class EpollEvents {
  readonly capacity: number;
  readonly address: number;
  readonly #strideWords: number;
  readonly #oursWord: number;
  readonly #words: Int32Array;

  constructor(libc: Pick<Libc, 'addressOf'>, capacity: number, arch: string = process.arch) {
    this.capacity = capacity;
    this.#strideWords = arch === 'x64' ? 3 : 4;
    this.#oursWord = arch === 'x64' ? 1 : 2;
    this.#words = new Int32Array(capacity * this.#strideWords);
    this.address = libc.addressOf(this.#words);
  }

  maskAt(position: number): number {
    return this.#words[position * this.#strideWords] ?? 0;
  }

  connectionAt(position: number): number {
    return this.#words[position * this.#strideWords + this.#oursWord] ?? 0;
  }

  generationAt(position: number): number {
    return this.#words[position * this.#strideWords + this.#oursWord + 1] ?? 0;
  }

  /** Writes the first event, to be given to `epoll_ctl`. */
  setFirst(mask: number, connection: number, generation: number): void {
    this.#words[0] = mask;
    this.#words[this.#oursWord] = connection;
    this.#words[this.#oursWord + 1] = generation;
  }
}
