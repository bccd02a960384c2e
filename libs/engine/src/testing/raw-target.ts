import { createServer, type Server, type Socket } from 'node:net';

/** What a target does with one request. Both numbers are 0-based. */
export type Behaviour = (socket: Socket, requestOnConnection: number, connection: number) => void;

/** A TCP server on a free loopback port that answers each complete request head as a test says. */
export class RawTarget {
  requests = 0;
  connections = 0;
  open = 0;
  mostOpen = 0;
  /** Every byte received, of all connections one after the other. */
  received = '';
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(behaviour: Behaviour, host: string) {
    this.#server = createServer({ noDelay: true }, (socket) => this.#serve(socket, behaviour));
    this.#server.listen(0, host);
  }

  static async listen(behaviour: Behaviour, host = '127.0.0.1'): Promise<RawTarget> {
    const target = new RawTarget(behaviour, host);
    await new Promise<void>((resolve, reject) => {
      target.#server.once('listening', resolve);
      target.#server.once('error', reject);
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
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #serve(socket: Socket, behaviour: Behaviour): void {
    const connection = this.connections++;
    let onConnection = 0;
    let pending = '';
    this.#sockets.add(socket);
    this.mostOpen = Math.max(this.mostOpen, ++this.open);
    socket.on('close', () => {
      this.open--;
      this.#sockets.delete(socket);
    });
    // The engine resets connections it gives up; that is no concern of the target.
    socket.on('error', () => socket.destroy());
    socket.on('data', (bytes) => {
      const text = bytes.toString('latin1');
      this.received += text;
      pending += text;
      for (let end = pending.indexOf('\r\n\r\n'); end >= 0; end = pending.indexOf('\r\n\r\n')) {
        pending = pending.slice(end + 4);
        this.requests++;
        behaviour(socket, onConnection++, connection);
      }
    });
  }
}

/** A plain reply with a counted body of x. */
export function reply(
  bodyBytes: number,
  options: { status?: number; lines?: readonly string[] } = {},
): string {
  const { status = 200, lines = [] } = options;
  const head = [`HTTP/1.1 ${status} Status`, `Content-Length: ${bodyBytes}`, ...lines, '', ''].join('\r\n');
  return head + 'x'.repeat(bodyBytes);
}
