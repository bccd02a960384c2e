/**
 * The portable transport: `node:net`, plain TCP. All sockets of the thread read into one buffer, which is
 * safe because Node calls back right after each read and the engine keeps nothing of it. Closures are made
 * per opened connection, nothing of ours per request.
 */
import { Buffer } from 'node:buffer';
import { createConnection, type Socket } from 'node:net';
import type { Clock } from '../clock.js';
import type { ResolvedAddress } from '../resolve-target.js';
import { causeOfError, errnoOf } from './classify-error.js';
import { CLOSE_CAUSE, type CloseCause, type Transport, type TransportHandler } from './transport.js';

/** Large enough that a reply of usual size comes in one piece. */
const RECEIVE_BYTES = 65_536;
/** Longest time that a timer of Node can wait; a longer one would fire at once. */
const MAX_TIMER_MS = 2_147_483_647;

export interface SocketTransportOptions {
  readonly address: ResolvedAddress;
  readonly port: number;
  readonly connections: number;
  readonly clock: Clock;
}

export class SocketTransport implements Transport {
  readonly name = 'socket';
  readonly #options: SocketTransportOptions;
  readonly #sockets: (Socket | undefined)[];
  readonly #buffer = Buffer.allocUnsafeSlow(RECEIVE_BYTES);
  #handler: TransportHandler | undefined;
  #onEnd: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;

  constructor(options: SocketTransportOptions) {
    this.#options = options;
    this.#sockets = Array.from({ length: options.connections }, () => undefined);
  }

  run(handler: TransportHandler): Promise<void> {
    this.#handler = handler;
    return new Promise((resolve) => {
      this.#onEnd = resolve;
      this.wake();
    });
  }

  wake(): void {
    if (this.#handler !== undefined) this.#immediate ??= setImmediate(this.#turn);
  }

  idleUs(): number {
    return performance.eventLoopUtilization().idle * 1_000;
  }

  open(connection: number): void {
    const buffer = this.#buffer;
    const { address, port } = this.#options;
    const socket: Socket = createConnection({
      host: address.address,
      family: address.family,
      port,
      noDelay: true,
      onread: {
        buffer,
        callback: (sizeBytes) => {
          if (this.#sockets[connection] === socket) this.#handler?.onData(connection, buffer, 0, sizeBytes);
          return true;
        },
      },
    });
    this.#sockets[connection] = socket;
    socket.once('connect', () => {
      if (this.#sockets[connection] === socket) this.#handler?.onOpen(connection);
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.#lose(connection, socket, causeOfError(error), errnoOf(error));
    });
    socket.once('end', () => this.#lose(connection, socket, CLOSE_CAUSE.ended, 0));
    socket.once('close', () => this.#lose(connection, socket, CLOSE_CAUSE.other, 0));
  }

  send(connection: number, bytes: Uint8Array): void {
    this.#sockets[connection]?.write(bytes);
  }

  close(connection: number, abort: boolean): void {
    const socket = this.#sockets[connection];
    if (socket === undefined) return;
    this.#sockets[connection] = undefined;
    if (abort && !socket.connecting) socket.resetAndDestroy();
    else socket.destroy();
  }

  /** The descriptor is closed before the engine hears of it, so that it never holds two for one index. */
  #lose(connection: number, socket: Socket, cause: CloseCause, errno: number): void {
    if (this.#sockets[connection] !== socket) return;
    this.#sockets[connection] = undefined;
    socket.destroy();
    this.#handler?.onClose(connection, cause, errno);
  }

  readonly #turn = (): void => {
    const handler = this.#handler;
    if (handler === undefined) return;
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
    this.#immediate = undefined;
    const nowUs = this.#options.clock.nowUs();
    const nextUs = handler.onTurn(nowUs);
    if (nextUs < 0) {
      this.#end();
      return;
    }
    // Timers of Node count whole ms and never fire early; the rest, less than one, is spent in turns.
    const waitMs = Math.floor((nextUs - nowUs) / 1_000);
    if (waitMs < 1) this.wake();
    else this.#timer = setTimeout(this.#turn, Math.min(waitMs, MAX_TIMER_MS));
  };

  #end(): void {
    this.#handler = undefined;
    for (let i = 0; i < this.#sockets.length; i++) this.close(i, false);
    clearImmediate(this.#immediate);
    this.#onEnd?.();
  }
}
