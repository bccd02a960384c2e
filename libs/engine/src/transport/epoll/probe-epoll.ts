import { CLOCK_MONOTONIC, EPOLL_CLOEXEC, TFD_CLOEXEC } from '../libc/constants.js';
import { type Libc, loadLibc } from '../libc/libc.js';

export type Probe =
  | { readonly ok: true; readonly libc: Libc }
  /** @param reason one line. */
  | { readonly ok: false; readonly reason: string };

/** Whether the epoll transport works in this process: tried, because a sandbox may refuse any of it. */
export async function probeEpoll(): Promise<Probe> {
  const loaded = await loadLibc();
  if (!loaded.ok) return loaded;
  const { libc } = loaded;
  const calls = [
    ['epoll_create1', () => libc.epollCreate1(EPOLL_CLOEXEC)],
    ['timerfd_create', () => libc.timerfdCreate(CLOCK_MONOTONIC, TFD_CLOEXEC)],
  ] as const;
  for (const [name, call] of calls) {
    const fd = call();
    if (fd < 0) return { ok: false, reason: `${name} is refused (errno ${libc.errno()})` };
    libc.close(fd);
  }
  return loaded;
}
