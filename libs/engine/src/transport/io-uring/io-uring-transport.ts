/**
 * Plain TCP on Linux ≥ 6.1 by `io_uring`, which blocks the thread as `epoll` does, and costs one system call
 * for a whole turn: what it has sent, opened and closed goes in, and what has come meanwhile comes out.
 * A receive is asked for once per connection and goes on delivering.
 * Long because commands and completions share the fields of the connections.
 *
 * - What comes back carries the connection's generation, which opening and closing change: it reaches nobody
 *   once the connection was closed.
 * - The kernel does not say when a send that went well is done (it would end the wait for nothing), as long as
 *   no more than `UNCONFIRMED_BYTES`, as many as fit into any empty socket, were sent since the target last
 *   answered. Beyond, the socket may be full and sends could overtake each other: each waits for the one before.
 * - A closed descriptor lives on while something waits on it, so that this is cancelled first.
 * - A timer among the requests ends every wait within `TICK_US`, see `EpollTransport`.
 */
import type { Clock } from '../../clock.js';
import type { ResolvedAddress } from '../../resolve-target.js';
import { causeOfErrno } from '../libc/cause-of-errno.js';
import { MSG_NOSIGNAL, MSG_WAITALL } from '../libc/constants.js';
import { EventWait } from '../libc/event-wait.js';
import type { Libc } from '../libc/libc.js';
import { TcpSockets } from '../libc/tcp-sockets.js';
import { UnsentBytes } from '../libc/unsent-bytes.js';
import { CLOSE_CAUSE, type CloseCause, type Transport, type TransportHandler } from '../transport.js';
import {
  IORING_ASYNC_CANCEL_ALL,
  IORING_ASYNC_CANCEL_FD,
  IORING_CQE_F_BUFFER,
  IORING_CQE_F_MORE,
  IORING_OP_ASYNC_CANCEL,
  IORING_OP_CLOSE,
  IORING_OP_CONNECT,
  IORING_OP_RECV,
  IORING_OP_SEND,
  IORING_OP_TIMEOUT,
  IORING_RECV_MULTISHOT,
  IOSQE_BUFFER_SELECT,
  IOSQE_CQE_SKIP_SUCCESS,
} from './constants.js';
import { ReceiveBuffers } from './receive-buffers.js';
import { Ring } from './ring.js';

/** Longest wait, as in the epoll transport. */
const TICK_US = 4_000;
/** Requests that are handed over at once; more of them make one more system call. */
const ENTRIES = 1_024;
/** Room for completions per connection, so that they are there when a whole batch comes with more behind it. */
const COMPLETIONS_PER_CONNECTION = 4;
const MIN_COMPLETIONS = 4_096;
/** The kernel's own limit. */
const MAX_COMPLETIONS = 65_536;
/** Bytes that are sent without an answer of the target before each send is to be confirmed. */
const UNCONFIRMED_BYTES = 8_192;

const CLOSED = 0;
const CONNECTING = 1;
const OPEN = 2;
/** It could not be opened, or not written to, and the engine has not been told yet. */
const FAILED = 3;

/** What a completion answers: the lowest bits of the second word of ours, the generation above them. */
const RECEIVED = 0;
const SENT = 1;
const CONNECTED = 2;
const DISMISSED = 3;
const TICKED = 4;
const KIND_BITS = 3;
const KIND_MASK = 7;
const GENERATION_MASK = 0x1fff_ffff;

const ENOBUFS = 105;
const EPIPE = 32;
const EMFILE = 24;
const WORD = 2 ** 32;

export interface IoUringTransportOptions {
  readonly libc: Libc;
  readonly address: ResolvedAddress;
  readonly port: number;
  readonly connections: number;
  readonly clock: Clock;
}

export class IoUringTransport implements Transport {
  readonly name = 'io_uring';
  readonly #libc: Libc;
  readonly #clock: Clock;
  readonly #sockets: TcpSockets;
  readonly #connections: number;
  readonly #states: Uint8Array;
  readonly #fds: Int32Array;
  readonly #generations: Int32Array;
  readonly #errors: Int32Array;
  /** Bytes sent since the target last answered; minus the size of the send whose confirmation is awaited. */
  readonly #unconfirmed: Int32Array;
  readonly #unsent = new UnsentBytes();
  /** Connections of which the loop has to tell something that was found in a command. */
  #failed: number[] = [];
  #telling: number[] = [];
  #ring: Ring | undefined;
  #buffers: ReceiveBuffers | undefined;
  readonly #tick = new Int32Array([0, 0, TICK_US * 1_000, 0]);
  readonly #tickAddress: number;
  /** The bytes sent last and where they are: usually all requests are the same ones. */
  #sent: Uint8Array = new Uint8Array(0);
  #sentLow = 0;
  #sentHigh = 0;
  /**
   * The kernel reads bytes later, and the garbage collector does not know: what this turn has sent is kept until
   * it was handed over, and per connection what waits for its confirmation.
   */
  readonly #handing: Uint8Array[] = [];
  readonly #awaited: (Uint8Array | undefined)[];
  #isWoken = false;
  readonly #wait: EventWait;

  constructor(options: IoUringTransportOptions) {
    const { libc, connections } = options;
    this.#libc = libc;
    this.#clock = options.clock;
    this.#wait = new EventWait(options.clock, (timeoutUs) => this.#take(timeoutUs));
    this.#sockets = new TcpSockets(libc, options.address, options.port);
    this.#connections = connections;
    this.#states = new Uint8Array(connections);
    this.#fds = new Int32Array(connections).fill(-1);
    this.#generations = new Int32Array(connections);
    this.#errors = new Int32Array(connections);
    this.#unconfirmed = new Int32Array(connections);
    this.#awaited = Array.from({ length: connections });
    this.#tickAddress = libc.addressOf(this.#tick);
  }

  /** @throws Error when the kernel refuses the ring. */
  async run(handler: TransportHandler): Promise<void> {
    // Whoever was told that the engine is ready may have queued something; it runs before the thread is taken.
    await Promise.resolve();
    const wanted = Math.max(this.#connections * COMPLETIONS_PER_CONNECTION, MIN_COMPLETIONS);
    const ring = new Ring(this.#libc, ENTRIES, Math.min(wanted, MAX_COMPLETIONS));
    this.#ring = ring;
    try {
      const buffers = new ReceiveBuffers(this.#libc, ring, this.#connections);
      this.#buffers = buffers;
      this.#startTick(ring);
      this.#loop(handler, ring, buffers);
    } finally {
      for (let i = 0; i < this.#connections; i++) this.close(i, false);
      // The descriptors are closed by the entries written just now.
      ring.enter(0, -1);
      ring.close();
      this.#ring = undefined;
      this.#buffers = undefined;
    }
  }

  wake(): void {
    this.#isWoken = true;
  }

  idleUs(): number {
    return this.#wait.idleUs;
  }

  polledUs(): number {
    return this.#wait.polledUs;
  }

  open(connection: number): void {
    const ring = this.#running();
    let fd = this.#sockets.create(true);
    if (fd === -EMFILE) {
      // Descriptors closed in this turn are given back by the entries that were not handed over yet.
      ring.enter(0, -1);
      fd = this.#sockets.create(true);
    }
    if (fd < 0) {
      this.#fail(connection, -fd);
      return;
    }
    this.#states[connection] = CONNECTING;
    this.#fds[connection] = fd;
    this.#errors[connection] = 0;
    this.#unconfirmed[connection] = 0;
    const { targetAddress, targetSizeBytes } = this.#sockets;
    const at = this.#request(IORING_OP_CONNECT, fd, CONNECTED, connection);
    const { entries } = ring;
    entries[at + 2] = targetSizeBytes;
    entries[at + 4] = targetAddress | 0;
    entries[at + 5] = Math.floor(targetAddress / WORD);
  }

  send(connection: number, bytes: Uint8Array): void {
    const state = this.#states[connection];
    const unconfirmed = this.#unconfirmed[connection] ?? 0;
    if (state === CONNECTING || (state === OPEN && unconfirmed < 0)) {
      this.#unsent.add(connection, bytes, 0);
    } else if (state === OPEN) this.#write(connection, bytes, unconfirmed + bytes.length);
  }

  close(connection: number, abort: boolean): void {
    const fd = this.#fds[connection] ?? -1;
    if (fd >= 0) {
      const ring = this.#running();
      if (abort && this.#states[connection] === OPEN) this.#sockets.resetOnClose(fd);
      const cancel = this.#request(IORING_OP_ASYNC_CANCEL, fd, DISMISSED, connection);
      ring.entries[cancel] = IORING_OP_ASYNC_CANCEL | (IOSQE_CQE_SKIP_SUCCESS << 8);
      if ((this.#unconfirmed[connection] ?? 0) < 0) {
        ring.entries[cancel + 7] = IORING_ASYNC_CANCEL_FD | IORING_ASYNC_CANCEL_ALL;
      } else {
        // Only one thing waits, and by its name the kernel finds it at once; by descriptor it looks at all there are.
        ring.entries[cancel + 4] = connection;
        ring.entries[cancel + 5] = this.#markOf(
          connection,
          this.#states[connection] === CONNECTING ? CONNECTED : RECEIVED,
        );
      }
      const close = this.#request(IORING_OP_CLOSE, fd, DISMISSED, connection);
      ring.entries[close] = IORING_OP_CLOSE | (IOSQE_CQE_SKIP_SUCCESS << 8);
    }
    this.#forget(connection);
  }

  #loop(handler: TransportHandler, ring: Ring, buffers: ReceiveBuffers): void {
    const clock = this.#clock;
    for (;;) {
      // This turn answers every wake-up so far; one from inside it asks for another.
      this.#isWoken = false;
      const nowUs = clock.nowUs();
      const nextUs = handler.onTurn(nowUs);
      if (nextUs < 0) return;
      // What the turn has sent goes out first: that takes time which is no waiting.
      ring.enter(0, -1);
      const isPressed = this.#isWoken || this.#failed.length > 0;
      if (!isPressed && !ring.hasCompletions) this.#wait.until(nextUs);
      if (this.#handing.length > 0) this.#handing.length = 0;
      if (this.#failed.length > 0) this.#tellFailed(handler);
      this.#reap(handler, ring, buffers);
    }
  }

  #take(timeoutUs: number): number {
    const ring = this.#running();
    if (timeoutUs <= 0) ring.enter(0, -1);
    else ring.enter(1, timeoutUs < TICK_US ? timeoutUs : -1);
    return ring.hasCompletions ? 1 : 0;
  }

  /** Deals with all completions that are there, in order. */
  #reap(handler: TransportHandler, ring: Ring, buffers: ReceiveBuffers): void {
    const { words } = ring;
    const tail = ring.tail;
    for (let i = ring.head; i !== tail; i = (i + 1) | 0) {
      const at = ring.positionOf(i);
      const connection = words[at] ?? 0;
      const mark = words[at + 1] ?? 0;
      const result = words[at + 2] ?? 0;
      const flags = words[at + 3] ?? 0;
      const kind = mark & KIND_MASK;
      const isCurrent = mark >>> KIND_BITS === ((this.#generations[connection] ?? 0) & GENERATION_MASK);
      if (kind === RECEIVED) {
        if (isCurrent) this.#onReceived(handler, connection, result, flags);
        if ((flags & IORING_CQE_F_BUFFER) !== 0) buffers.giveBack(flags >>> 16);
      } else if (kind === TICKED) this.#startTick(ring);
      else if (isCurrent && kind === CONNECTED) this.#onConnected(handler, connection, result);
      else if (isCurrent && kind === SENT) this.#onSent(connection, result);
    }
    ring.consumeUntil(tail);
    buffers.publish();
  }

  #onReceived(handler: TransportHandler, connection: number, result: number, flags: number): void {
    if (result > 0) {
      const generation = this.#generations[connection];
      const { bytes, sizeBytes } = this.#currentBuffers();
      const start = (flags >>> 16) * sizeBytes;
      if ((this.#unconfirmed[connection] ?? 0) > 0) this.#unconfirmed[connection] = 0;
      handler.onData(connection, bytes, start, start + result);
      if (this.#generations[connection] !== generation) return;
    } else if (result !== -ENOBUFS) {
      // A failed write takes the error off the socket, which then looks as if it had ended regularly.
      const errno = result === 0 ? (this.#errors[connection] ?? 0) : -result;
      this.#lose(handler, connection, errno === 0 ? CLOSE_CAUSE.ended : causeOfErrno(errno), errno);
      return;
    }
    // The kernel has stopped receiving, for want of buffers or room for completions: both are there again.
    if ((flags & IORING_CQE_F_MORE) === 0) this.#receive(connection);
  }

  #onConnected(handler: TransportHandler, connection: number, result: number): void {
    if (result < 0) {
      this.#lose(handler, connection, causeOfErrno(-result), -result);
      return;
    }
    this.#states[connection] = OPEN;
    this.#receive(connection);
    if (this.#unsent.has(connection)) this.#flush(connection);
    handler.onOpen(connection);
  }

  /** Comes for sends that were to be confirmed, and for those that failed. */
  #onSent(connection: number, result: number): void {
    if (this.#states[connection] !== OPEN) return;
    const expected = this.#unconfirmed[connection] ?? 0;
    if (result < 0 || (expected < 0 && result < -expected)) {
      // What the target sent before is read first; if that does not end by itself, the next turn ends it.
      this.#errors[connection] = result < 0 ? -result : EPIPE;
      this.#failed.push(connection);
    } else if (expected < 0) {
      this.#unconfirmed[connection] = UNCONFIRMED_BYTES;
      this.#flush(connection);
    }
  }

  /** Tells of what failed inside commands or while sending. */
  #tellFailed(handler: TransportHandler): void {
    const due = this.#failed;
    this.#failed = this.#telling;
    this.#telling = due;
    for (const connection of due) {
      const errno = this.#errors[connection] ?? 0;
      if (errno !== 0 && this.#states[connection] !== CLOSED) {
        this.#lose(handler, connection, causeOfErrno(errno), errno);
      }
    }
    due.length = 0;
  }

  #lose(handler: TransportHandler, connection: number, cause: CloseCause, errno: number): void {
    this.close(connection, false);
    handler.onClose(connection, cause, errno);
  }

  #forget(connection: number): void {
    this.#states[connection] = CLOSED;
    this.#fds[connection] = -1;
    this.#errors[connection] = 0;
    this.#generations[connection] = ((this.#generations[connection] ?? 0) + 1) & GENERATION_MASK;
    this.#unsent.clear(connection);
  }

  #fail(connection: number, errno: number): void {
    this.#forget(connection);
    this.#states[connection] = FAILED;
    this.#errors[connection] = errno;
    this.#failed.push(connection);
  }

  #receive(connection: number): void {
    const { entries } = this.#running();
    const at = this.#request(IORING_OP_RECV, this.#fds[connection] ?? -1, RECEIVED, connection);
    entries[at] = IORING_OP_RECV | (IOSQE_BUFFER_SELECT << 8) | (IORING_RECV_MULTISHOT << 16);
  }

  #flush(connection: number): void {
    // One piece at a time: whatever is left waits for its confirmation.
    this.#unsent.flush(connection, (bytes, offset) => {
      if ((this.#unconfirmed[connection] ?? 0) < 0) return -1;
      this.#write(connection, bytes, UNCONFIRMED_BYTES, offset);
      return bytes.length - offset;
    });
  }

  /** @param total bytes that would be unconfirmed after this send. */
  #write(connection: number, bytes: Uint8Array, total: number, offset = 0): void {
    const { entries } = this.#running();
    if (bytes !== this.#sent) this.#remember(bytes);
    const size = bytes.length - offset;
    const isConfirmed = total >= UNCONFIRMED_BYTES;
    this.#unconfirmed[connection] = isConfirmed ? -size : total;
    if (isConfirmed) this.#awaited[connection] = bytes;
    const at = this.#request(IORING_OP_SEND, this.#fds[connection] ?? -1, SENT, connection);
    if (!isConfirmed) entries[at] = IORING_OP_SEND | (IOSQE_CQE_SKIP_SUCCESS << 8);
    entries[at + 4] = this.#sentLow;
    entries[at + 5] = this.#sentHigh;
    entries[at + 6] = size;
    entries[at + 7] = MSG_NOSIGNAL | MSG_WAITALL;
  }

  #remember(bytes: Uint8Array): void {
    const address = this.#libc.addressOf(bytes);
    this.#handing.push(this.#sent);
    this.#sent = bytes;
    this.#sentLow = address | 0;
    this.#sentHigh = Math.floor(address / WORD);
  }

  #startTick(ring: Ring): void {
    const at = ring.nextEntry();
    const { entries } = ring;
    entries[at] = IORING_OP_TIMEOUT;
    entries[at + 1] = -1;
    entries[at + 4] = this.#tickAddress | 0;
    entries[at + 5] = Math.floor(this.#tickAddress / WORD);
    entries[at + 6] = 1;
    entries[at + 9] = TICKED;
  }

  /** @returns the position of the new entry's first word; what is not set is 0. */
  #request(operation: number, fd: number, kind: number, connection: number): number {
    const ring = this.#running();
    const at = ring.nextEntry();
    const { entries } = ring;
    entries[at] = operation;
    entries[at + 1] = fd;
    entries[at + 8] = connection;
    entries[at + 9] = this.#markOf(connection, kind);
    return at;
  }

  /** The second word of ours of what a connection waits for; the first is its number. */
  #markOf(connection: number, kind: number): number {
    return ((this.#generations[connection] ?? 0) << KIND_BITS) | kind;
  }

  #running(): Ring {
    if (this.#ring === undefined) throw new Error('commands are for the time of the run');
    return this.#ring;
  }

  #currentBuffers(): ReceiveBuffers {
    if (this.#buffers === undefined) throw new Error('there are no buffers before the run');
    return this.#buffers;
  }
}
