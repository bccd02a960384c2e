// A shard in the slot of a simulated agent: instead of an engine it has a made-up load, and gives out an interval
// whenever its swarm says that one has ended.
import { encodeInterval, encodeTotals, LIMITS } from '@broadside/shared';

/**
 * @typedef {import('@broadside/agent/core').SlotEnd} SlotEnd
 * @typedef {import('@broadside/agent/core').SlotEvents} SlotEvents
 * @typedef {import('@broadside/agent/core').SlotRun} SlotRun
 * @typedef {import('@broadside/shared').Shard} Shard
 * @typedef {import('./made-up-load.mjs').MadeUpLoad} MadeUpLoad
 */

/** @implements {SlotRun} */
export class MadeUpShard {
  /** @type {Promise<SlotEnd>} */
  ended;
  #shard;
  #events;
  #load;
  #onStart;
  #count;
  #totals;
  #next = 0;
  /** @type {Uint8Array | undefined} */
  #frame;
  #hasEnded = false;
  /** @type {(end: SlotEnd) => void} */
  #leave = () => undefined;

  /**
   * @param {{ shard: Shard, events: SlotEvents, load: MadeUpLoad, onStart: (startAtUs: number) => void }} parts
   */
  constructor({ shard, events, load, onStart }) {
    this.#shard = shard;
    this.#events = events;
    this.#load = load;
    this.#onStart = onStart;
    this.#count = Math.round((shard.durationMs ?? 0) / LIMITS.intervalMs);
    this.ended = new Promise((resolve) => {
      this.#leave = resolve;
    });
    // Added up now, when no acknowledgement waits for it.
    this.#totals = load.totals(shard.shardIndex, this.#count);
    this.prepare();
    setImmediate(() => this.#events.onReady());
  }

  probe() {
    this.#events.onProbed({ ok: true, bodyBytes: 100, status: 200, server: 'simulated' });
  }

  /** @param {number} startAtUs */
  start(startAtUs) {
    this.#onStart(startAtUs);
  }

  /** As an engine that is told to stop: what it has said is all that it did. */
  stop() {
    this.#frame = undefined;
    this.#count = this.#next;
    this.#totals = this.#load.totals(this.#shard.shardIndex, this.#count);
    this.finish();
  }

  /** Encodes the next interval, so that it goes out at its end without delay. */
  prepare() {
    if (this.#next >= this.#count || this.#frame !== undefined) return;
    this.#frame = encodeInterval(
      this.#load.interval(this.#shard, { number: this.#next, count: this.#count }),
    );
  }

  /** Whether an interval waits for its end. */
  get isReady() {
    return this.#frame !== undefined;
  }

  /** Gives out the interval that has just ended. @returns {number | undefined} its number */
  emit() {
    if (this.#frame === undefined) return undefined;
    const [number, bytes] = [this.#next++, this.#frame];
    this.#frame = undefined;
    this.#events.onInterval({ number, span: 1, bytes });
    return number;
  }

  /** Leaves the slot when the last interval is out. Apart from that: real agents have a CPU each. */
  finish() {
    if (this.#hasEnded || this.#next < this.#count) return;
    this.#hasEnded = true;
    const { runId, shardIndex, attempt } = this.#shard;
    const frame = encodeTotals({ runId, shardIndex, attempt, intervals: this.#count, ...this.#totals });
    this.#leave({
      kind: 'ended',
      result: {
        runId,
        shardIndex,
        attempt,
        totals: Buffer.from(frame).toString('base64'),
        addresses: ['127.0.0.1'],
        startSkewUs: 10,
        server: 'simulated',
        transport: 'none',
      },
    });
  }
}
