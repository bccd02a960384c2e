import { CONNECTION_STATE, type Connection } from '../connection.js';
import { FreeConnections } from './free-connections.js';
import { Load, type LoadOptions } from './load.js';

/**
 * Due requests sent in one turn: after a stall there may be thousands, and replies must be read in between, or
 * their times would be those of our own queue.
 */
const SEND_BATCH = 128;

const { closed: CLOSED, idle: IDLE, busy: BUSY } = CONNECTION_STATE;

/**
 * Requests by a schedule over at most c connections. The turn hands what is due to a free connection; what finds
 * none waits, and a connection that becomes free takes the one that has waited longest. When more is asked for
 * than the target can do, all connections are busy all the time, as in the closed model.
 */
export class PacedLoad extends Load {
  readonly #free: FreeConnections;

  constructor(options: LoadOptions) {
    super(options);
    this.#free = new FreeConnections(this.connections, options.shard.pipeline ?? 1);
  }

  get isStarved(): boolean {
    return this.requests.isStarved;
  }

  feedRest(nowUs: number): void {
    if (!this.isHeld) this.#dispatch(nowUs, Number.POSITIVE_INFINITY);
  }

  protected get nextFeedUs(): number {
    return this.isStarved ? Number.POSITIVE_INFINITY : this.source.nextUs;
  }

  protected onStart(): void {
    for (let index = this.connections.length - 1; index >= 0; index--) {
      if (this.at(index).state === IDLE) this.#free.addIdle(index);
      else this.#free.addClosed(index);
    }
  }

  protected feed(nowUs: number): void {
    this.source.giveUp(nowUs);
    this.#dispatch(nowUs, SEND_BATCH);
  }

  protected fill(index: number, connection: Connection, nowUs: number): number {
    this.source.giveUp(nowUs);
    if (this.source.nextUs > nowUs) return 0;
    this.requests.isStarved ||= this.#free.isNone(this.inFlight, this.openConnections);
    const taken = this.requests.fill(index, connection, nowUs);
    if (this.source.nextUs > nowUs) this.#endStarving();
    return taken;
  }

  protected onFree(index: number): void {
    this.#free.addIdle(index);
    this.#endStarving();
  }

  protected onGone(index: number, _connection: Connection, nowUs: number): void {
    this.#free.addClosed(index);
    if (this.source.nextUs <= nowUs) this.transport.wake();
  }

  /** While nothing was free no turn was asked for by the schedule; now one is. */
  #endStarving(): void {
    if (!this.requests.isStarved) return;
    this.requests.isStarved = false;
    this.transport.wake();
  }

  #dispatch(nowUs: number, most: number): void {
    const { requests } = this;
    for (let sent = 0; this.source.nextUs <= nowUs; sent++) {
      if (sent >= most) {
        this.transport.wake();
        return;
      }
      const index = this.#free.take(this.inFlight, this.openConnections);
      if (index < 0) {
        requests.isStarved = true;
        return;
      }
      this.#send(index, this.at(index));
    }
    requests.isStarved = false;
  }

  #send(index: number, connection: Connection): void {
    const nowUs = this.clock.nowUs();
    if (!this.requests.take(index, connection, nowUs)) return;
    if (connection.state === CLOSED) this.connect(index, connection, nowUs);
    else {
      connection.state = BUSY;
      this.requests.write(index, 1);
    }
  }
}
