/**
 * Plain TCP on Linux by `epoll`, which blocks the thread: nothing else of the thread runs until the end of
 * `run`, and orders come through shared memory alone. Each socket is registered once, edge-triggered for
 * both directions, so that a request costs one `recv` and one `send`, and a turn one wait.
 *
 * - Every registration carries the connection's generation, which opening and closing change: an event of a
 *   socket that was closed earlier in the same batch reaches nobody.
 * - A socket is read until a read comes back short, which on an edge-triggered stream means empty, but not
 *   longer than `MAX_READS`; then the others have their turn and it is read on in the next.
 * - A timer in the set ends every wait within `TICK_US`. An order of the host is seen that soon; a descriptor
 *   for waking could be closed and its number given to another file while the host writes to it. The timer
 *   is armed once, where a time limit on each wait would be armed and taken back with each wait.
 */
import type { Clock } from '../../clock.js';
import type { ResolvedAddress } from '../../resolve-target.js';
import { causeOfErrno, EAGAIN, EINTR } from '../libc/cause-of-errno.js';
import {
  CLOCK_MONOTONIC,
  EPOLL_CLOEXEC,
  EPOLL_CTL_ADD,
  EPOLLERR,
  EPOLLET,
  EPOLLHUP,
  EPOLLIN,
  EPOLLOUT,
  EPOLLRDHUP,
  MSG_NOSIGNAL,
  TFD_CLOEXEC,
  TFD_NONBLOCK,
} from '../libc/constants.js';
import { EventWait } from '../libc/event-wait.js';
import type { Libc } from '../libc/libc.js';
import { TcpSockets } from '../libc/tcp-sockets.js';
import { UnsentBytes } from '../libc/unsent-bytes.js';
import { CLOSE_CAUSE, type CloseCause, type Transport, type TransportHandler } from '../transport.js';
import { EpollEvents } from './epoll-events.js';

/** Large enough that a reply of usual size comes in one piece, small enough to stay in the cache. */
const RECEIVE_BYTES = 65_536;
/** Reads of one socket in one turn. */
const MAX_READS = 16;
/** Events fetched by one wait. More that are ready come with the next. */
const EVENTS_PER_WAIT = 512;
/** Longest wait. Below the 5 ms within which an order has to be seen; costs about 1 % of a core when idle. */
const TICK_US = 4_000;
/** Stands for the timer where events name a connection. */
const TICK = -1;

const ENDING = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
const FAILING = EPOLLHUP | EPOLLERR;
const READABLE = EPOLLIN | ENDING;
const INTEREST = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;

const CLOSED = 0;
const CONNECTING = 1;
const OPEN = 2;
/** It could not be opened, and the engine has not been told yet. */
const FAILED = 3;

export interface EpollTransportOptions {
  readonly libc: Libc;
  readonly address: ResolvedAddress;
  readonly port: number;
  readonly connections: number;
  readonly clock: Clock;
}

export class EpollTransport implements Transport {
  readonly name = 'epoll';
  readonly #libc: Libc;
  readonly #clock: Clock;
  readonly #sockets: TcpSockets;
  readonly #states: Uint8Array;
  readonly #fds: Int32Array;
  readonly #generations: Int32Array;
  /** Why the connection is to be given up, 0 otherwise: found in a command, told by the loop. */
  readonly #errors: Int32Array;
  readonly #unsent = new UnsentBytes();
  /** Connections that the loop must look at in the next turn, whether they have an event or not. */
  #attention: number[] = [];
  #attended: number[] = [];
  readonly #buffer = new Uint8Array(RECEIVE_BYTES);
  readonly #bufferAddress: number;
  readonly #events: EpollEvents;
  readonly #registration: EpollEvents;
  /** Seconds and nanoseconds, 64 bits each; also where the timer's count goes, which nobody needs. */
  readonly #timespec = new Int32Array(4);
  readonly #timespecAddress: number;
  /** The bytes sent last and where they are: usually all requests are the same ones. */
  #sent: Uint8Array = new Uint8Array(0);
  #sentAddress = 0;
  #epollFd = -1;
  #timerFd = -1;
  #isWoken = false;
  readonly #wait: EventWait;

  constructor(options: EpollTransportOptions) {
    const { libc, connections } = options;
    this.#libc = libc;
    this.#clock = options.clock;
    this.#wait = new EventWait(options.clock, (timeoutUs) => this.#take(timeoutUs));
    this.#sockets = new TcpSockets(libc, options.address, options.port);
    this.#states = new Uint8Array(connections);
    this.#fds = new Int32Array(connections).fill(-1);
    this.#generations = new Int32Array(connections);
    this.#errors = new Int32Array(connections);
    this.#bufferAddress = libc.addressOf(this.#buffer);
    this.#events = new EpollEvents(libc, EVENTS_PER_WAIT);
    this.#registration = new EpollEvents(libc, 1);
    this.#timespecAddress = libc.addressOf(this.#timespec);
  }

  /** @throws Error when the kernel refuses the descriptors of the loop itself. */
  async run(handler: TransportHandler): Promise<void> {
    // Whoever was told that the engine is ready may have queued something; it runs before the thread is taken.
    await Promise.resolve();
    const libc = this.#libc;
    this.#epollFd = libc.epollCreate1(EPOLL_CLOEXEC);
    if (this.#epollFd < 0) throw new Error(`epoll_create1 failed (errno ${libc.errno()})`);
    this.#timerFd = libc.timerfdCreate(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    try {
      if (this.#timerFd < 0) throw new Error(`timerfd_create failed (errno ${libc.errno()})`);
      this.#startTicking(this.#timerFd);
      this.#loop(handler);
    } finally {
      for (let i = 0; i < this.#fds.length; i++) this.close(i, false);
      if (this.#timerFd >= 0) libc.close(this.#timerFd);
      libc.close(this.#epollFd);
      this.#epollFd = -1;
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
    const fd = this.#sockets.create();
    if (fd < 0) {
      this.#fail(connection, -fd);
      return;
    }
    // Registered only now: a socket that does not connect yet counts as hung up.
    const refused = this.#sockets.connect(fd);
    const errno = refused < 0 ? -refused : this.#register(fd, connection);
    if (errno !== 0) {
      this.#libc.close(fd);
      this.#fail(connection, errno);
      return;
    }
    this.#states[connection] = CONNECTING;
    this.#fds[connection] = fd;
    this.#errors[connection] = 0;
  }

  send(connection: number, bytes: Uint8Array): void {
    const state = this.#states[connection];
    if (state === CONNECTING || this.#unsent.has(connection)) {
      this.#unsent.add(connection, bytes, 0);
      return;
    }
    if (state !== OPEN || this.#errors[connection] !== 0) return;
    const fd = this.#fds[connection] ?? -1;
    const written = this.#libc.send(fd, this.#addressOf(bytes), bytes.length, MSG_NOSIGNAL);
    if (written !== bytes.length) this.#keep(connection, bytes, written);
  }

  close(connection: number, abort: boolean): void {
    const fd = this.#fds[connection] ?? -1;
    if (fd >= 0) this.#sockets.close(fd, abort && this.#states[connection] === OPEN);
    this.#forget(connection);
  }

  #loop(handler: TransportHandler): void {
    const clock = this.#clock;
    for (;;) {
      // This turn answers every wake-up so far; one from inside it asks for another.
      this.#isWoken = false;
      const nowUs = clock.nowUs();
      const nextUs = handler.onTurn(nowUs);
      if (nextUs < 0) return;
      const isPressed = this.#isWoken || this.#attention.length > 0;
      const count = isPressed || nextUs <= nowUs ? this.#take(0) : this.#wait.until(nextUs);
      if (this.#attention.length > 0) this.#attend(handler);
      for (let i = 0; i < count; i++) this.#deliver(handler, i);
    }
  }

  /** @returns how many events have come within the time. */
  #take(timeoutUs: number): number {
    const libc = this.#libc;
    const { address, capacity } = this.#events;
    if (timeoutUs >= TICK_US) return libc.epollWait(this.#epollFd, address, capacity, -1);
    if (timeoutUs <= 0) return libc.epollWait(this.#epollFd, address, capacity, 0);
    if (libc.epollPwait2 === undefined) {
      return libc.epollWait(this.#epollFd, address, capacity, Math.ceil(timeoutUs / 1_000));
    }
    this.#timespec[0] = 0;
    this.#timespec[1] = 0;
    this.#timespec[2] = timeoutUs * 1_000;
    return libc.epollPwait2(this.#epollFd, address, capacity, this.#timespecAddress, 0);
  }

  #deliver(handler: TransportHandler, position: number): void {
    const connection = this.#events.connectionAt(position);
    if (connection === TICK) {
      // Only a timer that is read goes on ticking.
      this.#libc.read(this.#timerFd, this.#timespecAddress, 8);
      return;
    }
    const generation = this.#events.generationAt(position);
    if (this.#generations[connection] !== generation) return;
    const mask = this.#events.maskAt(position);
    if (this.#states[connection] === CONNECTING) {
      if ((mask & (EPOLLOUT | FAILING)) === 0) return;
      this.#endConnect(handler, connection, mask);
      if (this.#generations[connection] !== generation) return;
    }
    if ((mask & EPOLLOUT) !== 0 && this.#unsent.has(connection)) this.#flush(connection);
    if ((mask & READABLE) !== 0) this.#read(handler, connection, (mask & ENDING) !== 0);
  }

  #endConnect(handler: TransportHandler, connection: number, mask: number): void {
    const errno = (mask & FAILING) === 0 ? 0 : this.#sockets.takeError(this.#fds[connection] ?? -1);
    if (errno !== 0) {
      this.#lose(handler, connection, causeOfErrno(errno), errno);
      return;
    }
    this.#states[connection] = OPEN;
    // With the end of the input the same bit says that there is something to read, but not that it is bytes.
    handler.onOpen(connection, (mask & (EPOLLIN | ENDING)) === EPOLLIN);
  }

  /** @param isEnding the end of the input may lie right behind the bytes: a short read is not the last. */
  #read(handler: TransportHandler, connection: number, isEnding: boolean): void {
    const libc = this.#libc;
    const generation = this.#generations[connection];
    const fd = this.#fds[connection] ?? -1;
    for (let reads = 0; reads < MAX_READS; reads++) {
      const size = libc.recv(fd, this.#bufferAddress, RECEIVE_BYTES, 0);
      if (size > 0) {
        handler.onData(connection, this.#buffer, 0, size);
        if (this.#generations[connection] !== generation) return;
        if (size < RECEIVE_BYTES && !isEnding) return;
      } else if (size === 0) {
        // A failed write takes the error off the socket, which then looks as if it had ended regularly.
        const errno = this.#errors[connection] ?? 0;
        this.#lose(handler, connection, errno === 0 ? CLOSE_CAUSE.ended : causeOfErrno(errno), errno);
        return;
      } else if (this.#endRead(handler, connection)) return;
    }
    this.#attention.push(connection);
  }

  /** After a read that failed. @returns false when it may be tried again at once. */
  #endRead(handler: TransportHandler, connection: number): boolean {
    const errno = this.#libc.errno();
    if (errno === EINTR) return false;
    const earlier = this.#errors[connection] ?? 0;
    if (errno !== EAGAIN) this.#lose(handler, connection, causeOfErrno(errno), errno);
    else if (earlier !== 0) this.#lose(handler, connection, causeOfErrno(earlier), earlier);
    return true;
  }

  /** Tells of what failed inside commands, and reads on where the last turn stopped. */
  #attend(handler: TransportHandler): void {
    const due = this.#attention;
    this.#attention = this.#attended;
    this.#attended = due;
    for (const connection of due) {
      const state = this.#states[connection];
      if (state === OPEN) this.#read(handler, connection, true);
      else if (state === FAILED) {
        const errno = this.#errors[connection] ?? 0;
        this.#lose(handler, connection, causeOfErrno(errno), errno);
      }
    }
    due.length = 0;
  }

  /** The descriptor is closed before the engine hears of it, so that it never holds two for one index. */
  #lose(handler: TransportHandler, connection: number, cause: CloseCause, errno: number): void {
    this.close(connection, false);
    handler.onClose(connection, cause, errno);
  }

  #forget(connection: number): void {
    this.#states[connection] = CLOSED;
    this.#fds[connection] = -1;
    this.#errors[connection] = 0;
    this.#generations[connection] = ((this.#generations[connection] ?? 0) + 1) | 0;
    this.#unsent.clear(connection);
  }

  #fail(connection: number, errno: number): void {
    this.#forget(connection);
    this.#states[connection] = FAILED;
    this.#errors[connection] = errno;
    this.#attention.push(connection);
  }

  /** @returns 0, or errno. */
  #register(fd: number, connection: number): number {
    this.#registration.setFirst(INTEREST, connection, this.#generations[connection] ?? 0);
    const { address } = this.#registration;
    return this.#libc.epollCtl(this.#epollFd, EPOLL_CTL_ADD, fd, address) === 0 ? 0 : this.#libc.errno();
  }

  /** A write was not complete. It is tried again until the socket is full, then it will be reported writable. */
  #keep(connection: number, bytes: Uint8Array, written: number): void {
    if (written < 0 && !this.#isTemporary(connection)) return;
    this.#unsent.add(connection, bytes, Math.max(written, 0));
    this.#flush(connection);
  }

  #flush(connection: number): void {
    this.#unsent.flush(connection, (bytes, offset) => this.#write(connection, bytes, offset));
  }

  /** @returns the bytes written, −1 when nothing more goes now or ever. */
  #write(connection: number, bytes: Uint8Array, offset: number): number {
    const libc = this.#libc;
    const fd = this.#fds[connection] ?? -1;
    const address = this.#addressOf(bytes) + offset;
    const written = libc.send(fd, address, bytes.length - offset, MSG_NOSIGNAL);
    if (written < 0) this.#isTemporary(connection);
    return written;
  }

  /**
   * After a write that failed: whether it may be tried again once the socket is writable. If not, the loop
   * tells of it, when it has read what the target had sent before.
   */
  #isTemporary(connection: number): boolean {
    const errno = this.#libc.errno();
    if (errno === EAGAIN || errno === EINTR) return true;
    this.#errors[connection] = errno;
    this.#attention.push(connection);
    return false;
  }

  #addressOf(bytes: Uint8Array): number {
    if (bytes !== this.#sent) {
      this.#sentAddress = this.#libc.addressOf(bytes);
      this.#sent = bytes;
    }
    return this.#sentAddress;
  }

  #startTicking(timerFd: number): void {
    // Interval and first expiry as `struct itimerspec`: seconds and nanoseconds, 64 bits each.
    const nanoseconds = TICK_US * 1_000;
    const times = new Int32Array([0, 0, nanoseconds, 0, 0, 0, nanoseconds, 0]);
    const libc = this.#libc;
    this.#registration.setFirst(EPOLLIN | EPOLLET, TICK, 0);
    const isSet = libc.timerfdSettime(timerFd, 0, libc.addressOf(times), 0) === 0;
    const { address } = this.#registration;
    if (!isSet || libc.epollCtl(this.#epollFd, EPOLL_CTL_ADD, timerFd, address) !== 0) {
      throw new Error(`the timer of the loop cannot be set up (errno ${libc.errno()})`);
    }
  }
}
