import { CONNECTION_STATE, type Connection } from '../connection.js';
import { ConnectionStages } from './connection-stages.js';
import { Load, type LoadOptions } from './load.js';

/** Connections opened in one turn: between two batches the first of them get their turn to send and receive. */
const OPEN_BATCH = 100;
/** How often stages are looked at. */
const STAGE_LOOK_US = 10_000;

const { closed: CLOSED, idle: IDLE, busy: BUSY } = CONNECTION_STATE;

/**
 * The closed model: c connections, each full of requests at all times. The next request is written from the
 * handler that saw the previous reply complete; a connection that was closed is opened again. With stages c
 * changes: connections are opened when they are wanted, and close themselves when they are not and become free.
 */
export class ClosedLoad extends Load {
  readonly isStarved = false;
  readonly #stages: ConnectionStages | undefined;
  #startUs = 0;
  #wanted: number;
  /** Next connection to open; `#wanted` when all are. */
  #opening = 0;

  constructor(options: LoadOptions) {
    super(options);
    const { connectionStages: stages, connections } = options.shard;
    this.#stages = stages === undefined ? undefined : new ConnectionStages(stages, options.shard);
    this.#wanted = connections;
  }

  feedRest(): void {
    // Nothing is due that was not sent.
  }

  protected get nextFeedUs(): number {
    return this.#stages === undefined ? Number.POSITIVE_INFINITY : this.clock.nowUs() + STAGE_LOOK_US;
  }

  protected onStart(startUs: number): void {
    this.#startUs = startUs;
  }

  protected feed(nowUs: number): void {
    if (this.#stages !== undefined) {
      this.#wanted = Math.min(this.#stages.wantedAt(nowUs - this.#startUs), this.connections.length);
      this.#opening = Math.min(this.#opening, this.#wanted);
    }
    const stop = Math.min(this.#opening + OPEN_BATCH, this.#wanted);
    for (; this.#opening < stop; this.#opening++) this.#begin(this.#opening, this.at(this.#opening));
    if (this.#opening < this.#wanted) this.transport.wake();
  }

  protected fill(index: number, connection: Connection, nowUs: number): number {
    return index < this.#wanted ? this.requests.fill(index, connection, nowUs) : 0;
  }

  protected onFree(index: number, connection: Connection): void {
    this.closeByUs(index, connection, false);
  }

  protected onGone(index: number, connection: Connection, nowUs: number): void {
    if (index < this.#wanted && this.requests.take(index, connection, nowUs)) {
      this.connect(index, connection, nowUs);
    }
  }

  /** The probe's connection is open already; one that stages have left busy goes on by itself. */
  #begin(index: number, connection: Connection): void {
    const nowUs = this.clock.nowUs();
    if (connection.state === CLOSED) this.onGone(index, connection, nowUs);
    else if (connection.state === IDLE) {
      connection.state = BUSY;
      const taken = this.fill(index, connection, nowUs);
      if (taken > 0) this.requests.write(index, taken);
      else this.closeByUs(index, connection, false);
    }
  }
}
