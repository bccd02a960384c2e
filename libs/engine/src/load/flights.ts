import type { Connection } from '../connection.js';

/** Sent a second time already. */
export const RETRIED = 1;
/** Sent in the warm-up: its outcome is in no total. */
export const WARMUP = 2;

/**
 * The requests in flight of all connections, in the order in which their replies must come: a ring of `depth`
 * places for each connection, in arrays that are made once.
 */
export class Flights {
  readonly depth: number;
  /** Of each place: before `connect()` for the request that a connection was opened for, else when it was sent. */
  readonly startUs: Float64Array;
  readonly plannedUs: Float64Array;
  readonly flags: Uint8Array;

  constructor(connections: number, depth: number) {
    this.depth = depth;
    this.startUs = new Float64Array(connections * depth);
    this.plannedUs = new Float64Array(connections * depth);
    this.flags = new Uint8Array(connections * depth);
  }

  /** Place of the n-th request in flight of a connection; 0 is the one whose reply comes next. */
  placeOf(index: number, connection: Connection, n: number): number {
    const position = connection.head + n;
    return index * this.depth + (position < this.depth ? position : position - this.depth);
  }

  /** Takes in a request behind the others. @returns its place, whose fields are to be set. */
  add(index: number, connection: Connection): number {
    return this.placeOf(index, connection, connection.inFlight++);
  }

  /** The first one has its outcome. */
  shift(connection: Connection): void {
    connection.inFlight--;
    connection.head = connection.head + 1 < this.depth ? connection.head + 1 : 0;
  }

  /** Moves a request that stays in flight to the n-th place. */
  move(from: number, to: number): void {
    this.startUs[to] = this.startUs[from] ?? 0;
    this.plannedUs[to] = this.plannedUs[from] ?? 0;
    this.flags[to] = this.flags[from] ?? 0;
  }
}
