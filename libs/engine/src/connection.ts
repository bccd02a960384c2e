import type { ResponseParser } from './transport/response-parser.js';

/** What a connection is doing; integers, because the hot path compares them. */
export const CONNECTION_STATE = {
  /** No socket, nothing planned. */
  closed: 0,
  /** Connecting, with a request that waits for it. */
  connecting: 1,
  /** A request is written, its reply not complete. */
  busy: 2,
  /** Open without a request: between probe and start, or while a schedule has nothing due. */
  idle: 3,
  /** The reply is complete and announced the target's close, which is awaited. */
  lingering: 4,
  /** No socket; the next attempt waits after a failed one. */
  backingOff: 5,
} as const;

/** One of the c connections of a load: made once, reused for every socket that takes its place. */
export class Connection {
  state: number = CONNECTION_STATE.closed;
  /** Requests in flight on it, those included that wait for it to be opened; where the first of them is. */
  inFlight = 0;
  head = 0;
  /** Just before `connect()`, and when it was open. */
  askedUs = 0;
  openedUs = 0;
  firstByteUs = 0;
  /** Complete replies on this socket. */
  replies = 0;
  /** Wait before the next attempt after a failed one; 0 after a success. */
  backoffMs = 0;
  readonly parser: ResponseParser;

  constructor(parser: ResponseParser) {
    this.parser = parser;
  }
}
