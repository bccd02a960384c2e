/**
 * The closed model: c connections, each with one request in flight at all times. The next request is written
 * from the handler that saw the previous reply complete; a connection that was closed is opened again. Every
 * request that is taken up ends in exactly one outcome (`#settle`), or is in flight when the load ends.
 *
 *   closed ─► connecting ─► busy ⇄ (reply complete, kept)
 *     ▲           │           ├─► lingering ─► closed by the target ─► connecting …
 *     └ backingOff ◄ failed   └─► failed or closed ─► connecting …
 */
import { COUNTER, FAILURE, type Shard } from '@broadside/shared';
import type { Budget } from './budget.js';
import { connectFailureOf, lossOf } from './classify-loss.js';
import type { Clock } from './clock.js';
import { ConnectPatience, nextBackoffMs } from './connect-patience.js';
import { CONNECTION_STATE, Connection } from './connection.js';
import { Deadlines } from './deadlines.js';
import { fatalOf } from './fatal-of.js';
import type { LoadEvents } from './load-events.js';
import type { IntervalClock } from './recorder/interval-clock.js';
import type { Recorder } from './recorder/recorder.js';
import { ReplyMemory } from './transport/reply-memory.js';
import { PARSED, ResponseParser } from './transport/response-parser.js';
import { ServerName } from './transport/server-name.js';
import { CLOSE_CAUSE, type CloseCause, type Transport } from './transport/transport.js';

/** Connections opened in one turn: between two batches the first of them get their turn to send and receive. */
const OPEN_BATCH = 100;
/**
 * How long the target may take to close a connection whose end it has announced, or that HTTP/1.0 without
 * keep-alive implies; then we close it. Who closes first keeps a local port blocked for a minute.
 */
const LINGER_US = 100_000;
const ETIMEDOUT = 110;
const NO_FAILURE = -1;

/** Index tables as plain numbers: looking a name up in an object costs more than the addition it is for. */
const {
  planned: PLANNED,
  sent: SENT,
  completed: COMPLETED,
  inFlightAtEnd: IN_FLIGHT_AT_END,
  non2xx: NON_2XX,
  keepAliveReplies: KEEP_ALIVE_REPLIES,
  bytesReceived: BYTES_RECEIVED,
  bodyBytesReceived: BODY_BYTES_RECEIVED,
  bytesSent: BYTES_SENT,
} = COUNTER;
const { closed: CLOSED, connecting: CONNECTING, busy: BUSY } = CONNECTION_STATE;
const { idle: IDLE, lingering: LINGERING, backingOff: BACKING_OFF } = CONNECTION_STATE;

export interface ClosedLoadOptions {
  readonly shard: Shard;
  readonly requestBytes: Uint8Array;
  /** `host:port` as messages name the target. */
  readonly peer: string;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly budget: Budget;
  readonly recorder: Recorder;
  readonly intervals: IntervalClock;
  readonly events: LoadEvents;
}

export class ClosedLoad {
  readonly serverName = new ServerName();
  inFlight = 0;
  openConnections = 0;

  readonly #options: ClosedLoadOptions;
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #recorder: Recorder;
  readonly #intervals: IntervalClock;
  readonly #requestBytes: Uint8Array;
  readonly #timeoutUs: number;
  readonly #connectTimeoutUs: number;
  readonly #isHead: boolean;
  readonly #keepAlive: boolean;
  readonly #isHttp10: boolean;
  readonly #failOnStatus: boolean;
  readonly #patience: ConnectPatience;
  readonly #connections: Connection[];
  readonly #deadlines: Deadlines;
  /** Next connection to open at the start; c when all are. */
  #opening: number;
  /** True until the start: a connection that becomes free takes no further request. */
  #isHeld = true;
  #isProbing = false;
  #referenceBytes = -1;

  constructor(options: ClosedLoadOptions) {
    const { shard } = options;
    this.#options = options;
    this.#transport = options.transport;
    this.#clock = options.clock;
    this.#recorder = options.recorder;
    this.#intervals = options.intervals;
    this.#requestBytes = options.requestBytes;
    this.#timeoutUs = shard.timeoutMs * 1_000;
    this.#connectTimeoutUs = (shard.connection?.connectTimeoutMs ?? shard.timeoutMs) * 1_000;
    this.#isHead = shard.request.method === 'HEAD';
    this.#keepAlive = shard.keepAlive;
    this.#isHttp10 = shard.request.httpVersion === '1.0';
    this.#failOnStatus = shard.failOnStatus;
    this.#patience = new ConnectPatience({
      isTimed: shard.durationMs !== undefined,
      timeoutMs: shard.timeoutMs,
    });
    const limits = { maxHeaderBytes: shard.maxReplyHeaderBytes, maxBodyBytes: shard.maxReplyBodyBytes };
    const share = { serverName: this.serverName, memory: new ReplyMemory() };
    this.#connections = Array.from(
      { length: shard.connections },
      () => new Connection(new ResponseParser(limits, share)),
    );
    this.#deadlines = new Deadlines(shard.connections);
    this.#opening = shard.connections;
  }

  /** When `turn` wants to be called next at the latest. */
  get nextUs(): number {
    return this.#deadlines.nextUs;
  }

  /** Sends the first request alone on connection 0. */
  probe(nowUs: number): void {
    this.#isProbing = true;
    this.#open(0, nowUs);
  }

  /** @param referenceBytes body length that replies must have; −1: any. */
  start(referenceBytes: number): void {
    this.#isHeld = false;
    this.#referenceBytes = referenceBytes;
    this.#opening = 0;
  }

  /** Deals with passed deadlines and with connections that are still to be opened. */
  turn(nowUs: number): void {
    this.#deadlines.expire(nowUs, (connection) => this.#onDeadline(connection, nowUs));
    const stop = Math.min(this.#opening + OPEN_BATCH, this.#connections.length);
    for (; this.#opening < stop; this.#opening++) {
      const connection = this.#at(this.#opening);
      if (connection.state === IDLE) this.#next(this.#opening, connection, this.#clock.nowUs());
      else if (connection.state === CLOSED) this.#resume(this.#opening, connection, this.#clock.nowUs());
    }
    if (this.#opening < this.#connections.length) this.#transport.wake();
  }

  /** Gives up what is in flight and closes every connection. */
  end(): void {
    for (const [index, connection] of this.#connections.entries()) {
      const { state } = connection;
      if (state === BUSY || state === CONNECTING) {
        this.inFlight--;
        this.#recorder.count(IN_FLIGHT_AT_END, 1);
      }
      if (state === BUSY) this.#recorder.count(BODY_BYTES_RECEIVED, connection.parser.bodyBytes);
      if (state === CONNECTING) this.#recorder.count(COUNTER.connectionsFailed, 1);
      if (state === BUSY || state === IDLE || state === LINGERING) this.#drop(COUNTER.connectionsClosedByUs);
      this.#transport.close(index, false);
      connection.state = CLOSED;
      this.#deadlines.clear(index);
    }
  }

  onOpen(index: number): void {
    const nowUs = this.#clock.nowUs();
    this.#intervals.advance(nowUs);
    const connection = this.#at(index);
    this.#recorder.count(COUNTER.connectionsOpened, 1);
    this.#recorder.connect.record(nowUs - connection.startUs);
    this.openConnections++;
    this.#patience.noteOpened();
    connection.backoffMs = 0;
    connection.replies = 0;
    if (this.#connectTimeoutUs < this.#timeoutUs) {
      this.#setDeadline(index, connection.startUs + this.#timeoutUs);
    }
    this.#send(index, connection, nowUs);
  }

  onData(index: number, buffer: Uint8Array, start: number, end: number): void {
    const nowUs = this.#clock.nowUs();
    this.#intervals.advance(nowUs);
    this.#intervals.noteEvent(nowUs);
    this.#recorder.count(BYTES_RECEIVED, end - start);
    const connection = this.#at(index);
    if (connection.state !== BUSY) {
      // Nobody asked for these bytes. A lingering connection is as good as closed; an idle one is spoilt.
      if (connection.state === IDLE) this.#closeByUs(index, connection, false);
      return;
    }
    const { parser } = connection;
    if (parser.wireBytes === 0) connection.firstByteUs = nowUs;
    const result = parser.feed(buffer, start, end);
    if (result === PARSED.more) return;
    if (result === PARSED.complete) {
      this.#onReply(index, connection, nowUs, parser.position < end);
      return;
    }
    this.#settle(connection, result === PARSED.tooLarge ? FAILURE.tooLarge : FAILURE.malformed, nowUs);
    this.#closeByUs(index, connection, true);
    this.#resume(index, connection, nowUs);
  }

  onClose(index: number, cause: CloseCause, errno: number): void {
    const nowUs = this.#clock.nowUs();
    this.#intervals.advance(nowUs);
    this.#intervals.noteEvent(nowUs);
    const connection = this.#at(index);
    const { state } = connection;
    connection.state = CLOSED;
    if (state === CONNECTING) {
      this.#onConnectFailed(index, connection, connectFailureOf(cause), errno);
    } else if (state === BUSY) {
      this.#onLost(connection, nowUs, cause, errno);
      this.#resume(index, connection, nowUs);
    } else if (state === IDLE) {
      this.#drop(COUNTER.connectionsClosedIdle);
    } else if (state === LINGERING) {
      this.#drop(COUNTER.connectionsClosedAnnounced);
      this.#resume(index, connection, nowUs);
    }
  }

  #at(index: number): Connection {
    const connection = this.#connections[index];
    if (connection === undefined) throw new RangeError(`no connection ${index}`);
    return connection;
  }

  /** Takes up a request and begins to connect for it. */
  #open(index: number, nowUs: number): void {
    const connection = this.#at(index);
    if (!this.#take(index, connection, nowUs)) return;
    connection.state = CONNECTING;
    if (this.#connectTimeoutUs < this.#timeoutUs) this.#setDeadline(index, nowUs + this.#connectTimeoutUs);
    this.#recorder.count(COUNTER.connectionsAsked, 1);
    this.#transport.open(index);
  }

  #take(index: number, connection: Connection, nowUs: number): boolean {
    if (!this.#options.budget.take()) return false;
    this.#recorder.count(PLANNED, 1);
    this.#recorder.count(SENT, 1);
    this.inFlight++;
    this.#intervals.noteSend(nowUs);
    connection.startUs = nowUs;
    this.#setDeadline(index, nowUs + this.#timeoutUs);
    return true;
  }

  #send(index: number, connection: Connection, nowUs: number): void {
    connection.state = BUSY;
    connection.sentUs = nowUs;
    connection.parser.begin(this.#isHead);
    this.#recorder.count(BYTES_SENT, this.#requestBytes.length);
    this.#transport.send(index, this.#requestBytes);
  }

  /** The connection is open and free. */
  #next(index: number, connection: Connection, nowUs: number): void {
    if (this.#isHeld) {
      connection.state = IDLE;
      this.#deadlines.clear(index);
    } else if (this.#take(index, connection, nowUs)) this.#send(index, connection, nowUs);
    else this.#closeByUs(index, connection, false);
  }

  /** The connection has no socket. */
  #resume(index: number, connection: Connection, nowUs: number): void {
    connection.state = CLOSED;
    this.#deadlines.clear(index);
    if (!this.#isHeld) this.#open(index, nowUs);
  }

  #onReply(index: number, connection: Connection, nowUs: number, hasSurplus: boolean): void {
    const { parser } = connection;
    this.#recordReply(connection, nowUs);
    const isKept = this.#keepAlive && !hasSurplus && parser.mayPersist;
    if (isKept) {
      this.#recorder.count(KEEP_ALIVE_REPLIES, 1);
      this.#next(index, connection, nowUs);
    } else if (!hasSurplus && (this.#isHttp10 || !parser.mayPersist)) {
      connection.state = LINGERING;
      this.#setDeadline(index, nowUs + LINGER_US);
    } else {
      // The target would keep the connection and we do not want it, or bytes follow that answer nothing we
      // sent: the next reply could be misread.
      this.#closeByUs(index, connection, hasSurplus);
      this.#resume(index, connection, nowUs);
    }
  }

  /** Books a complete reply: latencies, status, outcome. */
  #recordReply(connection: Connection, nowUs: number): void {
    const { parser, startUs, sentUs } = connection;
    const recorder = this.#recorder;
    recorder.wait.record(connection.firstByteUs - sentUs);
    if (connection.replies > 0) recorder.reused.record(nowUs - startUs);
    else {
      recorder.fresh.record(nowUs - startUs);
      recorder.freshProcessing.record(nowUs - sentUs);
    }
    connection.replies++;
    recorder.countStatus(parser.status);
    const isSuccess = parser.status >= 200 && parser.status < 300;
    if (!isSuccess) recorder.count(NON_2XX, 1);
    let failure = NO_FAILURE;
    if (!isSuccess && this.#failOnStatus) failure = FAILURE.status;
    else if (this.#referenceBytes >= 0 && parser.bodyBytes !== this.#referenceBytes)
      failure = FAILURE.lengthDiffers;
    this.#settle(connection, failure, nowUs);
  }

  /** Gives the request in flight its one outcome. @param failure `NO_FAILURE` or a failure class. */
  #settle(connection: Connection, failure: number, nowUs: number, errno = 0): void {
    this.inFlight--;
    if (connection.state !== CONNECTING)
      this.#recorder.count(BODY_BYTES_RECEIVED, connection.parser.bodyBytes);
    if (failure === NO_FAILURE) this.#recorder.count(COMPLETED, 1);
    else this.#recorder.countFailure(failure);
    if (this.#isProbing) this.#endProbe(connection, failure, nowUs, errno);
    else if (this.inFlight === 0 && !this.#options.budget.hasMore) this.#transport.wake();
  }

  #endProbe(connection: Connection, failure: number, nowUs: number, errno: number): void {
    this.#isProbing = false;
    const { status, bodyBytes } = connection.parser;
    const outcome = { tookUs: nowUs - connection.startUs, status, bodyBytes };
    const isReply = failure === NO_FAILURE || failure === FAILURE.status;
    const { events, peer } = this.#options;
    events.onProbed(isReply ? outcome : { ...outcome, fatal: fatalOf(failure, errno, peer) });
  }

  /** The target ended a connection with a request in flight. */
  #onLost(connection: Connection, nowUs: number, cause: CloseCause, errno: number): void {
    const { parser } = connection;
    const isEnd = cause === CLOSE_CAUSE.ended;
    if (isEnd && parser.end() === PARSED.complete) {
      this.#drop(COUNTER.connectionsClosedAnnounced);
      this.#recordReply(connection, nowUs);
      return;
    }
    this.#drop(COUNTER.connectionsClosedUnannounced);
    const failure = lossOf(cause, parser.wireBytes > 0, connection.replies > 0);
    this.#settle(connection, failure, nowUs, errno);
    const isReset = failure === FAILURE.resetBeforeFirstByte || failure === FAILURE.resetAfterFirstByte;
    if (isReset && this.#options.shard.onSocketError === 'stop') this.#giveUp(failure, errno);
  }

  #onConnectFailed(index: number, connection: Connection, failure: number, errno: number): void {
    const nowUs = this.#clock.nowUs();
    this.#recorder.count(COUNTER.connectionsFailed, 1);
    connection.state = CONNECTING;
    this.#settle(connection, failure, nowUs, errno);
    const isHopeless = this.#patience.noteFailed(nowUs);
    if (isHopeless || this.#options.shard.onSocketError === 'stop') this.#giveUp(failure, errno);
    connection.backoffMs = nextBackoffMs(connection.backoffMs);
    connection.state = BACKING_OFF;
    this.#setDeadline(index, nowUs + connection.backoffMs * 1_000);
  }

  #onDeadline(index: number, nowUs: number): void {
    const connection = this.#at(index);
    if (connection.state === CONNECTING) {
      const transport = this.#transport;
      const cause = transport.abandon?.(index) ?? CLOSE_CAUSE.timeout;
      if (transport.abandon === undefined) transport.close(index, true);
      const errno = cause === CLOSE_CAUSE.timeout ? ETIMEDOUT : 0;
      this.#onConnectFailed(index, connection, connectFailureOf(cause), errno);
      return;
    }
    if (connection.state === BUSY) {
      this.#settle(connection, FAILURE.timeout, nowUs, ETIMEDOUT);
      this.#closeByUs(index, connection, true);
      if (this.#options.shard.onSocketError === 'stop') this.#giveUp(FAILURE.timeout, ETIMEDOUT);
    } else if (connection.state === LINGERING) this.#closeByUs(index, connection, false);
    this.#resume(index, connection, nowUs);
  }

  #closeByUs(index: number, connection: Connection, abort: boolean): void {
    this.#drop(COUNTER.connectionsClosedByUs);
    connection.state = CLOSED;
    this.#deadlines.clear(index);
    this.#transport.close(index, abort);
  }

  /** An open connection is gone. @param counter says why. */
  #drop(counter: number): void {
    this.openConnections--;
    this.#recorder.count(counter, 1);
  }

  #giveUp(failure: number, errno: number): void {
    this.#options.events.onFatal(fatalOf(failure, errno, this.#options.peer));
  }

  #setDeadline(index: number, atUs: number): void {
    if (this.#deadlines.set(index, atUs)) this.#transport.wake();
  }
}
