// What all targets share: a listening socket of their own, one connection after another or many at once,
// requests read in order, and honest counters to compare a load tester's books with.

import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { RequestReader, type TargetRequest } from './request-reader.js';

/** What the target itself saw. Numbers only grow, but for `connectionsOpen`. */
export interface TargetCounters {
  connectionsAccepted: number;
  connectionsOpen: number;
  connectionsOpenMax: number;
  requestsSeen: number;
  /** Replies that were handed to the socket in full, be they right or wrong. */
  repliesSent: number;
  bytesReceived: number;
  /** Connections that ended with an error as this side saw it: the client reset them. */
  socketErrors: number;
  /** Requests of each connection, in the order of acceptance. */
  readonly requestsPerConnection: number[];
}

/** What a test needs of any target. */
export interface Target {
  readonly counters: Readonly<TargetCounters>;
  readonly port: number;
  /** Root of the target, without a slash at the end. */
  readonly url: string;
  start(): Promise<{ readonly port: number }>;
  stop(): Promise<void>;
}

/** One accepted connection as a behaviour sees it. */
export class TargetConnection {
  readonly socket: Socket;
  /** 0 for the first connection of the target. */
  readonly index: number;
  readonly #counters: TargetCounters;

  constructor(socket: Socket, index: number, counters: TargetCounters) {
    this.socket = socket;
    this.index = index;
    this.#counters = counters;
  }

  /** How many requests this connection has carried, the current one included. */
  get requestCount(): number {
    return this.#counters.requestsPerConnection[this.index] ?? 0;
  }

  /** Sends a whole reply; resolves when the kernel has it, or the connection is gone. */
  async reply(...parts: readonly (Buffer | string)[]): Promise<void> {
    if (await this.send(...parts)) this.#counters.repliesSent += 1;
  }

  /** Sends bytes that are no whole reply. False when the connection is gone. */
  send(...parts: readonly (Buffer | string)[]): Promise<boolean> {
    if (!this.socket.writable) return Promise.resolve(false);
    const bytes = Buffer.concat(
      parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)),
    );
    return new Promise((resolve) => this.socket.write(bytes, (error) => resolve(!error)));
  }

  /** FIN after what was sent. */
  finish(): void {
    this.socket.end();
  }

  /** Closes both directions once everything is sent: what the client sends from then on is answered by RST. */
  close(): void {
    this.socket.destroySoon();
  }

  /** RST, whatever is still unsent. */
  reset(): void {
    this.socket.resetAndDestroy();
  }
}

/** Base of the targets: subclasses say what a request, or a new connection, gets. */
export abstract class TargetServer implements Target {
  readonly counters: TargetCounters = {
    connectionsAccepted: 0,
    connectionsOpen: 0,
    connectionsOpenMax: 0,
    requestsSeen: 0,
    repliesSent: 0,
    bytesReceived: 0,
    socketErrors: 0,
    requestsPerConnection: [],
  };
  /** The most recent request, for tests of what goes over the wire. */
  lastRequest: TargetRequest | undefined;
  /** The first thing that went wrong in the target itself; `stop` throws it. */
  #failure: Error | undefined;
  readonly #sockets = new Set<Socket>();
  readonly #server: Server = createServer({ noDelay: true }, (socket) => this.#accept(socket));

  async start(): Promise<{ readonly port: number }> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      // The machine caps the backlog; a burst of connections must not be turned away by us.
      this.#server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, resolve);
    });
    return { port: this.port };
  }

  get port(): number {
    const address = this.#server.address() as AddressInfo | null; // A TCP server has no other kind.
    if (address === null) throw new Error('target: not started');
    return address.port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Drops every connection. Throws when the target itself failed or was sent something that is no request. */
  async stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** The answer to one request. Requests of a connection come one at a time, in order. */
  protected abstract onRequest(connection: TargetConnection, request: TargetRequest): Promise<void> | void;

  /** Called before anything is read. Return false to leave the connection's bytes unread. */
  protected onConnection(_connection: TargetConnection): boolean {
    return true;
  }

  #accept(socket: Socket): void {
    const { counters } = this;
    const connection = new TargetConnection(socket, counters.connectionsAccepted, counters);
    counters.connectionsAccepted += 1;
    counters.connectionsOpen += 1;
    counters.connectionsOpenMax = Math.max(counters.connectionsOpenMax, counters.connectionsOpen);
    counters.requestsPerConnection.push(0);
    this.#sockets.add(socket);
    socket.on('error', () => {
      counters.socketErrors += 1;
    });
    socket.once('close', () => {
      counters.connectionsOpen -= 1;
      this.#sockets.delete(socket);
    });
    if (this.onConnection(connection)) this.#read(connection);
  }

  #read(connection: TargetConnection): void {
    const reader = new RequestReader();
    let turn: Promise<void> | undefined;
    connection.socket.on('data', (chunk: Buffer) => {
      this.counters.bytesReceived += chunk.length;
      try {
        for (const request of reader.push(chunk)) {
          // Without anything pending the answer starts at once, which keeps the quick targets quick.
          const answer =
            turn === undefined
              ? this.#answer(connection, request)
              : turn.then(() => this.#answer(connection, request));
          const next: Promise<void> | undefined = answer
            ?.catch((error: unknown) => this.#fail(connection, error))
            .finally(() => {
              if (turn === next) turn = undefined;
            });
          turn = next;
        }
      } catch (error) {
        this.#fail(connection, error);
      }
    });
  }

  #answer(connection: TargetConnection, request: TargetRequest): Promise<void> | undefined {
    const { counters } = this;
    counters.requestsSeen += 1;
    counters.requestsPerConnection[connection.index] = connection.requestCount + 1;
    this.lastRequest = request;
    return this.onRequest(connection, request) ?? undefined;
  }

  #fail(connection: TargetConnection, error: unknown): void {
    this.#failure ??= error instanceof Error ? error : new Error(String(error));
    connection.socket.destroy();
  }
}
