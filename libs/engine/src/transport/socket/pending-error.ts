import type { Socket } from 'node:net';
import { SO_ERROR, SOL_SOCKET } from '../libc/constants.js';
import { type Libc, loadLibc } from '../libc/libc.js';
import { descriptorOf } from './descriptor-of.js';

/**
 * The error that waits on a socket whose input has ended. When a reset comes right behind the last bytes, libuv
 * reads those, sees that the peer is gone, and tells of an end without another read: a body that lasts until close
 * would look complete. The kernel still has the error, so it is asked. Where it cannot be (no Linux, no koffi),
 * such a reset is taken for an end, as docs/MEASUREMENT.md says.
 */
export class PendingError {
  /** Result of getsockopt, and its size. */
  readonly #words = new Int32Array(2);
  #libc: Libc | undefined;
  #address = 0;

  async prepare(): Promise<void> {
    const loaded = await loadLibc();
    if (!loaded.ok) return;
    this.#libc = loaded.libc;
    this.#address = loaded.libc.addressOf(this.#words);
  }

  /** Takes it off the socket. @returns errno; 0 when there is none, or when it is not known. */
  take(socket: Socket): number {
    const libc = this.#libc;
    const fd = descriptorOf(socket);
    if (libc === undefined || fd < 0) return 0;
    this.#words[1] = 4;
    const address = this.#address;
    return libc.getsockopt(fd, SOL_SOCKET, SO_ERROR, address, address + 4) === 0 ? (this.#words[0] ?? 0) : 0;
  }
}
