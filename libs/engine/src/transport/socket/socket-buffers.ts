import type { Socket } from 'node:net';
import { SO_RCVBUF, SO_SNDBUF, SOL_SOCKET } from '../libc/constants.js';
import { type Libc, loadLibc } from '../libc/libc.js';
import { descriptorOf } from './descriptor-of.js';

/**
 * Sets SO_SNDBUF and SO_RCVBUF of sockets that Node has opened. Node itself cannot, so the C library does it
 * on the descriptor; where either is not to be had, the buffers stay as they are and a note says so.
 */
export class SocketBuffers {
  readonly #size: Int32Array;
  #libc: Libc | undefined;

  constructor(sizeBytes: number) {
    this.#size = new Int32Array([sizeBytes]);
  }

  /** @returns why it cannot be done, in one line. */
  async prepare(): Promise<string | undefined> {
    const loaded = await loadLibc();
    if (!loaded.ok) return `socket buffer sizes are left to the system: ${loaded.reason}`;
    this.#libc = loaded.libc;
    return undefined;
  }

  apply(socket: Socket): void {
    const libc = this.#libc;
    if (libc === undefined) return;
    const fd = descriptorOf(socket);
    if (fd < 0) return;
    for (const option of [SO_SNDBUF, SO_RCVBUF]) {
      libc.setsockopt(fd, SOL_SOCKET, option, libc.addressOf(this.#size), 4);
    }
  }
}
