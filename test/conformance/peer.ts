// The other side of a transport under test: accepted sockets by their order, and nothing done by itself.

import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

export class Peer {
  readonly sockets: Socket[] = [];
  readonly #server: Server;
  readonly #waiters: ((socket: Socket) => void)[] = [];
  #next = 0;

  private constructor(onSocket: (socket: Socket) => void) {
    this.#server = createServer({ noDelay: true, allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
      // Resets are part of the tests; those that look for one add their own listener.
      socket.on('error', () => socket.destroy());
      this.sockets.push(socket);
      onSocket(socket);
      const waiter = this.#waiters.shift();
      if (waiter !== undefined) {
        this.#next++;
        waiter(socket);
      }
    });
  }

  /** @param onSocket called with each accepted socket, which is paused. */
  static async listen(
    onSocket: (socket: Socket) => void = () => undefined,
    host = '127.0.0.1',
  ): Promise<Peer> {
    const peer = new Peer(onSocket);
    await new Promise<void>((resolve, reject) => {
      peer.#server.once('error', reject);
      peer.#server.listen({ port: 0, host, backlog: 4_096 }, resolve);
    });
    return peer;
  }

  get port(): number {
    const address = this.#server.address() as AddressInfo | null; // A TCP server has no other kind.
    if (address === null) throw new Error('the peer does not listen');
    return address.port;
  }

  /** The next accepted socket that no earlier call has taken. */
  accepted(): Promise<Socket> {
    const socket = this.sockets[this.#next];
    if (socket === undefined) return new Promise((resolve) => this.#waiters.push(resolve));
    this.#next++;
    return Promise.resolve(socket);
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

/** Sends everything back. */
export function echo(socket: Socket): void {
  socket.pipe(socket);
}

/** How the client ended its side: `end` in order, `reset` by RST. */
export function endOf(socket: Socket): Promise<'end' | 'reset'> {
  return new Promise((resolve) => {
    socket.once('end', () => resolve('end'));
    socket.once('error', () => resolve('reset'));
    socket.resume();
  });
}

/** Everything the client sends until so many bytes are there. */
export async function receive(socket: Socket, sizeBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  await new Promise<void>((resolve) => {
    socket.on('data', (part: Buffer) => {
      parts.push(part);
      size += part.length;
      if (size >= sizeBytes) resolve();
    });
    socket.resume();
  });
  return Buffer.concat(parts);
}
