import type { TransportFacts } from './transport-facts.js';

/**
 * The border between the engine and the wire. Connections are indexes 0 … c−1, never objects, and the
 * transport speaks in turns: it waits, delivers everything that has happened, then asks `onTurn` how long it
 * may wait next. That fits a blocking epoll loop and an io_uring as well as Node's event loop.
 *
 *   run(handler):  wait ─► onOpen / onData / onClose … ─► onTurn ─► wait …        until onTurn says −1
 *
 * Rules for every transport; the engine relies on them:
 * - The handler is never called from inside a command (`open`, `send`, `close`, `wake`), only by the loop.
 *   Commands may be called from inside the handler.
 * - `onData` lends a piece of a shared buffer until it returns. Reads are not announced: each is one call.
 * - Each `open` is answered by one `onOpen` or one `onClose`; each `onOpen` is followed by one `onClose` unless
 *   the engine closes first. After `close`, and after `onClose`, nothing comes for the index until the next
 *   `open`.
 * - What a `send` cannot write at once the transport keeps and writes later; the bytes given stay unchanged.
 */
export interface Transport {
  readonly name: TransportName;
  /** Begins to connect. */
  open(connection: number): void;
  send(connection: number, bytes: Uint8Array): void;
  /** Closes at once. @param abort with a reset, so that the target stops working on the request too. */
  close(connection: number, abort: boolean): void;
  /**
   * Closes a connection that is not open in time, as `close` with a reset does, and says what held it up:
   * `timeout`, `tls` in the handshake, `other` in a proxy's tunnel. Absent where there is nothing but TCP.
   */
  abandon?(connection: number): CloseCause;
  /** How long the TLS handshake of an open connection took, in µs; −1, or absent, without TLS. */
  handshakeUs?(connection: number): number;
  /** What is known beyond events. */
  readonly facts?: TransportFacts;
  /** Delivers turns until `onTurn` returns −1, then closes what is open and resolves. */
  run(handler: TransportHandler): Promise<void>;
  /** Makes the next turn come as soon as possible: something changed that `onTurn` must look at. */
  wake(): void;
  /** Time that the thread has spent waiting since it began, in µs: the rest it was busy. */
  idleUs(): number;
  /**
   * The part of it that was spent looking for events in vain, in µs: CPU time that the thread used and did not
   * need. Absent where a wait always sleeps.
   */
  polledUs?(): number;
}

export type TransportName = 'socket' | 'epoll' | 'io_uring';

export interface TransportHandler {
  /**
   * @param hasInput the target has sent bytes already, which answer nothing. Only told where it costs nothing to
   * know; else such bytes come as the first `onData`, like any others.
   */
  onOpen(connection: number, hasInput?: boolean): void;
  onData(connection: number, buffer: Uint8Array, start: number, end: number): void;
  /** @param errno positive, 0 where there is none. */
  onClose(connection: number, cause: CloseCause, errno: number): void;
  /** @returns when the next turn is wanted at the latest, in µs of the engine's clock; −1 ends the run. */
  onTurn(nowUs: number): number;
}

/** Why a connection was closed, or could not be opened, other than by the engine. */
export const CLOSE_CAUSE = {
  /** The target ended it in the regular way. */
  ended: 0,
  reset: 1,
  refused: 2,
  timeout: 3,
  unreachable: 4,
  noLocalPort: 5,
  noDescriptor: 6,
  tls: 7,
  /** The request could not be written. */
  write: 8,
  other: 9,
} as const;
export type CloseCause = (typeof CLOSE_CAUSE)[keyof typeof CLOSE_CAUSE];
