import type { Probe } from '../epoll/probe-epoll.js';
import { loadLibc } from '../libc/libc.js';
import { ReceiveBuffers } from './receive-buffers.js';
import { Ring } from './ring.js';

/** Whether the io_uring transport works in this process: many containers refuse it, and Linux < 6.1 lacks it. */
export async function probeIoUring(): Promise<Probe> {
  const loaded = await loadLibc();
  if (!loaded.ok) return loaded;
  try {
    const ring = new Ring(loaded.libc, 8, 16);
    try {
      // Registers a buffer ring, the other thing that may not be there.
      void new ReceiveBuffers(loaded.libc, ring, 1);
    } finally {
      ring.close();
    }
    return loaded;
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
}
