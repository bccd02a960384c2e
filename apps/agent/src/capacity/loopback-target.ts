import { createServer, type Server, type Socket } from 'node:net';

const REPLY = Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n${'.'.repeat(20)}`);
const HEAD_END = Buffer.from('\r\n\r\n');

/** A small server on loopback that answers every request in the same way: what a slot is measured against. */
export class LoopbackTarget {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor() {
    this.#server = createServer({ noDelay: true }, (socket) => this.#serve(socket));
  }

  /** @throws Error when no port of loopback can be listened on. */
  static async listen(): Promise<LoopbackTarget> {
    const target = new LoopbackTarget();
    await new Promise<void>((resolve, reject) => {
      target.#server.once('error', reject);
      target.#server.listen(0, '127.0.0.1', resolve);
    });
    return target;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('the target does not listen');
    return address.port;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  /** Requests have no body, and one is written at once: its end is never divided on loopback. */
  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk) => {
      if (chunk.includes(HEAD_END)) socket.write(REPLY);
    });
  }
}
