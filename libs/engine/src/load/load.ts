/**
 * The connections of a shard and what happens on them. When they get requests is left to the kind of load
 * (closed-load.ts, paced-load.ts). Every request that is taken up ends in exactly one outcome (requests.ts), or is
 * in flight when the load ends. Long because all events of a connection move one state.
 *
 *   closed ─► connecting ─► busy ⇄ idle (a schedule with nothing due)
 *     ▲           │           ├─► lingering ─► closed by the target ─► closed …
 *     └ backingOff ◄ failed   └─► failed or closed ─► closed …
 */
import { COUNTER, FAILURE, LIMITS, type Shard } from '@broadside/shared/engine';
import { connectFailureOf } from '../classify-loss.js';
import type { Clock } from '../clock.js';
import { ConnectPatience, nextBackoffMs } from '../connect-patience.js';
import { CONNECTION_STATE, type Connection } from '../connection.js';
import { Deadlines } from '../deadlines.js';
import { fatalOf } from '../fatal-of.js';
import { FirstReply } from '../first-reply.js';
import type { LoadEvents } from '../load-events.js';
import type { IntervalClock } from '../recorder/interval-clock.js';
import type { LiveHistogram } from '../recorder/live-histogram.js';
import type { Recorder } from '../recorder/recorder.js';
import { PARSED } from '../transport/response-parser.js';
import { ServerName } from '../transport/server-name.js';
import { CLOSE_CAUSE, type CloseCause, type Transport } from '../transport/transport.js';
import { connectionsOf } from './connections-of.js';
import { announcedEnding, closedByUsEnding, connectEnding, lossEnding } from './ending.js';
import { mayRepeat } from './may-repeat.js';
import { NO_FAILURE } from './outcomes.js';
import type { RequestSource } from './request-source.js';
import { Requests } from './requests.js';
import { servedHistogramsOf } from './served-histograms.js';

const LINGER_US = LIMITS.lingerMs * 1_000;
const ETIMEDOUT = 110;

/** Index tables as plain numbers: looking a name up in an object costs more than the addition it is for. */
const { keepAliveReplies: KEEP_ALIVE_REPLIES, repliesWithSurplus: WITH_SURPLUS } = COUNTER;
const { bytesReceived: BYTES_RECEIVED, bodyBytesReceived: BODY_BYTES_RECEIVED } = COUNTER;
const { connectionsAsked: ASKED, connectionsOpened: OPENED, connectionsFailed: FAILED } = COUNTER;
const { connectionsClosedByUs: CLOSED_BY_US, connectionsClosedAnnounced: CLOSED_ANNOUNCED } = COUNTER;
const { connectionsLeftToUs: LEFT_TO_US } = COUNTER;
const { connectionsClosedUnannounced: CLOSED_UNANNOUNCED, connectionsClosedIdle: CLOSED_IDLE } = COUNTER;
const { closed: CLOSED, connecting: CONNECTING, busy: BUSY } = CONNECTION_STATE;
const { idle: IDLE, lingering: LINGERING, backingOff: BACKING_OFF } = CONNECTION_STATE;

export interface LoadOptions {
  readonly shard: Shard;
  readonly requestBytes: Uint8Array;
  /** The target as messages name it. */
  readonly peer: string;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly source: RequestSource;
  readonly recorder: Recorder;
  readonly intervals: IntervalClock;
  readonly events: LoadEvents;
}

export abstract class Load {
  readonly serverName = new ServerName();
  readonly firstReply: FirstReply | undefined;
  openConnections = 0;

  readonly #options: LoadOptions;
  protected readonly transport: Transport;
  protected readonly clock: Clock;
  protected readonly source: RequestSource;
  readonly #recorder: Recorder;
  readonly #intervals: IntervalClock;
  protected readonly requests: Requests;
  readonly #timeoutUs: number;
  readonly #connectTimeoutUs: number;
  readonly #isHead: boolean;
  readonly #keepAlive: boolean;
  readonly #isHttp10: boolean;
  readonly #retries: boolean;
  readonly #patience: ConnectPatience;
  protected readonly connections: Connection[];
  protected readonly deadlines: Deadlines;
  readonly #served: ReadonlyMap<number, LiveHistogram>;
  /** True until the start: a connection that becomes free takes no further request. */
  protected isHeld = true;

  constructor(options: LoadOptions) {
    const { shard, recorder, source } = options;
    const { connections, pipeline = 1 } = shard;
    this.#options = options;
    this.transport = options.transport;
    this.clock = options.clock;
    this.source = source;
    this.#recorder = recorder;
    this.#intervals = options.intervals;
    this.#timeoutUs = shard.timeoutMs * 1_000;
    this.#connectTimeoutUs = (shard.connection?.connectTimeoutMs ?? shard.timeoutMs) * 1_000;
    this.#isHead = shard.request.method === 'HEAD';
    this.#keepAlive = shard.keepAlive;
    this.#isHttp10 = shard.request.httpVersion === '1.0';
    this.#retries = shard.retryIdempotent === true && mayRepeat(shard.request.method);
    this.firstReply = shard.keepFirstReply === true ? new FirstReply() : undefined;
    this.#patience = new ConnectPatience({
      isTimed: shard.durationMs !== undefined,
      timeoutMs: shard.timeoutMs,
    });
    this.connections = connectionsOf(shard, this.serverName);
    this.deadlines = new Deadlines(connections);
    this.requests = new Requests({
      ...options,
      connections,
      depth: pipeline,
      timeoutUs: this.#timeoutUs,
      failOnStatus: shard.failOnStatus,
      isWarmup: shard.warmupMs !== undefined,
      deadlines: this.deadlines,
      onProbeSettled: (failure, tookUs, errno) => this.#onProbeSettled(failure, tookUs, errno),
    });
    this.#served = servedHistogramsOf(recorder);
  }

  get inFlight(): number {
    return this.requests.inFlight;
  }

  /** Whether something is due that no connection is free for. */
  abstract get isStarved(): boolean;

  /** When `turn` wants to be called next at the latest. */
  get nextUs(): number {
    const { nextUs } = this.deadlines;
    return this.isHeld ? nextUs : Math.min(nextUs, this.nextFeedUs);
  }

  /** Sends the first request alone on connection 0. */
  probe(nowUs: number): void {
    const connection = this.at(0);
    if (this.requests.takeProbe(0, connection, nowUs)) this.connect(0, connection, nowUs);
  }

  /**
   * @param referenceBytes body length that replies must have; −1: any.
   * @param startUs planned times count from it. @param fromUs what is planned before is not sent.
   */
  start(referenceBytes: number, startUs: number, fromUs: number): void {
    this.isHeld = false;
    this.requests.outcomes.referenceBytes = referenceBytes;
    this.source.begin(startUs, fromUs);
    this.onStart(startUs);
  }

  /** The warm-up has ended. Connections go on, and are taken over into the numbers that count from here. */
  beginMeasured(atUs: number): void {
    this.requests.endWarmup();
    const connecting = this.connections.filter(({ state }) => state === CONNECTING).length;
    this.#recorder.count(ASKED, this.openConnections + connecting);
    this.#recorder.count(OPENED, this.openConnections);
    this.source.beginMeasured(atUs);
  }

  /** Deals with passed deadlines, with what is due, and with connections that are still to be opened. */
  turn(nowUs: number): void {
    this.deadlines.expire(nowUs, (connection) => this.#onDeadline(connection, nowUs));
    if (!this.isHeld) this.feed(nowUs);
  }

  /** The time is over: what was due before goes out where a connection is free. */
  abstract feedRest(nowUs: number): void;

  /** Gives up what is in flight and closes every connection. */
  end(): void {
    for (const [index, connection] of this.connections.entries()) {
      const { state } = connection;
      if (state === BUSY) this.#countPartialBody(index, connection);
      this.requests.abandon(index, connection);
      if (state === CONNECTING) this.#recorder.count(FAILED, 1);
      if (state === BUSY || state === IDLE || state === LINGERING) this.#drop(connection, CLOSED_BY_US);
      this.transport.close(index, false);
      connection.state = CLOSED;
      this.deadlines.clear(index);
    }
  }

  onOpen(index: number, hasInput = false): void {
    const nowUs = this.clock.nowUs();
    this.#intervals.advance(nowUs);
    const connection = this.at(index);
    this.#recorder.count(OPENED, 1);
    this.#recorder.connect.record(nowUs - connection.askedUs);
    this.#recorder.noteOpen(++this.openConnections);
    this.#patience.noteOpened();
    connection.backoffMs = 0;
    connection.replies = 0;
    connection.openedUs = nowUs;
    connection.state = BUSY;
    connection.parser.begin(this.#isHead);
    if (hasInput) {
      // What came before its request is no reply (RFC 9112 section 9.2), and the next one could be misread.
      this.requests.endAll(index, connection, nowUs, closedByUsEnding(FAILURE.malformed, 0));
      this.#replace(index, connection, nowUs, true);
      return;
    }
    this.requests.expectReply(index, connection);
    if (!this.isHeld) this.fill(index, connection, nowUs);
    this.requests.writeAll(index, connection);
  }

  onData(index: number, buffer: Uint8Array, start: number, end: number): void {
    const nowUs = this.clock.nowUs();
    this.#intervals.advance(nowUs);
    this.#intervals.noteEvent(nowUs);
    const connection = this.at(index);
    // Once the last reply of a warm-up is in, pieces need not be told apart by what they belong to.
    const isCountedWhole = this.requests.lateWarmups === 0 || connection.state !== BUSY;
    if (isCountedWhole) this.#recorder.count(BYTES_RECEIVED, end - start);
    if (connection.state !== BUSY) {
      // Bytes behind the last reply, a while later: they answer nothing (RFC 9112 section 9.2).
      this.#recorder.count(WITH_SURPLUS, 1);
      this.#replace(index, connection, nowUs, false);
      return;
    }
    if (this.firstReply !== undefined && this.requests.isProbing) this.firstReply.add(buffer, start, end);
    const { parser } = connection;
    let position = start;
    do {
      if (parser.wireBytes === 0) connection.firstByteUs = nowUs;
      const result = parser.feed(buffer, position, end);
      if (!isCountedWhole && this.requests.countsNext(index, connection)) {
        this.#recorder.count(BYTES_RECEIVED, (result === PARSED.complete ? parser.position : end) - position);
      }
      if (result === PARSED.more) break;
      if (result !== PARSED.complete) {
        this.#countPartialBody(index, connection);
        const failure = result === PARSED.tooLarge ? FAILURE.tooLarge : FAILURE.malformed;
        this.requests.endAll(index, connection, nowUs, closedByUsEnding(failure, 0));
        this.#replace(index, connection, nowUs, true);
        return;
      }
      position = parser.position;
      if (!this.#onReply(index, connection, nowUs, position < end)) return;
    } while (position < end);
    if (position > start) this.#next(index, connection, nowUs);
  }

  onClose(index: number, cause: CloseCause, errno: number): void {
    const nowUs = this.clock.nowUs();
    this.#intervals.advance(nowUs);
    this.#intervals.noteEvent(nowUs);
    const connection = this.at(index);
    const { state } = connection;
    connection.state = CLOSED;
    if (state === CONNECTING) {
      this.#onConnectFailed(index, connection, connectFailureOf(cause), errno);
      return;
    }
    if (state === BUSY) this.#onLost(index, connection, cause, errno);
    else if (state === IDLE) this.#drop(connection, CLOSED_IDLE);
    else if (state === LINGERING) this.#drop(connection, CLOSED_ANNOUNCED);
    else return;
    this.#resume(index, connection, nowUs);
  }

  /** When the kind of load wants its next turn. */
  protected abstract get nextFeedUs(): number;
  protected abstract onStart(startUs: number): void;
  /** A turn of the running load: gives requests to connections. */
  protected abstract feed(nowUs: number): void;
  /** The connection has room: takes up what may go out on it. @returns how many. */
  protected abstract fill(index: number, connection: Connection, nowUs: number): number;
  /** The connection is open and idle: there was nothing for it. */
  protected abstract onFree(index: number, connection: Connection): void;
  /** The connection is closed and has no request. */
  protected abstract onGone(index: number, connection: Connection, nowUs: number): void;

  protected at(index: number): Connection {
    const connection = this.connections[index];
    if (connection === undefined) throw new RangeError(`no connection ${index}`);
    return connection;
  }

  /** Begins to connect for the requests that the connection has. */
  protected connect(index: number, connection: Connection, nowUs: number): void {
    connection.state = CONNECTING;
    connection.askedUs = nowUs;
    const replyByUs = this.requests.startUsOf(index, connection) + this.#timeoutUs;
    this.requests.setDeadline(index, Math.min(replyByUs, nowUs + this.#connectTimeoutUs));
    this.#recorder.count(ASKED, 1);
    this.transport.open(index);
  }

  /** The connection is open and has room. */
  #next(index: number, connection: Connection, nowUs: number): void {
    if (!this.isHeld) {
      const taken = this.fill(index, connection, nowUs);
      if (taken > 0) this.requests.write(index, taken);
    }
    if (connection.inFlight > 0) return;
    connection.state = IDLE;
    this.deadlines.clear(index);
    if (!this.isHeld) this.onFree(index, connection);
  }

  /** The connection has no socket. */
  #resume(index: number, connection: Connection, nowUs: number): void {
    connection.state = CLOSED;
    this.deadlines.clear(index);
    if (this.isHeld) return;
    // What is to be sent once more goes out on a new connection.
    if (connection.inFlight > 0) this.connect(index, connection, nowUs);
    else this.onGone(index, connection, nowUs);
  }

  /** A reply is complete. @returns false when its connection ended with it. */
  #onReply(index: number, connection: Connection, nowUs: number, isFollowed: boolean): boolean {
    const { parser } = connection;
    const requests = this.requests;
    const hasSurplus = isFollowed && connection.inFlight === 1;
    const isKept = this.#keepAlive && !hasSurplus && parser.mayPersist;
    const counts = requests.complete(index, connection, nowUs);
    if (isKept) {
      if (counts) this.#recorder.count(KEEP_ALIVE_REPLIES, 1);
      parser.begin(this.#isHead);
      if (connection.inFlight > 0) requests.expectReply(index, connection);
      return true;
    }
    if (hasSurplus && counts) this.#recorder.count(WITH_SURPLUS, 1);
    requests.endAll(index, connection, nowUs, announcedEnding(this.#retries));
    if (!hasSurplus && (this.#isHttp10 || !parser.mayPersist)) {
      connection.state = LINGERING;
      requests.setDeadline(index, nowUs + LINGER_US);
    } else {
      // The target would keep the connection and we do not want it, or bytes follow that answer nothing we
      // sent: the next reply could be misread.
      this.#replace(index, connection, nowUs, hasSurplus);
    }
    return false;
  }

  #onProbeSettled(failure: number, tookUs: number, errno: number): void {
    const { status, bodyBytes } = this.at(0).parser;
    const outcome = { tookUs, status, bodyBytes };
    const isReply = failure === NO_FAILURE || failure === FAILURE.status;
    const { events, peer } = this.#options;
    events.onProbed(isReply ? outcome : { ...outcome, fatal: fatalOf(failure, errno, peer) });
  }

  /** The target ended a connection with requests in flight. */
  #onLost(index: number, connection: Connection, cause: CloseCause, errno: number): void {
    const nowUs = this.clock.nowUs();
    const { parser } = connection;
    if (cause === CLOSE_CAUSE.ended && parser.end() === PARSED.complete) {
      this.requests.complete(index, connection, nowUs);
      this.requests.endAll(index, connection, nowUs, announcedEnding(this.#retries));
      this.#drop(connection, CLOSED_ANNOUNCED);
      return;
    }
    this.#drop(connection, CLOSED_UNANNOUNCED);
    this.#countPartialBody(index, connection);
    const hasFirstByte = parser.wireBytes > 0;
    const isReused = connection.replies > 0;
    const ending = lossEnding({ cause, errno, hasFirstByte, isReused, retries: this.#retries });
    this.requests.endAll(index, connection, nowUs, ending);
    const { first, retriesFirst } = ending;
    const isReset = first === FAILURE.resetBeforeFirstByte || first === FAILURE.resetAfterFirstByte;
    if (isReset && !retriesFirst && this.#options.shard.onSocketError === 'stop') this.#giveUp(first, errno);
  }

  #onConnectFailed(index: number, connection: Connection, failure: number, errno: number): void {
    const nowUs = this.clock.nowUs();
    this.#recorder.count(FAILED, 1);
    connection.parser.begin(this.#isHead);
    this.requests.endAll(index, connection, nowUs, connectEnding(failure, errno));
    const isHopeless = this.#patience.noteFailed(nowUs);
    if (isHopeless || this.#options.shard.onSocketError === 'stop') this.#giveUp(failure, errno);
    connection.backoffMs = nextBackoffMs(connection.backoffMs);
    connection.state = BACKING_OFF;
    this.requests.setDeadline(index, nowUs + connection.backoffMs * 1_000);
  }

  #onDeadline(index: number, nowUs: number): void {
    const connection = this.at(index);
    if (connection.state === CONNECTING) {
      const transport = this.transport;
      const cause = transport.abandon?.(index) ?? CLOSE_CAUSE.timeout;
      if (transport.abandon === undefined) transport.close(index, true);
      const errno = cause === CLOSE_CAUSE.timeout ? ETIMEDOUT : 0;
      this.#onConnectFailed(index, connection, connectFailureOf(cause), errno);
    } else if (connection.state === BUSY) {
      this.#countPartialBody(index, connection);
      this.requests.endAll(index, connection, nowUs, closedByUsEnding(FAILURE.timeout, ETIMEDOUT));
      if (this.#options.shard.onSocketError === 'stop') this.#giveUp(FAILURE.timeout, ETIMEDOUT);
      this.#replace(index, connection, nowUs, true);
    } else if (connection.state === LINGERING) {
      this.#recorder.count(LEFT_TO_US, 1);
      this.#replace(index, connection, nowUs, false);
    } else this.#resume(index, connection, nowUs);
  }

  /** Closes the connection and goes on with a new one, where there is something to go on with. */
  #replace(index: number, connection: Connection, nowUs: number, abort: boolean): void {
    this.closeByUs(index, connection, abort);
    this.#resume(index, connection, nowUs);
  }

  protected closeByUs(index: number, connection: Connection, abort: boolean): void {
    this.#drop(connection, CLOSED_BY_US);
    connection.state = CLOSED;
    this.deadlines.clear(index);
    this.transport.close(index, abort);
  }

  /** The reply in the parser will not be complete; of a complete one the body is counted with its outcome. */
  #countPartialBody(index: number, connection: Connection): void {
    if (!this.requests.countsNext(index, connection)) return;
    this.#recorder.count(BODY_BYTES_RECEIVED, connection.parser.bodyBytes);
  }

  /** An open connection is gone. @param counter says why. */
  #drop(connection: Connection, counter: number): void {
    this.#recorder.noteOpen(--this.openConnections);
    this.#recorder.count(counter, 1);
    this.#served.get(counter)?.record(connection.replies);
  }

  #giveUp(failure: number, errno: number): void {
    this.#options.events.onFatal(fatalOf(failure, errno, this.#options.peer));
  }
}
