/**
 * Numbers of the Linux kernel's interface that the transports use. They are the same on x86-64 and arm64; the
 * one layout that differs is in `epoll/epoll-events.ts`. Source: the kernel's uapi headers.
 */

export const AF_INET = 2;
export const AF_INET6 = 10;
export const SOCK_STREAM = 1;
export const SOCK_NONBLOCK = 0o4000;
export const SOCK_CLOEXEC = 0o2000000;

export const IPPROTO_TCP = 6;
export const TCP_NODELAY = 1;
export const SOL_SOCKET = 1;
export const SO_ERROR = 4;
export const SO_SNDBUF = 7;
export const SO_RCVBUF = 8;
export const SO_LINGER = 13;

/** A write to a connection that is gone gives EPIPE instead of a signal that ends the process. */
export const MSG_NOSIGNAL = 0x4000;
/** With io_uring a send is done when all bytes are written. */
export const MSG_WAITALL = 0x100;

export const CLOCK_MONOTONIC = 1;
export const TFD_NONBLOCK = 0o4000;
export const TFD_CLOEXEC = 0o2000000;

export const EPOLL_CLOEXEC = 0o2000000;
export const EPOLL_CTL_ADD = 1;
export const EPOLLIN = 0x1;
export const EPOLLOUT = 0x4;
export const EPOLLERR = 0x8;
export const EPOLLHUP = 0x10;
export const EPOLLRDHUP = 0x2000;
/** Bit 31, as the signed number that an Int32Array holds. */
export const EPOLLET = 1 << 31;
