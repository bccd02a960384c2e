// One simulated agent of the scale test: everything of a real one but its threads. It reconnects, sends again and
// keeps its frames by the code of apps/agent; only what is in its slots is made up, and its swarm says when.
import {
  ATTEMPT_TIMEOUTS,
  createShardConsumer,
  ShardAttempts,
  ShardOrders,
  systemTimers,
  Uplink,
} from '@broadside/agent/core';
import { monotonicClock } from '@broadside/engine/host';
import { BROADSIDE_VERSION, LIMITS, PROTOCOL_VERSION, shardAttemptKey } from '@broadside/shared';
import { MadeUpShard } from './made-up-shard.mjs';

/**
 * @typedef {import('@broadside/agent/core').ShardOrder} ShardOrder
 * @typedef {import('@broadside/agent/core').ShardQueueConsumer} ShardQueueConsumer
 * @typedef {import('@broadside/agent/core').ShardQueueWiring} ShardQueueWiring
 * @typedef {import('./made-up-load.mjs').MadeUpLoad} MadeUpLoad
 * @typedef {{
 *   agentId: string, url: string, joinToken: string, slots: number, load: MadeUpLoad,
 *   wiringOf: (prefix: string) => ShardQueueWiring, logger: import('pino').Logger,
 *   onStart: (startAtUs: number) => void, onAck: (latencyMs: number) => void,
 * }} ScaleAgentOptions
 * @typedef {{ shard: MadeUpShard, sentAtMs: Map<number, number> }} Carried
 */

const MACHINE = {
  hostname: 'simulated',
  cpus: 2,
  cpuModel: 'none',
  memoryBytes: 1,
  os: 'o',
  arch: 'a',
  node: 'n',
};
/** Thousands join one after the other in one process. */
const CONNECT_TIMEOUT_MS = 60_000;

export class ScaleAgent {
  #options;
  #uplink;
  #attempts;
  #orders;
  /** @type {ShardQueueConsumer | undefined} */
  #consumer;
  /** By attempt. @type {Map<string, Carried>} */
  #carried = new Map();
  /** Intervals that ended, for the books of the test. */
  sentFrames = 0;
  acknowledgedFrames = 0;
  /** Connections that were made after the first. */
  reconnects = -1;
  /** Attempts that the coordinator gave up. */
  fenced = 0;

  /** @param {ScaleAgentOptions} options */
  constructor(options) {
    this.#options = options;
    const { agentId, logger } = options;
    this.#uplink = this.#createUplink();
    this.#orders = new ShardOrders({ agentId, coordinatorUs: () => this.#uplink.coordinatorUs });
    this.#attempts = new ShardAttempts({
      runInSlot: (shard, events) => {
        const { load, onStart } = this.#options;
        const madeUp = new MadeUpShard({ shard, events, load, onStart });
        this.#carried.set(shardAttemptKey(shard), { shard: madeUp, sentAtMs: new Map() });
        return madeUp;
      },
      preflight: () => ({ refusals: [], remarks: [], warnings: [] }),
      uplink: this.#uplink,
      logger,
      timers: systemTimers,
      ...ATTEMPT_TIMEOUTS,
    });
  }

  get #extraSlots() {
    return this.#options.slots * LIMITS.extraPerSlot;
  }

  /** Joins, and waits for the welcome and for the queue. */
  async join() {
    const { wiringOf, agentId, slots } = this.#options;
    const { queue } = await this.#uplink.connect();
    if (queue.kind !== 'redis') throw new Error('the coordinator has no Redis');
    this.#consumer = createShardConsumer({
      wiring: wiringOf(queue.prefix),
      agentId,
      concurrency: slots + this.#extraSlots,
      orders: this.#orders,
      onShard: (shard) => this.#attempts.carryOut(shard),
      onInvalid: (attempt, fatal) => this.#attempts.refuseInvalid(attempt, fatal),
      onForged: (reason) => {
        throw new Error(`agent ${agentId} was given what is none of its jobs: ${reason}`);
      },
    });
    await this.#consumer.waitUntilReady();
  }

  /** Encodes the frames of the next interval. */
  prepare() {
    for (const { shard } of this.#carried.values()) shard.prepare();
  }

  /** Whether a frame waits for its instant. */
  get isReady() {
    return [...this.#carried.values()].some(({ shard }) => shard.isReady);
  }

  /** The interval has ended in all its slots. */
  emit() {
    for (const { shard, sentAtMs } of this.#carried.values()) {
      const nowMs = performance.now();
      const number = shard.emit();
      if (number === undefined) continue;
      sentAtMs.set(number, nowMs);
      this.sentFrames++;
    }
  }

  /** Ends the shards whose last interval is out. */
  finish() {
    for (const { shard } of this.#carried.values()) shard.finish();
  }

  async leave() {
    await this.#consumer?.close(true);
    await this.#uplink.close();
    this.#attempts.close();
  }

  #createUplink() {
    const { url, joinToken, agentId, slots, logger } = this.#options;
    return new Uplink({
      coordinatorUrl: new URL(url),
      joinToken,
      trust: undefined,
      greeting: () => ({
        kind: 'hello',
        protocol: PROTOCOL_VERSION,
        agentId,
        name: agentId,
        version: BROADSIDE_VERSION,
        slots,
        extraSlots: this.#extraSlots,
        machine: MACHINE,
      }),
      attempts: () => this.#attempts.list(),
      freeSlots: () => slots,
      events: {
        onWelcome: ({ shardKeys = [] }) => {
          this.reconnects++;
          this.#orders.trust(shardKeys);
          this.#attempts.resend();
        },
        onOrder: (order) => this.#obey(order),
        onHalt: (reason) => this.#attempts.stopAll(reason),
        onAway: () => undefined,
        onRoom: () => this.#attempts.pump(),
        onRejected: (error) => {
          throw error;
        },
      },
      clock: monotonicClock,
      random: Math.random,
      logger,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
    });
  }

  /** @param {ShardOrder} order */
  #obey(order) {
    if (order.kind === 'ack') this.#acknowledge(order);
    if (order.kind === 'fenced') this.fenced++;
    this.#attempts.obey(order);
  }

  /** @param {{ shard: import('@broadside/shared').ShardAttempt, number: number }} ack */
  #acknowledge(ack) {
    const { sentAtMs } = this.#carried.get(shardAttemptKey(ack.shard)) ?? {};
    if (sentAtMs === undefined) return;
    const nowMs = performance.now();
    // In the order in which they were sent.
    for (const [number, sentMs] of sentAtMs) {
      if (number > ack.number) break;
      sentAtMs.delete(number);
      this.acknowledgedFrames++;
      this.#options.onAck(nowMs - sentMs);
    }
  }
}
