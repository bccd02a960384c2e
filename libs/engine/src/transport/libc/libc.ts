/**
 * The C library's functions as the transports call them, through koffi: no native code of ours. Buffers go in
 * as addresses that were taken once, which is faster than passing the object each time. As in C, −1 says that
 * a call failed, and `errno` why, until the next call.
 */
import type { LibraryHandle } from 'koffi';

type IoUringEnterArguments = [
  call: number,
  ringFd: number,
  toSubmit: number,
  minComplete: number,
  flags: number,
  argumentAddress: number,
  argumentSizeBytes: number,
];

export interface Libc {
  socket(domain: number, type: number, protocol: number): number;
  connect(fd: number, address: number, sizeBytes: number): number;
  send(fd: number, address: number, sizeBytes: number, flags: number): number;
  recv(fd: number, address: number, sizeBytes: number, flags: number): number;
  read(fd: number, address: number, sizeBytes: number): number;
  close(fd: number): number;
  setsockopt(fd: number, level: number, option: number, address: number, sizeBytes: number): number;
  getsockopt(fd: number, level: number, option: number, address: number, sizeAddress: number): number;
  /** Text to bytes of an address. 1: done, 0: the text is no address. */
  inetPton(family: number, text: string, address: number): number;
  /** Number of a network interface; 0: there is none of this name. */
  ifNametoindex(name: string): number;
  epollCreate1(flags: number): number;
  epollCtl(epollFd: number, operation: number, fd: number, eventAddress: number): number;
  epollWait(epollFd: number, eventsAddress: number, capacity: number, timeoutMs: number): number;
  /** With a timespec instead of milliseconds; absent before glibc 2.35. */
  epollPwait2?(
    epollFd: number,
    eventsAddress: number,
    capacity: number,
    timespecAddress: number,
    signalMaskAddress: number,
  ): number;
  timerfdCreate(clock: number, flags: number): number;
  timerfdSettime(fd: number, flags: number, address: number, oldAddress: number): number;
  /** @returns an address, −1 when it failed. */
  mmap(
    address: number,
    sizeBytes: number,
    protection: number,
    flags: number,
    fd: number,
    offset: number,
  ): number;
  munmap(address: number, sizeBytes: number): number;
  /** System calls that have no function of their own, by number. */
  ioUringSetup(call: number, entries: number, parametersAddress: number): number;
  ioUringEnter: (...args: IoUringEnterArguments) => number;
  ioUringRegister(call: number, ringFd: number, operation: number, address: number, count: number): number;
  /** Why the last call failed. Ask at once: the next call of anything may change it. */
  errno(): number;
  /** Where a buffer's bytes are. They stay there as long as the caller keeps the buffer. */
  addressOf(bytes: ArrayBufferView): number;
  /** Memory that is not JavaScript's. It must not be touched any more once it is unmapped. */
  viewOf(address: number, sizeBytes: number): ArrayBuffer;
}

export type LoadedLibc =
  | { readonly ok: true; readonly libc: Libc }
  /** @param reason one line. */
  | { readonly ok: false; readonly reason: string };

/** `null` is the running process, which has its C library loaded already; the others are for static builds. */
const LIBRARIES = [null, 'libc.so.6', 'libc.musl-x86_64.so.1', 'libc.musl-aarch64.so.1'];

let loaded: Promise<LoadedLibc> | undefined;

/** Loads koffi and the C library, once per thread. koffi's binary may be missing, so it is not imported. */
export function loadLibc(): Promise<LoadedLibc> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<LoadedLibc> {
  if (process.platform !== 'linux') return { ok: false, reason: `${process.platform} is not Linux` };
  if (process.arch !== 'x64' && process.arch !== 'arm64')
    return { ok: false, reason: `the processor type ${process.arch} is not supported` };
  try {
    const { default: koffi } = await import('koffi');
    let reason = '';
    for (const name of LIBRARIES) {
      try {
        const libc = bind(koffi.load(name), koffi);
        return { ok: true, libc };
      } catch (error) {
        reason ||= firstLineOf(error);
      }
    }
    return { ok: false, reason: `the C library cannot be used: ${reason}` };
  } catch (error) {
    return { ok: false, reason: `koffi cannot be loaded: ${firstLineOf(error)}` };
  }
}

interface Memory {
  errno(): number;
  address(value: ArrayBufferView): bigint;
  view(address: number, sizeBytes: number): ArrayBuffer;
}

/** @throws when a function is missing. koffi has no ssize_t: int64_t is the same here. */
function bind(library: LibraryHandle, memory: Memory): Libc {
  const epollPwait2 = bindIfThere(library, 'int epoll_pwait2(int, uintptr_t, int, uintptr_t, uintptr_t)');
  return {
    socket: library.func('int socket(int, int, int)'),
    connect: library.func('int connect(int, uintptr_t, uint32_t)'),
    send: library.func('int64_t send(int, uintptr_t, size_t, int)'),
    recv: library.func('int64_t recv(int, uintptr_t, size_t, int)'),
    read: library.func('int64_t read(int, uintptr_t, size_t)'),
    close: library.func('int close(int)'),
    setsockopt: library.func('int setsockopt(int, int, int, uintptr_t, uint32_t)'),
    getsockopt: library.func('int getsockopt(int, int, int, uintptr_t, uintptr_t)'),
    inetPton: library.func('int inet_pton(int, str, uintptr_t)'),
    ifNametoindex: library.func('uint32_t if_nametoindex(str)'),
    epollCreate1: library.func('int epoll_create1(int)'),
    epollCtl: library.func('int epoll_ctl(int, int, int, uintptr_t)'),
    epollWait: library.func('int epoll_wait(int, uintptr_t, int, int)'),
    ...(epollPwait2 === undefined ? {} : { epollPwait2 }),
    timerfdCreate: library.func('int timerfd_create(int, int)'),
    timerfdSettime: library.func('int timerfd_settime(int, int, uintptr_t, uintptr_t)'),
    mmap: library.func('int64_t mmap(uintptr_t, size_t, int, int, int, int64_t)'),
    munmap: library.func('int munmap(uintptr_t, size_t)'),
    ioUringSetup: library.func('syscall', 'int', ['int64_t', 'uint32_t', 'uintptr_t']),
    ioUringEnter: library.func('syscall', 'int', [
      'int64_t',
      'uint32_t',
      'uint32_t',
      'uint32_t',
      'uint32_t',
      'uintptr_t',
      'size_t',
    ]),
    ioUringRegister: library.func('syscall', 'int', [
      'int64_t',
      'uint32_t',
      'uint32_t',
      'uintptr_t',
      'uint32_t',
    ]),
    errno: () => memory.errno(),
    viewOf: (address, sizeBytes) => memory.view(address, sizeBytes),
    addressOf: (bytes) => Number(memory.address(bytes)),
  };
}

function bindIfThere(library: LibraryHandle, signature: string): Libc['epollPwait2'] {
  try {
    return library.func(signature);
  } catch {
    // An older C library does not have it; the caller has another way.
    return undefined;
  }
}

function firstLineOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n', 1)[0] ?? '';
}
