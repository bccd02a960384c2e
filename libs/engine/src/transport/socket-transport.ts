/**
 * The portable transport: `node:net` and `node:tls`; TCP and unix sockets, TLS, tunnels through a proxy. All
 * sockets of the thread read into one buffer, which is safe because Node calls back right after each read and
 * the engine keeps nothing of it. Closures are made per opened connection, nothing of ours per request.
 *
 * A socket is lost at most once, by whatever happens first, and only while it is the one of its connection:
 * every callback asks that first.
 */
import { Buffer } from 'node:buffer';
import { createConnection, type OnReadOpts, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls';
import { causeOfError, errnoOf, pathReasonOf } from './classify-error.js';
import { ECONNRESET } from './libc/cause-of-errno.js';
import { type OpenTransportOptions, type Place, placesOf } from './open-transport.js';
import { ConnectReplyReader } from './socket/connect-reply.js';
import { PendingError } from './socket/pending-error.js';
import { SocketBuffers } from './socket/socket-buffers.js';
import { TlsDialing } from './socket/tls-dialing.js';
import { isTlsError, tlsReasonOf } from './socket/tls-reason.js';
import { CLOSE_CAUSE, type CloseCause, type Transport, type TransportHandler } from './transport.js';
import { TransportFacts } from './transport-facts.js';

/** Large enough that a reply of usual size comes in one piece. */
const RECEIVE_BYTES = 65_536;
/** Longest time that a timer of Node can wait; a longer one would fire at once. */
const MAX_TIMER_MS = 2_147_483_647;

/** How far a connection is, where opening it takes more than TCP. */
const STEP = { connecting: 0, tunnel: 1, handshake: 2, open: 3 } as const;

/** Why a socket was lost; in words where the cause does not say it all. */
interface Loss {
  readonly cause: CloseCause;
  readonly errno?: number;
  readonly reason?: string;
}

type Destination =
  | { readonly path: string }
  | { readonly host: string; readonly family: number; readonly port: number; readonly localAddress?: string };

export class SocketTransport implements Transport {
  readonly name = 'socket';
  readonly facts = new TransportFacts();
  readonly #options: OpenTransportOptions;
  readonly #places: readonly [Place, ...Place[]];
  readonly #tls: TlsDialing | undefined;
  readonly #buffers: SocketBuffers | undefined;
  readonly #pendingError = new PendingError();
  readonly #sockets: (Socket | undefined)[];
  readonly #steps: Uint8Array;
  /** Empty without TLS. */
  readonly #handshakesUs: Float64Array;
  readonly #buffer = Buffer.allocUnsafeSlow(RECEIVE_BYTES);
  #handler: TransportHandler | undefined;
  #onEnd: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;

  /**
   * @param note why this one is used and not a faster one.
   * @throws TlsSettingsError
   */
  constructor(options: OpenTransportOptions, note?: string) {
    const { tls, socketBufferBytes, connections } = options;
    this.#options = options;
    this.#places = placesOf(options);
    this.facts.note = note;
    this.#tls = tls === undefined ? undefined : new TlsDialing(tls, this.facts);
    this.#buffers = socketBufferBytes === undefined ? undefined : new SocketBuffers(socketBufferBytes);
    this.#sockets = Array.from({ length: connections }, () => undefined);
    this.#steps = new Uint8Array(connections);
    this.#handshakesUs = new Float64Array(tls === undefined ? 0 : connections);
  }

  async run(handler: TransportHandler): Promise<void> {
    if (this.#tls === undefined) await this.#pendingError.prepare();
    const problem = await this.#buffers?.prepare();
    if (problem !== undefined) this.facts.note = problem;
    this.#handler = handler;
    await new Promise<void>((resolve) => {
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
    this.#steps[connection] = STEP.connecting;
    if (this.#options.tunnelRequest !== undefined) this.#openTunnel(connection);
    else if (this.#tls === undefined) this.#openPlain(connection);
    else this.#openTls(connection, this.#tls);
  }

  send(connection: number, bytes: Uint8Array): void {
    this.#sockets[connection]?.write(bytes);
  }

  close(connection: number, abort: boolean): void {
    const socket = this.#sockets[connection];
    if (socket === undefined) return;
    this.#sockets[connection] = undefined;
    // Only plain TCP can be reset from here; Node throws for anything else.
    const canReset = this.#tls === undefined && this.#options.unixPath === undefined;
    if (abort && canReset && !socket.connecting) socket.resetAndDestroy();
    else socket.destroy();
  }

  handshakeUs(connection: number): number {
    return this.#handshakesUs[connection] ?? -1;
  }

  abandon(connection: number): CloseCause {
    const step = this.#steps[connection];
    this.close(connection, true);
    if (step === STEP.tunnel) {
      this.facts.noteReason('the proxy did not answer CONNECT in time');
      return CLOSE_CAUSE.other;
    }
    if (step !== STEP.handshake) return CLOSE_CAUSE.timeout;
    this.facts.noteReason('the TLS handshake was not finished in time');
    return CLOSE_CAUSE.tls;
  }

  #openPlain(connection: number): void {
    const socket: Socket = createConnection({
      ...this.#destination(connection),
      noDelay: true,
      onread: this.#reader(connection, () => socket),
    });
    this.#watch(connection, socket);
    socket.once('connect', () => {
      this.#buffers?.apply(socket);
      if (this.#sockets[connection] === socket) this.#handler?.onOpen(connection);
    });
  }

  #openTls(connection: number, tls: TlsDialing): void {
    // The types of `connect` do not know these options, which it hands on to the socket below.
    const options: ConnectionOptions & { family?: number; localAddress?: string; onread: OnReadOpts } = {
      ...this.#destination(connection),
      ...tls.options,
      onread: this.#reader(connection, () => socket),
    };
    const socket: TLSSocket = connectTls(options);
    this.#watch(connection, socket);
    socket.once('connect', () => {
      socket.setNoDelay(true);
      this.#buffers?.apply(socket);
      this.#shakeHands(connection, socket, tls);
    });
    tls.watch(socket);
  }

  /** Asks the proxy for a tunnel, and speaks TLS through it where that is wanted. */
  #openTunnel(connection: number): void {
    const socket = createConnection({ ...this.#destination(connection), noDelay: true });
    const reader = new ConnectReplyReader();
    this.#watch(connection, socket);
    socket.once('connect', () => {
      this.#buffers?.apply(socket);
      this.#steps[connection] = STEP.tunnel;
      socket.write(this.#options.tunnelRequest ?? '');
    });
    const onData = (piece: Buffer): void => {
      const reply = reader.feed(piece);
      if (reply.kind === 'more') return;
      socket.off('data', onData);
      if (reply.kind === 'refused') {
        this.#lose(connection, socket, { cause: CLOSE_CAUSE.other, reason: reply.reason });
        return;
      }
      socket.pause();
      if (reply.rest.length > 0) socket.unshift(reply.rest);
      if (this.#sockets[connection] === socket) this.#enterTunnel(connection, socket);
    };
    socket.on('data', onData);
  }

  #enterTunnel(connection: number, outer: Socket): void {
    const tls = this.#tls;
    const inner: Socket = tls === undefined ? outer : connectTls({ ...tls.options, socket: outer });
    inner.on('data', (piece: Buffer) => {
      if (this.#sockets[connection] === inner) {
        this.#handler?.onData(connection, piece, 0, piece.length);
      }
    });
    if (tls === undefined) {
      this.#steps[connection] = STEP.open;
      outer.resume();
      this.#handler?.onOpen(connection);
      return;
    }
    // From here on the outer socket only carries the other; what happens to it shows there.
    this.#watch(connection, inner);
    // `connectTls` with a socket gives a TLS socket; the common type is for the line above.
    tls.watch(inner as TLSSocket);
    this.#shakeHands(connection, inner as TLSSocket, tls);
  }

  #shakeHands(connection: number, socket: TLSSocket, tls: TlsDialing): void {
    const { clock } = this.#options;
    const startUs = clock.nowUs();
    this.#steps[connection] = STEP.handshake;
    socket.once('secureConnect', () => {
      if (this.#sockets[connection] !== socket) return;
      this.#steps[connection] = STEP.open;
      const tookUs = clock.nowUs() - startUs;
      tls.noteSecure(socket, tookUs);
      this.#handshakesUs[connection] = tookUs;
      this.#handler?.onOpen(connection);
    });
  }

  /** Where the connection goes: its turn of the places, or the unix socket. */
  #destination(connection: number): Destination {
    const { unixPath, port } = this.#options;
    if (unixPath !== undefined) return { path: unixPath };
    const { address, localAddress } = this.#places[connection % this.#places.length] ?? this.#places[0];
    return {
      host: address.address,
      family: address.family,
      port,
      ...(localAddress === undefined ? {} : { localAddress }),
    };
  }

  #reader(connection: number, socketOf: () => Socket): OnReadOpts {
    const buffer = this.#buffer;
    return {
      buffer,
      callback: (sizeBytes: number): boolean => {
        if (this.#sockets[connection] === socketOf()) {
          this.#handler?.onData(connection, buffer, 0, sizeBytes);
        }
        return true;
      },
    };
  }

  #watch(connection: number, socket: Socket): void {
    this.#sockets[connection] = socket;
    socket.on('error', (error: NodeJS.ErrnoException) => this.#fail(connection, socket, error));
    socket.once('end', () => this.#endInput(connection, socket));
    socket.once('close', () => this.#finish(connection, socket, CLOSE_CAUSE.other));
  }

  #fail(connection: number, socket: Socket, error: NodeJS.ErrnoException): void {
    const step = this.#steps[connection];
    const errno = errnoOf(error);
    if (step === STEP.handshake || isTlsError(error)) {
      const isLost = error.code === 'ECONNRESET' || error.code === 'EPIPE';
      const reason = isLost ? 'the target ended the connection in the TLS handshake' : tlsReasonOf(error);
      this.#lose(connection, socket, { cause: CLOSE_CAUSE.tls, reason });
    } else if (step === STEP.tunnel) {
      const reason = 'the proxy reset the connection on CONNECT';
      this.#lose(connection, socket, { cause: CLOSE_CAUSE.other, errno, reason });
    } else this.#lose(connection, socket, { cause: causeOfError(error), errno, reason: pathReasonOf(error) });
  }

  /** In TLS an end that is not announced is an error of its own. */
  #endInput(connection: number, socket: Socket): void {
    const isReset = this.#tls === undefined && this.#pendingError.take(socket) === ECONNRESET;
    if (isReset && this.#steps[connection] !== STEP.tunnel) {
      this.#lose(connection, socket, { cause: CLOSE_CAUSE.reset, errno: ECONNRESET });
    } else this.#finish(connection, socket, CLOSE_CAUSE.ended);
  }

  #finish(connection: number, socket: Socket, cause: CloseCause): void {
    const step = this.#steps[connection];
    if (step === STEP.handshake) {
      const reason = 'the target ended the connection in the TLS handshake';
      this.#lose(connection, socket, { cause: CLOSE_CAUSE.tls, reason });
    } else if (step === STEP.tunnel) {
      const reason = 'the proxy closed the connection on CONNECT';
      this.#lose(connection, socket, { cause: CLOSE_CAUSE.other, reason });
    } else this.#lose(connection, socket, { cause });
  }

  /** The descriptor is closed before the engine hears of it, so that it never holds two for one index. */
  #lose(connection: number, socket: Socket, { cause, errno = 0, reason = '' }: Loss): void {
    if (this.#sockets[connection] !== socket) return;
    this.#sockets[connection] = undefined;
    socket.destroy();
    this.facts.noteReason(reason);
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
