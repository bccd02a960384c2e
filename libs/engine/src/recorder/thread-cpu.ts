import { readFileSync } from 'node:fs';

const SCHEDSTAT = '/proc/thread-self/schedstat';

/**
 * CPU time of the calling thread in µs since it began. On Linux from the scheduler's own figure (first field,
 * in ns); elsewhere Node 20 has no figure per thread, and the whole process's is given.
 */
export function threadCpuUs(): number {
  if (process.platform === 'linux') {
    const nanoseconds = readSchedstat();
    if (nanoseconds !== undefined) return nanoseconds / 1_000;
  }
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Undefined where the kernel was built without it or a container hides it. */
function readSchedstat(): number | undefined {
  try {
    const nanoseconds = Number.parseInt(readFileSync(SCHEDSTAT, 'latin1'), 10);
    return nanoseconds > 0 ? nanoseconds : undefined;
  } catch {
    return undefined;
  }
}
