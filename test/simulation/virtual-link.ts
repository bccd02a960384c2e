// One connection between an agent and a coordinator: in order, late, sometimes cut off, sometimes stuttering.

import type { Random } from '../../libs/shared/src/testing/random.js';
import type { VirtualTime } from './virtual-time.js';

export interface LinkEnd {
  receive(payload: string | Uint8Array): void;
  closed(): void;
}

/** The way between one agent and every coordinator. */
export interface Way {
  /** What is under way waits, as TCP repeats it; new connections fail. */
  isCut: boolean;
  /** Largest delay of one message. */
  delayMs: number;
  /** Chance that a frame comes once more, some time later, whatever has come since. */
  echo: number;
}

export class VirtualLink {
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #way: Way;
  readonly #ends: readonly [LinkEnd, LinkEnd];
  /** When the latest message in each direction arrives: none overtakes it. */
  readonly #latestMs: [number, number] = [0, 0];
  readonly #held: { readonly to: 0 | 1; readonly payload: string | Uint8Array }[] = [];
  #isClosed = false;
  underWay = 0;

  /** @param ends the agent's, the coordinator's. */
  constructor(parts: {
    time: VirtualTime;
    random: Random;
    way: Way;
    ends: readonly [LinkEnd, LinkEnd];
  }) {
    this.#time = parts.time;
    this.#random = parts.random;
    this.#way = parts.way;
    this.#ends = parts.ends;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  send(to: 0 | 1, payload: string | Uint8Array): void {
    if (this.#isClosed) return;
    const atMs = Math.max(this.#time.nowMs + this.#random.int(0, this.#way.delayMs), this.#latestMs[to]);
    this.#latestMs[to] = atMs;
    this.underWay++;
    this.#time.after(atMs - this.#time.nowMs, () => this.#arrive(to, payload));
  }

  /** The way is open again. */
  heal(): void {
    for (const { to, payload } of this.#held.splice(0)) this.#arrive(to, payload);
  }

  /** Both ends hear of it, each as soon as it can: not while the way is cut. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const end of this.#ends) this.#tellClosed(end);
  }

  #tellClosed(end: LinkEnd): void {
    this.#time.after(this.#random.int(0, this.#way.delayMs), () => {
      if (this.#way.isCut) this.#time.after(500, () => this.#tellClosed(end));
      else end.closed();
    });
  }

  #arrive(to: 0 | 1, payload: string | Uint8Array): void {
    if (this.#isClosed) return;
    if (this.#way.isCut || this.#held.some((held) => held.to === to)) {
      this.#held.push({ to, payload });
      return;
    }
    this.underWay--;
    this.#ends[to].receive(payload);
    if (typeof payload === 'string' || !this.#random.isTrue(this.#way.echo)) return;
    this.#time.after(this.#random.int(1, 4_000), () => {
      if (!this.#isClosed && !this.#way.isCut) this.#ends[to].receive(payload);
    });
  }
}
