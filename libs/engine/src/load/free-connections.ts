import { CONNECTION_STATE, type Connection } from '../connection.js';
import { IndexStack } from './index-stack.js';

const { closed: CLOSED, busy: BUSY, idle: IDLE } = CONNECTION_STATE;

/**
 * Which connections of a paced load can take a request. The one that was used last comes first, so that no more
 * are opened than the load needs; then one without a socket, then one with room in its pipeline.
 */
export class FreeConnections {
  readonly #connections: readonly Connection[];
  readonly #depth: number;
  /** Entries whose connection has changed in the meantime are passed over. */
  readonly #idle: IndexStack;
  readonly #closed: IndexStack;
  /** Where the search for room goes on. */
  #roomFrom = 0;

  constructor(connections: readonly Connection[], depth: number) {
    this.#connections = connections;
    this.#depth = depth;
    this.#idle = new IndexStack(connections.length);
    this.#closed = new IndexStack(connections.length);
  }

  addIdle(index: number): void {
    this.#idle.push(index);
  }

  addClosed(index: number): void {
    this.#closed.push(index);
  }

  /** Whether there is none. @param inFlight requests on all connections. @param open open connections. */
  isNone(inFlight: number, open: number): boolean {
    return this.#idle.size === 0 && this.#closed.size === 0 && !this.#hasRoom(inFlight, open);
  }

  /** @returns −1 when there is none. */
  take(inFlight: number, open: number): number {
    for (let index = this.#idle.pop(); index >= 0; index = this.#idle.pop()) {
      if (this.#connections[index]?.state === IDLE) return index;
    }
    for (let index = this.#closed.pop(); index >= 0; index = this.#closed.pop()) {
      if (this.#connections[index]?.state === CLOSED) return index;
    }
    return this.#hasRoom(inFlight, open) ? this.#findRoom() : -1;
  }

  #hasRoom(inFlight: number, open: number): boolean {
    return this.#depth > 1 && inFlight < open * this.#depth;
  }

  #findRoom(): number {
    const count = this.#connections.length;
    for (let tried = 0; tried < count; tried++) {
      this.#roomFrom = this.#roomFrom + 1 < count ? this.#roomFrom + 1 : 0;
      const connection = this.#connections[this.#roomFrom];
      if (connection?.state === BUSY && connection.inFlight < this.#depth) return this.#roomFrom;
    }
    return -1;
  }
}
