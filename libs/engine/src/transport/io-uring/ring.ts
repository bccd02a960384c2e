/**
 * The two queues that an io_uring shares with the kernel, mapped into this thread: entries go in by
 * `nextEntry`, completions are read in place, `enter` hands over and waits. Layout: io_uring_setup(2).
 */
import type { Libc } from '../libc/libc.js';
import {
  IORING_ENTER_EXT_ARG,
  IORING_ENTER_GETEVENTS,
  IORING_OFF_SQES,
  IORING_REGISTER_PBUF_RING,
  IORING_SETUP_CQSIZE,
  IORING_SETUP_DEFER_TASKRUN,
  IORING_SETUP_SINGLE_ISSUER,
  IORING_SETUP_SUBMIT_ALL,
  MAP_SHARED_POPULATE,
  PROT_READ_WRITE,
  SYS_IO_URING_ENTER,
  SYS_IO_URING_REGISTER,
  SYS_IO_URING_SETUP,
} from './constants.js';

const FLAGS =
  IORING_SETUP_CQSIZE | IORING_SETUP_SUBMIT_ALL | IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN;
/** Size of `struct io_uring_params`, and what is where in it, in words. */
const PARAMETERS_WORDS = 30;
const PARAMETER = { cqEntries: 1, flags: 2, sqTail: 11, sqMask: 12, sqArray: 16 } as const;
const COMPLETION = { head: 20, tail: 21, mask: 22, entries: 25 } as const;

const ENTRY_WORDS = 16;
const COMPLETION_WORDS = 4;
/** `struct io_uring_getevents_arg`: a signal mask that is not used, and where the time limit lies. */
const WAIT_ARGUMENT_BYTES = 24;

export class Ring {
  readonly fd: number;
  /** Words of the entries; those of one begin at what `nextEntry` returned. */
  readonly entries: Int32Array;
  /** Words of everything else, completions among it. */
  readonly words: Int32Array;
  readonly #libc: Libc;
  readonly #mapped: readonly (readonly [address: number, sizeBytes: number])[];
  readonly #entryCount: number;
  readonly #entryMask: number;
  readonly #sqTail: number;
  readonly #cqHead: number;
  readonly #cqTail: number;
  readonly #cqMask: number;
  readonly #cqFirst: number;
  /** End of the entries written, which the kernel learns by `enter`. */
  #tail: number;
  /** Entries that the kernel has not taken. */
  #queued = 0;
  /** Seconds and nanoseconds, 64 bits each. */
  readonly #timespec = new Int32Array(4);
  readonly #waitArgument = new BigUint64Array(3);
  readonly #waitArgumentAddress: number;

  /** @throws Error with the name of the call and its errno when the kernel refuses. */
  constructor(libc: Libc, entries: number, completions: number) {
    this.#libc = libc;
    const parameters = new Int32Array(PARAMETERS_WORDS);
    parameters[PARAMETER.flags] = FLAGS;
    parameters[PARAMETER.cqEntries] = completions;
    this.fd = libc.ioUringSetup(SYS_IO_URING_SETUP, entries, libc.addressOf(parameters));
    if (this.fd < 0) throw new Error(`io_uring_setup is refused (errno ${libc.errno()})`);
    const word = (position: number): number => parameters[position] ?? 0;
    const sqEntries = word(0);
    const sizeBytes = Math.max(
      word(PARAMETER.sqArray) + sqEntries * 4,
      word(COMPLETION.entries) + word(PARAMETER.cqEntries) * COMPLETION_WORDS * 4,
    );
    const ring = this.#map(sizeBytes, 0);
    const entryBytes = sqEntries * ENTRY_WORDS * 4;
    const sqes = this.#map(entryBytes, IORING_OFF_SQES);
    this.#mapped = [
      [ring, sizeBytes],
      [sqes, entryBytes],
    ];
    this.words = new Int32Array(libc.viewOf(ring, sizeBytes));
    this.entries = new Int32Array(libc.viewOf(sqes, entryBytes));
    this.#entryCount = sqEntries;
    this.#entryMask = this.words[word(PARAMETER.sqMask) >> 2] ?? 0;
    this.#sqTail = word(PARAMETER.sqTail) >> 2;
    this.#cqHead = word(COMPLETION.head) >> 2;
    this.#cqTail = word(COMPLETION.tail) >> 2;
    this.#cqMask = this.words[word(COMPLETION.mask) >> 2] ?? 0;
    this.#cqFirst = word(COMPLETION.entries) >> 2;
    this.#tail = this.words[this.#sqTail] ?? 0;
    // Entries are used in the order in which they lie, so that this table never changes.
    const array = word(PARAMETER.sqArray) >> 2;
    for (let i = 0; i < sqEntries; i++) this.words[array + i] = i;
    this.#waitArgument[2] = BigInt(libc.addressOf(this.#timespec));
    this.#waitArgumentAddress = libc.addressOf(this.#waitArgument);
  }

  /** Takes an entry, all zero. @returns the position of its first word. */
  nextEntry(): number {
    if (this.#queued >= this.#entryCount) {
      this.enter(0, -1);
      // The queue of completions is made large enough for this never to be refused.
      if (this.#queued >= this.#entryCount) throw new Error('io_uring takes no entries');
    }
    this.#queued++;
    const { entries } = this;
    const first = (this.#tail & this.#entryMask) * ENTRY_WORDS;
    // A loop: `fill` costs more than it saves for so few words.
    for (let i = first; i < first + ENTRY_WORDS; i++) entries[i] = 0;
    this.#tail = (this.#tail + 1) | 0;
    return first;
  }

  /**
   * Hands all entries over and waits for completions.
   * @param minComplete how many to wait for. @param timeoutUs for how long; −1: no limit.
   */
  enter(minComplete: number, timeoutUs: number): void {
    const libc = this.#libc;
    Atomics.store(this.words, this.#sqTail, this.#tail);
    const hasLimit = timeoutUs >= 0;
    if (hasLimit) this.#timespec[2] = timeoutUs * 1_000;
    const taken = libc.ioUringEnter(
      SYS_IO_URING_ENTER,
      this.fd,
      this.#queued,
      minComplete,
      hasLimit ? IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG : IORING_ENTER_GETEVENTS,
      hasLimit ? this.#waitArgumentAddress : 0,
      hasLimit ? WAIT_ARGUMENT_BYTES : 0,
    );
    // A failure (time over, interrupted, completions must be read first) leaves them for the next call.
    if (taken > 0) this.#queued -= taken;
  }

  /** Number of the first completion that is not consumed. */
  get head(): number {
    return this.words[this.#cqHead] ?? 0;
  }

  /** Number after the last completion that is there. */
  get tail(): number {
    return Atomics.load(this.words, this.#cqTail);
  }

  get hasCompletions(): boolean {
    return this.tail !== this.head;
  }

  /** Where the words of a completion begin: two of ours, its result, its flags. */
  positionOf(completion: number): number {
    return this.#cqFirst + (completion & this.#cqMask) * COMPLETION_WORDS;
  }

  consumeUntil(completion: number): void {
    Atomics.store(this.words, this.#cqHead, completion);
  }

  /** @throws Error when the kernel refuses. @param registration `struct io_uring_buf_reg`. */
  registerBuffers(registration: Uint8Array): void {
    const libc = this.#libc;
    const address = libc.addressOf(registration);
    const result = libc.ioUringRegister(
      SYS_IO_URING_REGISTER,
      this.fd,
      IORING_REGISTER_PBUF_RING,
      address,
      1,
    );
    if (result < 0) throw new Error(`io_uring_register is refused (errno ${libc.errno()})`);
  }

  /** Nothing of it may be used afterwards. */
  close(): void {
    for (const [address, sizeBytes] of this.#mapped) this.#libc.munmap(address, sizeBytes);
    this.#libc.close(this.fd);
  }

  #map(sizeBytes: number, offset: number): number {
    const libc = this.#libc;
    const address = libc.mmap(0, sizeBytes, PROT_READ_WRITE, MAP_SHARED_POPULATE, this.fd, offset);
    if (address !== -1) return address;
    const errno = libc.errno();
    libc.close(this.fd);
    throw new Error(`mmap of the io_uring is refused (errno ${errno})`);
  }
}
