import type { ResolvedAddress } from '../../resolve-target.js';
import { EINPROGRESS } from './cause-of-errno.js';
import {
  AF_INET,
  AF_INET6,
  IPPROTO_TCP,
  SO_ERROR,
  SO_LINGER,
  SOCK_CLOEXEC,
  SOCK_NONBLOCK,
  SOCK_STREAM,
  SOL_SOCKET,
  TCP_NODELAY,
} from './constants.js';
import type { Libc } from './libc.js';
import { socketAddressOf } from './socket-address.js';

/** Makes, asks and closes TCP sockets to one target. What the calls need lies in memory from the start. */
export class TcpSockets {
  readonly #libc: Libc;
  readonly #family: number;
  readonly #target: Uint8Array;
  readonly #targetAddress: number;
  /** 0: the integer 1. 1 and 2: `struct linger` for a reset. 3: result of getsockopt, 4: its size. */
  readonly #words = new Int32Array([1, 1, 0, 0, 4]);
  readonly #wordsAddress: number;

  constructor(libc: Libc, address: ResolvedAddress, port: number) {
    this.#libc = libc;
    this.#family = address.family === 6 ? AF_INET6 : AF_INET;
    this.#target = socketAddressOf(libc, address, port);
    this.#targetAddress = libc.addressOf(this.#target);
    this.#wordsAddress = libc.addressOf(this.#words);
  }

  /** The target as `sockaddr`. */
  get targetAddress(): number {
    return this.#targetAddress;
  }

  get targetSizeBytes(): number {
    return this.#target.length;
  }

  /**
   * A socket that sends small pieces at once. io_uring needs a blocking one: with others it does not wait for
   * room. @returns a descriptor, or errno as negative.
   */
  create(isBlocking = false): number {
    const libc = this.#libc;
    const fd = libc.socket(this.#family, SOCK_STREAM | SOCK_CLOEXEC | (isBlocking ? 0 : SOCK_NONBLOCK), 0);
    if (fd < 0) return -libc.errno();
    libc.setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, this.#wordsAddress, 4);
    return fd;
  }

  /** Begins to connect. @returns 0, or errno as negative; the descriptor stays the caller's. */
  connect(fd: number): number {
    const libc = this.#libc;
    if (libc.connect(fd, this.#targetAddress, this.#target.length) === 0) return 0;
    const errno = libc.errno();
    return errno === EINPROGRESS ? 0 : -errno;
  }

  /** The error that waits on the socket, which is thereby taken off; 0 when there is none. */
  takeError(fd: number): number {
    const libc = this.#libc;
    const address = this.#wordsAddress;
    this.#words[4] = 4;
    if (libc.getsockopt(fd, SOL_SOCKET, SO_ERROR, address + 12, address + 16) !== 0) return libc.errno();
    return this.#words[3] ?? 0;
  }

  /** @param abort with a reset instead of an orderly end. */
  close(fd: number, abort: boolean): void {
    if (abort) this.resetOnClose(fd);
    this.#libc.close(fd);
  }

  resetOnClose(fd: number): void {
    this.#libc.setsockopt(fd, SOL_SOCKET, SO_LINGER, this.#wordsAddress + 4, 8);
  }
}
