import { Buffer } from 'node:buffer';
import type { Clock } from '../clock.js';
import type { CloseCause, Transport, TransportHandler } from '../transport/transport.js';

/** What the simulated target does after a delay: bytes, or the end of the connection. */
export type NetworkEvent =
  | { readonly afterUs: number; readonly bytes: string }
  | { readonly afterUs: number; readonly cause: CloseCause; readonly errno: number };

export interface NetworkScript {
  /** Outcome of an attempt to connect: without a cause it opens after `afterUs`; absent: no answer ever. */
  onOpen(connection: number):
    | {
        readonly afterUs: number;
        readonly cause?: CloseCause;
        readonly errno?: number;
        /** The target has sent bytes by then. */
        readonly hasInput?: boolean;
      }
    | undefined;
  /**
   * What follows a request; delays count from one event to the next, and the first one from the moment when the
   * target has dealt with the requests before it on the connection.
   */
  onSend(connection: number, nowUs: number): readonly NetworkEvent[];
}

interface Pending {
  readonly atUs: number;
  readonly connection: number;
  readonly generation: number;
  readonly deliver: (handler: TransportHandler) => void;
}

/** Time starts here: some instant of the real epoch, so that magnitudes are those of real clocks. */
export const START_US = 1.7e15;

/**
 * A transport and a clock in one: time jumps from event to event, so that minutes of load take no time and a
 * seed repeats everything. It keeps the rules of `Transport`, above all that nothing comes after a close.
 */
export class SimulatedNetwork implements Transport, Clock {
  readonly name = 'socket';
  opened = 0;
  /** Requests, and the writes that they came in. */
  sends = 0;
  writes = 0;
  #nowUs = START_US;
  #isWoken = true;
  readonly #script: NetworkScript;
  readonly #pending: Pending[] = [];
  /** Of each index: counts sockets, so that events of an earlier one are dropped. */
  readonly #generations: number[] = [];
  /** Of each index: when the target is through with what was sent so far. */
  readonly #busyUntilUs: number[] = [];

  constructor(script: NetworkScript) {
    this.#script = script;
  }

  nowUs(): number {
    return this.#nowUs;
  }

  get elapsedUs(): number {
    return this.#nowUs - START_US;
  }

  idleUs(): number {
    return this.elapsedUs / 2;
  }

  wake(): void {
    this.#isWoken = true;
  }

  open(connection: number): void {
    this.#generations[connection] = this.#generationOf(connection) + 1;
    this.opened++;
    this.#busyUntilUs[connection] = this.#nowUs;
    const outcome = this.#script.onOpen(connection);
    if (outcome === undefined) return;
    const { afterUs, cause, errno = 0, hasInput } = outcome;
    if (cause === undefined)
      this.#plan(connection, this.#nowUs + afterUs, (handler) => handler.onOpen(connection, hasInput));
    else this.#planClose(connection, this.#nowUs + afterUs, { cause, errno });
  }

  send(connection: number, bytes: Uint8Array): void {
    if (bytes.length === 0) throw new Error('an empty request was sent');
    this.writes++;
    const requests = Buffer.from(bytes).toString('latin1').split('\r\n\r\n').length - 1;
    for (let n = 0; n < requests; n++) this.#answer(connection);
  }

  #answer(connection: number): void {
    this.sends++;
    let atUs = Math.max(this.#nowUs, this.#busyUntilUs[connection] ?? 0);
    for (const event of this.#script.onSend(connection, atUs)) {
      atUs += event.afterUs;
      if ('cause' in event) this.#planClose(connection, atUs, event);
      else {
        const buffer = Buffer.from(event.bytes, 'latin1');
        this.#plan(connection, atUs, (handler) => handler.onData(connection, buffer, 0, buffer.length));
      }
    }
    this.#busyUntilUs[connection] = atUs;
  }

  close(connection: number): void {
    this.#generations[connection] = this.#generationOf(connection) + 1;
  }

  async run(handler: TransportHandler): Promise<void> {
    let turnAtUs = this.#nowUs;
    while (turnAtUs >= 0) {
      // The sink answers in microtasks, as a host thread would by messages.
      await Promise.resolve();
      const next = this.#takeNext();
      if (next !== undefined && next.atUs <= turnAtUs && !this.#isWoken) {
        this.#nowUs = Math.max(this.#nowUs, next.atUs);
        if (next.generation === this.#generationOf(next.connection)) next.deliver(handler);
        continue;
      }
      if (next !== undefined) this.#pending.push(next);
      if (!this.#isWoken) this.#nowUs = Math.max(this.#nowUs, turnAtUs);
      this.#isWoken = false;
      turnAtUs = handler.onTurn(this.#nowUs);
    }
  }

  #generationOf(connection: number): number {
    return this.#generations[connection] ?? 0;
  }

  #planClose(
    connection: number,
    atUs: number,
    end: { readonly cause: CloseCause; readonly errno: number },
  ): void {
    this.#plan(connection, atUs, (handler) => {
      this.close(connection);
      handler.onClose(connection, end.cause, end.errno);
    });
  }

  #plan(connection: number, atUs: number, deliver: (handler: TransportHandler) => void): void {
    this.#pending.push({ atUs, connection, generation: this.#generationOf(connection), deliver });
  }

  /** The earliest event; of equal ones the one that was planned first. */
  #takeNext(): Pending | undefined {
    let best = -1;
    for (const [i, event] of this.#pending.entries()) {
      if (event.atUs < (this.#pending[best]?.atUs ?? Number.POSITIVE_INFINITY)) best = i;
    }
    return best < 0 ? undefined : this.#pending.splice(best, 1)[0];
  }
}
