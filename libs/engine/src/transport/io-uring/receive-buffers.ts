import type { Libc } from '../libc/libc.js';
import type { Ring } from './ring.js';

/** The kernel wants the ring to begin with a page; the largest pages in use are of this size. */
const PAGE_BYTES = 65_536;
/** One for each connection and its reply of usual size; larger replies come in pieces. */
const MIN_BUFFERS = 128;
/** The kernel's own limit. */
const MAX_BUFFERS = 32_768;
/** Memory that is not exceeded as long as buffers stay larger than the smallest size. */
const BUDGET_BYTES = 4 * 1_024 * 1_024;
const MIN_BUFFER_BYTES = 1_024;
const MAX_BUFFER_BYTES = 4_096;
/** `struct io_uring_buf` in words: address, length, number. */
const RECORD_WORDS = 4;
/** The end of the ring takes the place of an unused field of the first record, in half-words. */
const TAIL_HALF_WORD = 7;
const NUMBER_HALF_WORD = 6;
const REGISTRATION_BYTES = 40;
const WORD = 2 ** 32;

/**
 * Buffers that the kernel takes as bytes arrive, so that an idle connection needs none. Each is given back when
 * its bytes have been read; `publish` tells the kernel, once for a batch.
 */
export class ReceiveBuffers {
  /** All buffers, one behind the other. */
  readonly bytes: Uint8Array;
  readonly sizeBytes: number;
  readonly #address: number;
  readonly #records: Int32Array;
  readonly #halfWords: Uint16Array;
  readonly #mask: number;
  #tail = 0;

  /** @throws Error when the kernel refuses. */
  constructor(libc: Libc, ring: Ring, connections: number) {
    const wanted = Math.min(Math.max(connections, MIN_BUFFERS), MAX_BUFFERS);
    const count = 2 ** Math.ceil(Math.log2(wanted));
    this.#mask = count - 1;
    this.sizeBytes = Math.min(Math.max(BUDGET_BYTES / count, MIN_BUFFER_BYTES), MAX_BUFFER_BYTES);
    this.bytes = new Uint8Array(count * this.sizeBytes);
    this.#address = libc.addressOf(this.bytes);
    const room = new Uint8Array(count * RECORD_WORDS * 4 + PAGE_BYTES);
    const address = libc.addressOf(room);
    const offset = (PAGE_BYTES - (address % PAGE_BYTES)) % PAGE_BYTES;
    this.#records = new Int32Array(room.buffer, offset, count * RECORD_WORDS);
    this.#halfWords = new Uint16Array(room.buffer, offset, count * RECORD_WORDS * 2);
    const registration = new Uint8Array(REGISTRATION_BYTES);
    const view = new DataView(registration.buffer);
    view.setBigUint64(0, BigInt(address + offset), true);
    view.setUint32(8, count, true);
    ring.registerBuffers(registration);
    for (let buffer = 0; buffer < count; buffer++) this.giveBack(buffer);
    this.publish();
  }

  giveBack(buffer: number): void {
    const record = (this.#tail & this.#mask) * RECORD_WORDS;
    const address = this.#address + buffer * this.sizeBytes;
    this.#records[record] = address | 0;
    this.#records[record + 1] = Math.floor(address / WORD);
    this.#records[record + 2] = this.sizeBytes;
    this.#halfWords[record * 2 + NUMBER_HALF_WORD] = buffer;
    this.#tail = (this.#tail + 1) & 0xffff;
  }

  publish(): void {
    Atomics.store(this.#halfWords, TAIL_HALF_WORD, this.#tail);
  }
}
